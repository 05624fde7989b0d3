/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "stalled.h"

#include "base/assert.h"
#include "base/option.h"
#include "base/report.h"
#include "collective_watch.h"
#include "world.h"

/* Of the thread that watches. */
static struct {
    hearthi_stalled_ask ask;
    uint64_t            waited; /* nanoseconds, as of the last beat */
    uint64_t            asked;  /* ... of these, when it asked */
} s;

void
hearthi_stalled_open(hearthi_stalled_ask ask)
{
    s.ask = ask;
    s.waited = s.asked = 0;
}

/* Before it could ask again it may wait for something else. */
void
hearthi_stalled_look(uint64_t beat)
{
    const struct hearthi_record r = { .said = HEARTHI_SAID_STALLED,
                                      .by = hearthi_world.rank,
                                      .weight = 1 };
    char                        call[64];

    s.waited = s.ask(beat, call, sizeof call);
    if (s.waited < s.asked)
        s.asked = 0;
    if (hearthi_opt.watch == 0 || s.waited - s.asked < hearthi_opt.watch ||
        hearthi_wait_was_told() || hearthi_collective_watch_asks())
        return;
    s.asked = s.waited;
    hearthi_next_tell(r);
}

/* Does it still wait? */
static void
verdict(int ranks)
{
    char     call[64];
    uint64_t waited = s.ask(0, call, sizeof call);

    HEARTHI_ASSERT(ranks > 0 && ranks <= hearthi_world.size);
    if (hearthi_wait_was_told() || waited < hearthi_opt.watch)
        return;
    hearthi_warn("job",
                 "rank %d waits in %s since %g s, and %d of %d ranks wait: it "
                 "takes long, or it hangs; the job goes on (HEARTH_WATCH says "
                 "when this line comes)",
                 hearthi_world.rank, call, hearthi_wait_seconds(waited), ranks,
                 hearthi_world.size);
    hearthi_wait_told();
}

void
hearthi_stalled_heard(struct hearthi_record *r)
{
    const bool asks = s.waited > 0 && 2 * s.waited >= hearthi_opt.watch;

    if (r->by == hearthi_world.rank) {
        verdict(r->weight);
        return;
    }
    if ((asks && r->by > hearthi_world.rank) ||
        hearthi_collective_watch_asks())
        return;
    r->weight += s.waited > 0;
    hearthi_next_tell(*r);
}
