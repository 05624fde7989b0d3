/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "extent.h"

#include <stdlib.h>
#include <string.h>

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
