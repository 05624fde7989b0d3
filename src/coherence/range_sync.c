/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Order by the program's own messages.
 *
 * The rank that wrote brings its diffs home, then sends; the rank that has
 * received drops its copies, then reads.  Nothing is published, and no copy is
 * looked for that could stay: the message says only that something was
 * written.
 *
 * With the locks, flags and barriers it goes together as follows.  What a
 * release brought home stays in the list of this interval's pages, so that the
 * next lock, flag or barrier tells of it as well.  What an acquire learnt of
 * must reach the ranks to which this one releases a lock or flag later; it
 * does not know which pages were written, and so it counts all that it dropped
 * for as written, by itself, in the notices of locks and flags.  A barrier
 * needs none of that as long as ranks have one thread: the writer itself tells
 * it.  But a thread may write and release while another is inside a barrier,
 * which does not have that; a rank that acquires it and has yet to arrive
 * there must tell.  So where any rank has threads, this one or another, the
 * next barrier is told of what was acquired.
 *
 * A first copy (sharer_flags.c) that an acquire here dropped stays in the list
 * of those that the next lock, flag or barrier drops.  So every copy that
 * survives one of these was fetched after its home was told of its flag, as if
 * there had been no acquire in between.
 */
#include "config.h"

#include "range_sync.h"

#include <stdatomic.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/mutex.h"
#include "coherence.h"
#include "coherence/range_sync.h"
#include "notice/notice.h"
#include "page/copies.h"
#include "page/diffs.h"
#include "page/evict.h"
#include "page/node_cache.h"
#include "page/overwrite.h"
#include "page/page.h"
#include "page/pin.h"
#include "page/pin_count.h"
#include "page/reuse_prefetch.h"
#include "world.h"

/* Runs of dirty copies are closed, or stay open where they are pinned; they
 * stay listed, and are marked as changed if they were. */
static void
range_close(uint64_t page, uint64_t end)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(page < end && end <= hearthi_heap.pages);
    hearthi_copies_shut_range(page, end);
    for (; page < end && hearthi_pin_count.pages > 0; page++)
        if (hearthi_table.state[page] == HEARTHI_DIRTY)
            hearthi_copies_refresh(page);
}

void
hearthi_range_sync_release(uint64_t page, uint64_t count)
{
    if (hearthi_world.nodes > 1) {
        hearthi_table_lock();
        hearthi_overwrite_end();
        hearthi_copies_reserve(0); /* closing splits mappings */
        range_close(page, page + count);
        hearthi_diff_end();
        hearthi_table_unlock();
    }
    /* Our stores to home memory, before the program's message. */
    atomic_thread_fence(memory_order_seq_cst);
}

/* Costs what was written, not what there is.  The fence is as above. */
void
hearthi_range_sync_release_all(void)
{
    const hearthi_page *page = hearthi_written.page;

    if (hearthi_world.nodes > 1) {
        hearthi_table_lock();
        hearthi_overwrite_end();
        hearthi_pagelist_sort(&hearthi_written);
        for (size_t i = 0, n; i < hearthi_written.n; i += n) {
            hearthi_copies_reserve(0);
            n = hearthi_pages_in_row(page, hearthi_written.n, i);
            range_close(page[i], page[i] + n);
        }
        hearthi_diff_end();
        hearthi_table_unlock();
    }
    atomic_thread_fence(memory_order_seq_cst);
}

/* The program's own message brings no notice by which a gateway would drop
 * what it keeps.  Only behind this the number is drawn that tells which copies
 * of other ranks of the node are new enough (page/node_cache.h): what one of
 * them fetches before may be what the gateway had kept. */
static void
forget(uint64_t page, uint32_t count)
{
    if (hearthi_transport->data.forget != NULL)
        hearthi_transport->data.forget(page, count);
}

/* Is there a copy in a range that is not pinned? */
HEARTHI_FOR_ASSERT static bool
has_copies(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++)
        if (hearthi_is_copy(hearthi_table.state[p]) && !hearthi_is_pinned(p))
            return true;
    return false;
}

/* The fence, here and below, pairs with those above by way of the program's
 * message: our loads come behind it. */
void
hearthi_range_sync_acquire(uint64_t page, uint64_t count)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (hearthi_world.nodes == 1)
        return;
    hearthi_table_lock();
    hearthi_overwrite_end();
    forget(page, (uint32_t)count);
    hearthi_node_cache_acquired();
    hearthi_reuse_prefetch_begin();
    hearthi_copies_drop(page, count);
    hearthi_reuse_prefetch_noted();
    hearthi_pins_renew();
    HEARTHI_ASSERT(!has_copies(page, count));
    hearthi_known_elsewhere(page, (uint32_t)count);
    hearthi_reuse_prefetch_fetch();
    hearthi_table_unlock();
}

void
hearthi_range_sync_acquire_all(void)
{
    atomic_thread_fence(memory_order_seq_cst);
    if (hearthi_world.nodes == 1)
        return;
    hearthi_table_lock();
    hearthi_overwrite_end();
    forget(0, HEARTHI_INVALIDATE_ALL);
    hearthi_node_cache_acquired();
    hearthi_reuse_prefetch_begin();
    hearthi_copies_drop_all();
    hearthi_reuse_prefetch_noted();
    hearthi_pins_renew();
    hearthi_known_elsewhere(0, HEARTHI_INVALIDATE_ALL);
    hearthi_reuse_prefetch_fetch();
    hearthi_table_unlock();
}

/* ---- many ranges ---- */

static int
range_compare(const void *a, const void *b)
{
    const struct hearthi_heap_range *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

void
hearthi_ranges_order(struct hearthi_heap_range *range, size_t n,
                     void (*order)(uint64_t page, uint64_t count))
{
    unsigned shift = hearthi_heap.shift;

    qsort(range, n, sizeof *range, range_compare);
    for (size_t i = 0; i < n;) {
        uint64_t first = range[i].at >> shift;
        uint64_t end = first;

        for (; i < n && range[i].at >> shift <= end; i++) {
            uint64_t last = (range[i].at + range[i].bytes - 1) >> shift;

            end = last + 1 > end ? last + 1 : end;
        }
        HEARTHI_ASSERT(end > first && end <= hearthi_heap.pages);
        order(first, end - first);
    }
}
