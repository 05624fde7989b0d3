/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "stream.h"

#include <string.h>

#include "base/least.h"
#include "base/option.h"
#include "copies.h"
#include "diffs.h"
#include "page.h"
#include "replace.h"

/* The oldest entry gives way. */
enum { STREAMS = 8, FIRST_STEP = 4, BEHIND = 128 };

static struct hearthi_stream streams[2][STREAMS];
static uint64_t              turn;

void
hearthi_streams_open(void)
{
    memset(streams, 0, sizeof streams);
}

static uint64_t
step_most(void)
{
    uint64_t most = hearthi_opt.fetch_ahead;

    return most < 1 ? 1 : hearthi_least(most, hearthi_copies_most());
}

struct hearthi_stream *
hearthi_stream_find(enum hearthi_streams which, uint64_t page)
{
    struct hearthi_stream *s = streams[which], *old = s;

    for (int i = 0; i < STREAMS; i++) {
        if (s[i].next == page && s[i].step > 0) {
            s[i].step = s[i].step < FIRST_STEP ? FIRST_STEP : 2 * s[i].step;
            s[i].used = ++turn;
            s[i].step = hearthi_least(s[i].step, step_most());
            return &s[i];
        }
        if (s[i].used < old->used)
            old = &s[i];
    }
    *old = (struct hearthi_stream){ .step = 1, .used = ++turn };
    return old;
}

void
hearthi_stream_opened(struct hearthi_stream *s, uint64_t page, uint64_t count)
{
    uint64_t p = s->opened, end = p + s->n_opened;

    s->opened = page;
    s->n_opened = s->step >= BEHIND ? count : 0;
    if (p == end)
        return;
    hearthi_copies_shut_range(p, end);
    hearthi_diff_end();
}
