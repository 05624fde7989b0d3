/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "stride_prefetch.h"

#include <string.h>

#include "base/min.h"
#include "base/mutex.h"
#include "base/option.h"

/* The oldest entry gives way.  NEAR: how far apart two faults may be to be
 * taken for a sequence.  Pages that do not adjoin are a message each, and some
 * of them go together. */
enum { STRIDES = 64, FIRST_STEP = 4, NEAR = 16, APART = 32 };

static struct {
    uint64_t              next[STRIDES]; /* the page that would come next */
    struct hearthi_stride stream[STRIDES];
} strides[2];
static uint64_t turn;

void
hearthi_stride_prefetch_open(void)
{
    memset(strides, 0, sizeof strides);
    memset(strides[0].next, 0xff, sizeof strides[0].next);
    memset(strides[1].next, 0xff, sizeof strides[1].next);
}

void
hearthi_stride_prefetch_forget(uint64_t page, uint64_t count)
{
    for (int which = 0; which < 2; which++)
        for (int i = 0; i < STRIDES; i++) {
            uint64_t *next = &strides[which].next[i];

            if (*next - page >= count &&
                strides[which].stream[i].last - page >= count)
                continue;
            *next = UINT64_MAX;
            strides[which].stream[i] = (struct hearthi_stride){ 0 };
        }
}

static uint64_t
step_most(int64_t stride, uint64_t most)
{
    most = hearthi_min(hearthi_fetch_ahead(), most);
    if (stride != 1 && stride != -1)
        most = hearthi_min(most, APART);
    return most < 1 ? 1 : most;
}

static struct hearthi_stride *
sequence_grow(struct hearthi_stride *s, uint64_t page, uint64_t most)
{
    s->step = s->step < FIRST_STEP ? FIRST_STEP : 2 * s->step;
    s->step = hearthi_min(s->step, step_most(s->stride, most));
    s->last = page;
    s->used = ++turn;
    return s;
}

static struct hearthi_stride *
sequence_new(enum hearthi_stride_kind which, uint64_t page, int64_t stride)
{
    struct hearthi_stride *s = strides[which].stream, *old = s;

    for (int i = 1; i < STRIDES; i++)
        if (s[i].used < old->used)
            old = &s[i];
    *old = (struct hearthi_stride){ .which = which,
                                    .stride = stride,
                                    .step = 1,
                                    .last = page,
                                    .used = ++turn };
    strides[which].next[old - s] = page + (uint64_t)stride;
    return old;
}

/* The latest single fault nearby, at some distance; or 0. */
static int64_t
distance_find(enum hearthi_stride_kind which, uint64_t page)
{
    const struct hearthi_stride *s = strides[which].stream, *of = NULL;

    for (int i = 0; i < STRIDES; i++)
        if (s[i].step == 1 && s[i].stride == 1 && s[i].last != page &&
            s[i].last - page + NEAR <= 2 * NEAR &&
            (of == NULL || s[i].used > of->used))
            of = &s[i];
    return of == NULL ? 0 : (int64_t)(page - of->last);
}

/* Two faults at a distance may be the beginning of a sequence, and a third one
 * tells.  Of two that adjoin the second does, as most do. */
struct hearthi_stride *
hearthi_stride_prefetch_find(enum hearthi_stride_kind which, uint64_t page,
                             uint64_t most)
{
    const uint64_t *next = strides[which].next;
    int64_t         distance;

    HEARTHI_ASSERT_HAS(TABLE);
    for (int i = 0; i < STRIDES; i++)
        if (next[i] == page)
            return sequence_grow(&strides[which].stream[i], page, most);
    distance = distance_find(which, page);
    if (distance != 0)
        sequence_new(which, page, distance);
    return sequence_new(which, page, 1);
}

static uint64_t *
next_of(const struct hearthi_stride *s)
{
    return &strides[s->which].next[s - strides[s->which].stream];
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
    HEARTHI_ASSERT(s->step > 0 && s->stride != 0);
    *next_of(s) = next_after(s, page, count);
}

bool
hearthi_stride_prefetch_is_at(const struct hearthi_stride *s, uint64_t page,
                              uint64_t count)
{
    return *next_of(s) == next_after(s, page, count);
}
