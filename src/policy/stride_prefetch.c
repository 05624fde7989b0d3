/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "stride_prefetch.h"

#include <string.h>

#include "base/min.h"
#include "base/option.h"
#include "page/copies.h"
#include "page/diffs.h"
#include "page/evict.h"
#include "page/page.h"

/* The oldest entry gives way.  NEAR: how far apart two faults may be to be
 * taken for a sequence.  Pages that do not adjoin are a message each, and some
 * of them go together. */
enum { STREAMS = 64, FIRST_STEP = 4, BEHIND = 128, NEAR = 16, APART = 32 };

static struct {
    uint64_t              next[STREAMS]; /* the page that would come next */
    struct hearthi_stride stream[STREAMS];
} streams[2];
static uint64_t turn;

void
hearthi_stride_prefetch_open(void)
{
    memset(streams, 0, sizeof streams);
    memset(streams[0].next, 0xff, sizeof streams[0].next);
    memset(streams[1].next, 0xff, sizeof streams[1].next);
}

void
hearthi_stride_prefetch_forget(uint64_t page, uint64_t count)
{
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < STREAMS; i++) {
            uint64_t *next = &streams[which].next[i];

            if (*next - page >= count &&
                streams[which].stream[i].last - page >= count)
                continue;
            *next = UINT64_MAX;
            streams[which].stream[i] = (struct hearthi_stride){ 0 };
        }
}

static uint64_t
step_most(int64_t stride)
{
    uint64_t most =
        hearthi_min(hearthi_opt.fetch_ahead, hearthi_copies_most());

    if (stride != 1 && stride != -1)
        most = hearthi_min(most, APART);
    return most < 1 ? 1 : most;
}

static struct hearthi_stride *
sequence_grow(struct hearthi_stride *s, uint64_t page)
{
    s->step = s->step < FIRST_STEP ? FIRST_STEP : 2 * s->step;
    s->step = hearthi_min(s->step, step_most(s->stride));
    s->last = page;
    s->used = ++turn;
    return s;
}

static struct hearthi_stride *
sequence_new(enum hearthi_stride_kind which, uint64_t page, int64_t stride)
{
    struct hearthi_stride *s = streams[which].stream, *old = s;

    for (int i = 1; i < STREAMS; i++)
        if (s[i].used < old->used)
            old = &s[i];
    *old = (struct hearthi_stride){ .which = which,
                                    .stride = stride,
                                    .step = 1,
                                    .last = page,
                                    .used = ++turn };
    streams[which].next[old - s] = page + (uint64_t)stride;
    return old;
}

/* The latest single fault nearby, at some distance; or 0. */
static int64_t
distance_find(enum hearthi_stride_kind which, uint64_t page)
{
    const struct hearthi_stride *s = streams[which].stream, *of = NULL;

    for (int i = 0; i < STREAMS; i++)
        if (s[i].step == 1 && s[i].stride == 1 && s[i].last != page &&
            s[i].last - page + NEAR <= 2 * NEAR &&
            (of == NULL || s[i].used > of->used))
            of = &s[i];
    return of == NULL ? 0 : (int64_t)(page - of->last);
}

/* Two faults at a distance may be the beginning of a sequence, and a third one
 * tells.  Of two that adjoin the second does, as most do. */
struct hearthi_stride *
hearthi_stride_prefetch_find(enum hearthi_stride_kind which, uint64_t page)
{
    const uint64_t *next = streams[which].next;
    int64_t         distance;

    for (int i = 0; i < STREAMS; i++)
        if (next[i] == page)
            return sequence_grow(&streams[which].stream[i], page);
    distance = distance_find(which, page);
    if (distance != 0)
        sequence_new(which, page, distance);
    return sequence_new(which, page, 1);
}

static uint64_t *
next_of(const struct hearthi_stride *s)
{
    return &streams[s->which].next[s - streams[s->which].stream];
}

static uint64_t
next_after(const struct hearthi_stride *s, uint64_t page, uint64_t count)
{
    return page + count * (uint64_t)s->stride;
}

void
hearthi_stride_prefetch_took(struct hearthi_stride *s, uint64_t page,
                             uint64_t count)
{
    *next_of(s) = next_after(s, page, count);
}

bool
hearthi_stride_prefetch_is_at(const struct hearthi_stride *s, uint64_t page,
                              uint64_t count)
{
    return *next_of(s) == next_after(s, page, count);
}

void
hearthi_stride_prefetch_opened(struct hearthi_stride *s, uint64_t page,
                               uint64_t count)
{
    uint64_t p = s->opened, end = p + s->n_opened;

    s->opened = page;
    s->n_opened = s->step >= BEHIND ? count : 0;
    if (p == end)
        return;
    hearthi_copies_shut_range(p, end);
    hearthi_diff_end();
}
