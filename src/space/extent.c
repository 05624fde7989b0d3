/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "extent.h"

#include <stdlib.h>
#include <string.h>

#include "base/assert.h"
#include "base/report.h"

static void
room_for_one(struct hearthi_extents *e)
{
    if (e->n < e->room)
        return;
    e->room = e->room == 0 ? 16 : 2 * e->room;
    e->free = realloc(e->free, e->room * sizeof *e->free);
    if (e->free == NULL)
        hearthi_fatal("hearth_alloc", "no memory for %zu free ranges",
                      e->room);
}

void
hearthi_extents_init(struct hearthi_extents *e, uint64_t first, uint64_t count)
{
    memset(e, 0, sizeof *e);
    if (count > 0)
        hearthi_extents_give(e, first, count);
}

void
hearthi_extents_fini(struct hearthi_extents *e)
{
    free(e->free);
    memset(e, 0, sizeof *e);
}

static void
cut(struct hearthi_extents *e, size_t i, uint64_t count, uint64_t *first)
{
    HEARTHI_ASSERT(i < e->n && count > 0 && count <= e->free[i].count);
    HEARTHI_ASSERT(e->left >= count);
    *first = e->free[i].first;
    e->free[i].first += count;
    e->free[i].count -= count;
    e->left -= count;
    if (e->free[i].count == 0) {
        e->n--;
        memmove(e->free + i, e->free + i + 1, (e->n - i) * sizeof *e->free);
    }
}

int
hearthi_extents_take(struct hearthi_extents *e, uint64_t count,
                     uint64_t *first)
{
    for (size_t i = 0; i < e->n; i++) {
        if (e->free[i].count >= count) {
            cut(e, i, count, first);
            return 0;
        }
    }
    return -1;
}

/* Of one range, from a number inside it on. */
static void
cut_inside(struct hearthi_extents *e, size_t i, uint64_t at, uint64_t count)
{
    uint64_t skipped;

    HEARTHI_ASSERT(at >= e->free[i].first);
    cut(e, i, at - e->free[i].first + count, &skipped);
    if (at > skipped)
        hearthi_extents_give(e, skipped, at - skipped);
}

/* The range in which a number is free, or e->n. */
static size_t
range_of(const struct hearthi_extents *e, uint64_t number)
{
    size_t low = 0, high = e->n;

    while (low < high) {
        size_t i = low + (high - low) / 2;

        if (e->free[i].first + e->free[i].count <= number)
            low = i + 1;
        else
            high = i;
    }
    return low < e->n && e->free[low].first <= number ? low : e->n;
}

uint64_t
hearthi_extents_free_at(const struct hearthi_extents *e, uint64_t first)
{
    size_t i = range_of(e, first);

    return i == e->n ? 0 : e->free[i].first + e->free[i].count - first;
}

int
hearthi_extents_take_at(struct hearthi_extents *e, uint64_t first,
                        uint64_t count)
{
    size_t i = range_of(e, first);

    if (i == e->n || e->free[i].first + e->free[i].count - first < count)
        return -1;
    cut_inside(e, i, first, count);
    return 0;
}

int
hearthi_extents_take_aligned(struct hearthi_extents *e, uint64_t count,
                             uint64_t *first)
{
    for (size_t i = 0; i < e->n; i++) {
        const struct hearthi_extent x = e->free[i];

        *first = (x.first + count - 1) / count * count;
        if (*first + count <= x.first + x.count) {
            cut_inside(e, i, *first, count);
            return 0;
        }
    }
    return -1;
}

uint64_t
hearthi_extents_take_units(struct hearthi_extents *e, uint64_t unit,
                           uint64_t *first)
{
    for (size_t i = 0; i < e->n; i++) {
        const struct hearthi_extent x = e->free[i];
        const uint64_t              end = (x.first + x.count) / unit * unit;

        *first = (x.first + unit - 1) / unit * unit;
        if (*first < end) {
            cut_inside(e, i, *first, end - *first);
            return end - *first;
        }
    }
    return 0;
}

uint64_t
hearthi_extents_take_some(struct hearthi_extents *e, uint64_t count,
                          uint64_t *first)
{
    size_t longest = 0;

    if (e->n == 0)
        return 0;
    if (hearthi_extents_take(e, count, first) == 0)
        return count;
    for (size_t i = 1; i < e->n; i++)
        if (e->free[i].count > e->free[longest].count)
            longest = i;
    count = e->free[longest].count;
    cut(e, longest, count, first);
    return count;
}

void
hearthi_extents_give(struct hearthi_extents *e, uint64_t first, uint64_t count)
{
    size_t i = 0;

    while (i < e->n && e->free[i].first < first)
        i++;
    HEARTHI_ASSERT(count > 0);
    HEARTHI_ASSERT(i == 0 ||
                   e->free[i - 1].first + e->free[i - 1].count <= first);
    HEARTHI_ASSERT(i == e->n || first + count <= e->free[i].first);
    e->left += count;
    if (i > 0 && e->free[i - 1].first + e->free[i - 1].count == first) {
        e->free[--i].count += count;
    } else {
        room_for_one(e);
        memmove(e->free + i + 1, e->free + i, (e->n - i) * sizeof *e->free);
        e->free[i] = (struct hearthi_extent){ first, count };
        e->n++;
    }
    if (i + 1 < e->n &&
        e->free[i].first + e->free[i].count == e->free[i + 1].first) {
        e->free[i].count += e->free[i + 1].count;
        e->n--;
        memmove(e->free + i + 1, e->free + i + 2,
                (e->n - i - 1) * sizeof *e->free);
    }
}
