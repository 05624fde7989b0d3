/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Why a copy that is fetched first may stay, where its home was told before:
 * a copy that survives an acquire must have been fetched after the home could
 * see that this rank has one, by its sharer flag, and by the word that says
 * that there are new flags (coherence/sharer_flags.c).  Elsewhere the flag
 * travels with the first fetch, that copy is dropped, and the word is changed
 * before the second.  Here both are done before the first: the flags are set,
 * and have arrived; then the word is changed, and that has arrived; and only
 * then is any page of the range fetched, with the table's lock held all the
 * time.  What is left is the same order of the same steps, without a copy that
 * none could keep.  The home reports the pages once as written, as it does
 * with any that are flagged for the first time, at its next release; and that
 * may be the second barrier from here, as it may have come to the first one
 * before.
 *
 * A page that moves later takes its flag along, or is as one that no rank has
 * fetched (page/migration_freeze.h); one that is moving now is passed by, as
 * are those of which there are copies already.
 */
#include "config.h"

#include "read_mostly.h"

#include <stddef.h>
#include <string.h>

#include "base/min.h"
#include "base/mutex.h"
#include "page.h"
#include "sharer_notify.h"
#include "space/segment.h"
#include "transport/transport.h"
#include "world.h"

enum { RANGES = HEARTHI_READ_MOSTLY_RANGES, ONES = 4096 };

static struct {
    uint64_t page, count;
} range[RANGES];
static unsigned turn; /* which gives way next */

unsigned hearthi_read_mostly_ranges;

void
hearthi_read_mostly_open(void)
{
    hearthi_read_mostly_ranges = turn = 0;
}

bool
hearthi_is_in_read_mostly(uint64_t page)
{
    for (unsigned i = 0; i < hearthi_read_mostly_ranges; i++)
        if (page - range[i].page < range[i].count)
            return true;
    return false;
}

/* ---- flags in advance ---- */

/* Flags of frames, and the summary bytes that stand for them. */
static void
flags_bring(int home, uint64_t frame, uint64_t count)
{
    static uint8_t ones[ONES];
    uint64_t       first, last;

    memset(ones, 1, sizeof ones);
    for (uint64_t n; count > 0; frame += n, count -= n) {
        n = hearthi_min(count, (uint64_t)ONES);
        first = frame / HEARTHI_SUMMARY;
        last = (frame + n - 1) / HEARTHI_SUMMARY;
        hearthi_transport->data.diff(home, frame, ones, n);
        hearthi_transport->data.diff(home, hearthi_segments.summary_at + first,
                                     ones, last - first + 1);
    }
}

/* May this rank announce it?  A gateway has flags of its own for what it keeps
 * of other clusters. */
static bool
may_announce(uint64_t page)
{
    int home = hearthi_home_of(page);

    return hearthi_state_of(page) == HEARTHI_INVALID &&
           !(hearthi_table.mark[page] & HEARTHI_REGISTERED) &&
           !hearthi_home_is_near(home) &&
           !hearthi_is_far(home);
}

/* How many pages from one on have neighbouring frames of one home, and are to
 * be announced; at least one is passed by otherwise. */
static uint64_t
announced_run(uint64_t page, uint64_t most)
{
    uint64_t n = 1;

    while (n < most && hearthi_follows(page + n - 1) && may_announce(page + n))
        n++;
    return n;
}

static void
run_announce(uint64_t page, uint64_t count)
{
    flags_bring(hearthi_home_of(page), hearthi_home_frame_of(page), count);
    for (uint64_t p = page; p < page + count; p++) {
        hearthi_touch(p);
        hearthi_table.mark[p] |= HEARTHI_REGISTERED;
    }
    hearthi_sharer_notify_later(hearthi_home_of(page));
}

/* Flags, then the words of their homes: nothing is fetched meanwhile. */
static void
pages_announce(uint64_t page, uint64_t count)
{
    uint64_t end = page + count;
    bool     any = false;

    for (uint64_t p = page, n; p < end; p += n) {
        n = 1;
        if (!may_announce(p))
            continue;
        n = announced_run(p, end - p);
        run_announce(p, n);
        any = true;
    }
    if (!any)
        return;
    hearthi_transport->data.flush();
    hearthi_sharer_notify_all();
}

/* ---- ranges ---- */

void
hearthi_read_mostly_add(uint64_t page, uint64_t count)
{
    unsigned i = hearthi_read_mostly_ranges < RANGES
                     ? hearthi_read_mostly_ranges++
                     : turn++ % RANGES;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(count > 0 && page + count <= hearthi_table.top);
    range[i].page = page;
    range[i].count = count;
    pages_announce(page, count);
}

void
hearthi_read_mostly_forget(uint64_t page, uint64_t count)
{
    unsigned k = 0;

    for (unsigned i = 0; i < hearthi_read_mostly_ranges; i++)
        if (range[i].page - page >= count)
            range[k++] = range[i];
    hearthi_read_mostly_ranges = k;
}
