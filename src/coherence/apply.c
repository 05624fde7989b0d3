/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What notices do to this rank's copies.
 */
#include "config.h"

#include "base/min.h"
#include "base/mutex.h"
#include "coherence.h"

#include "base/stat.h"
#include "page/copies.h"
#include "page/hull.h"
#include "page/overwrite.h"
#include "page/page.h"
#include "page/pin.h"
#include "page/pin_count.h"
#include "page/reuse_prefetch.h"
#include "page/sharer_notify.h"
#include "space/segment.h"
#include "world.h"

/* May a page stay as it is when an acquire names it?  Without a frame one that
 * is frozen (page/migration_freeze.h) has no copy. */
HEARTHI_FOR_ASSERT static bool
may_remain(uint64_t page)
{
    unsigned state = hearthi_table.state[page];

    return hearthi_is_pinned(page) ||
           (!hearthi_is_copy(state) && state != HEARTHI_PREFETCHED &&
            (state != HEARTHI_IN_FLIGHT ||
             !(hearthi_table.mark[page] & HEARTHI_RESIDENT)));
}

/* Are copies that lie from `next` on worth being dropped with those that end
 * before `end`, as one hull (page/hull.h)?  Nothing between must change. */
static bool
joins(uint64_t end, uint64_t next)
{
    const uint8_t *state = hearthi_table.state;

    if (next < end || next - end > HEARTHI_HULL_GAP ||
        next >= hearthi_table.top)
        return false;
    if (next > end &&
        !(hearthi_is_copy(state[end - 1]) && hearthi_is_copy(state[next])))
        return false;
    for (uint64_t p = end; p < next; p++)
        if (!hearthi_is_absent(p))
            return false;
    return true;
}

/* How many of the list, from the i-th on, are dropped together. */
static size_t
first_copies_together(size_t i, uint64_t *end)
{
    const struct hearthi_pagelist *l = &hearthi_provisional;
    size_t                         n = 0, row;

    do {
        row = hearthi_pages_in_row(l->page, l->n, i + n);
        *end = l->page[i + n] + row;
        n += row;
    } while (i + n < l->n && joins(*end, l->page[i + n]));
    return n;
}

/* A first copy may have been fetched before its sharer flag could be seen. The
 * flags have arrived by now, since each fetch waited for its own, and their
 * homes are to be told (sharer_flags.c).  A rank may have become the home of
 * such a page meanwhile, or has no flag at its new home
 * (page/migration_freeze.c). */
static void
provisional_drop(void)
{
    struct hearthi_pagelist *l = &hearthi_provisional;

    for (size_t i = 0, n; i < l->n; i += n) {
        uint64_t end;

        n = first_copies_together(i, &end);
        for (size_t k = i; k < i + n; k++) {
            uint8_t *mark = &hearthi_table.mark[l->page[k]];

            HEARTHI_ASSERT(*mark & HEARTHI_PROVISIONAL);
            *mark &= (uint8_t)~HEARTHI_PROVISIONAL;
            if (*mark & HEARTHI_REGISTERED)
                hearthi_sharer_notify_later(hearthi_home_of(l->page[k]));
        }
        hearthi_count(provisional,
                      hearthi_copies_drop(l->page[i], end - l->page[i]));
        HEARTHI_ASSERT(may_remain(l->page[i]) && may_remain(end - 1));
    }
    l->n = 0;
}

HEARTHI_FOR_ASSERT static bool
may_all_remain(uint64_t page, uint64_t end)
{
    for (; (page = hearthi_touched_next(page, end)) < end; page++)
        if (!may_remain(page))
            return false;
    return true;
}

#ifdef HEARTHI_DEBUG
bool
hearthi_notices_are_applied(const struct hearthi_notice *notice, size_t n,
                            bool invalidate_all)
{
    const uint64_t top = hearthi_table.top;
    bool           any = invalidate_all && !may_all_remain(0, top);

    for (size_t i = 0; i < n; i++) {
        uint64_t end = notice[i].page + notice[i].count;

        if (notice[i].writer == (uint32_t)hearthi_world.rank)
            continue;
        if (notice[i].count == HEARTHI_INVALIDATE_ALL || end > top)
            end = top;
        any |= !may_all_remain(notice[i].page, end);
    }
    return !any && hearthi_provisional.n == 0;
}
#endif

/* What a notice names is pages of the heap, and some rank has written them. */
HEARTHI_FOR_ASSERT static bool
are_notices(const struct hearthi_notice *notice, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (notice[i].writer >= (uint32_t)hearthi_world.size ||
            (notice[i].count != HEARTHI_INVALIDATE_ALL &&
             notice[i].page + notice[i].count > hearthi_heap.pages))
            return false;
    return true;
}

/* A writer that was alone keeps its own copy.  Which other rank it was is all
 * one, so transports join what those wrote (coalesce.c). */
static bool
is_to_drop(const struct hearthi_notice *notice)
{
    return notice->writer != (uint32_t)hearthi_world.rank &&
           notice->page < hearthi_table.top;
}

/* How many of them are dropped together, and the end of their pages. */
static size_t
notices_together(const struct hearthi_notice *notice, size_t n, uint64_t *end)
{
    size_t i = 0;

    do {
        *end =
            hearthi_min(notice[i].page + notice[i].count, hearthi_table.top);
        i++;
    } while (i < n && is_to_drop(&notice[i]) && joins(*end, notice[i].page));
    return i;
}

static void
notices_drop(const struct hearthi_notice *notice, size_t n,
             bool invalidate_all)
{
    for (size_t i = 0; i < n && !invalidate_all; i++)
        invalidate_all = notice[i].count == HEARTHI_INVALIDATE_ALL &&
                         notice[i].writer != (uint32_t)hearthi_world.rank;
    if (invalidate_all) {
        hearthi_count(everything, 1);
        hearthi_count(invalidations, hearthi_copies_drop_all());
        return;
    }
    for (size_t i = 0, together; i < n; i += together) {
        uint64_t page = notice[i].page, end;

        together = 1;
        if (!is_to_drop(&notice[i]))
            continue;
        together = notices_together(notice + i, n - i, &end);
        hearthi_count(invalidations, hearthi_copies_drop(page, end - page));
    }
    hearthi_count(notices_in, n);
}

/* Copies that are pinned could not be dropped: they are new when the acquire
 * ends, all of them together, after every home was told of first copies. */
void
hearthi_notices_apply(const struct hearthi_notice *notice, size_t n,
                      bool invalidate_all)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(are_notices(notice, n));
    hearthi_overwrite_end();
    provisional_drop();
    hearthi_reuse_prefetch_begin(); /* first copies tell of no use */
    notices_drop(notice, n, invalidate_all);
    hearthi_reuse_prefetch_noted();
    hearthi_pins_renew();
    HEARTHI_ASSERT(hearthi_notices_are_applied(notice, n, invalidate_all));
}
