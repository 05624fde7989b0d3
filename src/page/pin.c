/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What holds a page does until then: it is present, in the state that it is
 * pinned for, and counts, so that all others pass it by: replacement
 * (evict.c), the end of a long write sequence (stride_prefetch.c) and of an
 * interval (coherence/interval.c), sharer flags (coherence/sharer_flags.c),
 * and acquires, which cannot drop a pinned copy and bring it up to date.
 *
 * A copy that is pinned for writing may change at every moment, and no thread
 * sees that.  Its twin holds what the home is known to have: so what differs
 * from the twin in the home's version was written by others, and what differs
 * in the page was written here and goes with the next diff, however late it
 * came.  The version comes to memory of ours, and only the bytes that others
 * wrote go into page and twin; a fetch into the frame itself would bring old
 * ones back.
 *
 * A copy that is only read may be fetched where it is: what changes there are
 * bytes that others wrote, and a thread that reads those now has no right to
 * either value.
 *
 * A first copy that is pinned counts as a later one afterwards: the flag that
 * was set with it has arrived, its home is told before it is fetched once
 * more, and what was in it goes, as if it had been dropped and fetched again
 * (coherence/sharer_flags.c).
 */
#include "config.h"

#include "pin.h"

#include "base/min.h"
#include "base/mutex.h"
#include "copies.h"
#include "diffs.h"
#include "evict.h"
#include "fetch.h"
#include "frames.h"
#include "hearth/hearth.h"
#include "migration_freeze.h"
#include "node_cache.h"
#include "overwrite.h"
#include "page.h"
#include "page_in_flight.h"
#include "pin_count.h"

/* Of the cache, frames that cannot be pinned: what the program touches at the
 * same time needs some, and an instruction may need four at once. */
enum { LEAST_REST = 8 };

/* Where versions of open copies are received; from start to end, as a network
 * card may know it. */
enum { ASIDE = 1 << 20 }; /* bytes, or one page if that is more */
static char  *aside;
static size_t n_aside; /* pages */

void
hearthi_pins_open(void)
{
    hearthi_pin_count_open();
    hearthi_migration_freeze_open();
    n_aside = ASIDE >> hearthi_heap.shift;
    n_aside += n_aside == 0;
    aside = hearthi_sparse(n_aside << hearthi_heap.shift);
}

void
hearthi_pins_close(void)
{
    hearthi_pin_count_close();
    hearthi_migration_freeze_close();
    hearthi_sparse_free(aside, n_aside << hearthi_heap.shift);
}

uint64_t
hearthi_pins_most(void)
{
    uint64_t bound = hearthi_frames.bound, rest = bound / 16;

    if (rest < LEAST_REST)
        rest = LEAST_REST;
    HEARTHI_ASSERT(rest <= bound);
    return bound - rest;
}

/* ---- pin ---- */

/* A fetch brings a part of the cache at most.  The pages of the range count as
 * pinned already, so what one fetch brings no later one pushes out. */
static void
range_bring(uint64_t page, uint64_t end)
{
    while (page < end) {
        unsigned state = hearthi_state_of(page);

        if (hearthi_is_in_flight(state))
            hearthi_in_flight_wait();
        else if (state == HEARTHI_INVALID || state == HEARTHI_PREFETCHED)
            hearthi_fetch_range(page, end - page, true);
        else
            page++;
    }
}

/* How far the pages from page on are in its state. */
static uint64_t
run_of(uint64_t page, uint64_t end)
{
    return hearthi_run_length(page, end - page, hearthi_state_of(page));
}

static void
homes_open(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++)
        hearthi_list(p);
    hearthi_pages_set(page, count, HEARTHI_HOME_DIRTY);
}

/* Let valid pages be as a pin needs them, and where the kernel finds them
 * (hearthi_copies_unwatch()).  One that was given up comes back
 * in the state that it would be in, and is looked at again. */
static void
range_open(uint64_t page, uint64_t end, bool write)
{
    while (page < end) {
        enum hearthi_state state;
        uint64_t           n;

        hearthi_copies_reserve(0); /* what is opened splits mappings */
        n = run_of(page, end);
        state = hearthi_state_of(page);
        if (state == HEARTHI_HOME_AWAY) {
            hearthi_home_back(page, write);
            continue;
        }
        if (write && state == HEARTHI_CLEAN)
            hearthi_copies_write(page, n);
        if (write && state == HEARTHI_HOME_ARMED)
            homes_open(page, n);
        hearthi_copies_unwatch(page, n);
        page += n;
    }
}

/* What a device is to have is all there, and has a twin if it may change. */
static void
overwritten_close(uint64_t page, uint64_t end)
{
    bool any = false;

    for (; page < end; page++)
        if (hearthi_state_of(page) == HEARTHI_DIRTY &&
            hearthi_is_overwritten(page)) {
            hearthi_copies_shut(page, 1);
            any = true;
        }
    if (any)
        hearthi_diff_end();
}

/* Are all pages as a pin needs them? */
HEARTHI_FOR_ASSERT static bool
are_ready(uint64_t page, uint64_t end, bool write)
{
    for (; page < end; page++) {
        unsigned state = hearthi_state_of(page);

        if (!hearthi_is_pinned(page) || state < HEARTHI_CLEAN ||
            state == HEARTHI_HOME_AWAY ||
            (write && (state == HEARTHI_CLEAN || state == HEARTHI_HOME_ARMED)))
            return false;
    }
    return true;
}

void
hearthi_pages_pin(uint64_t page, uint64_t count, int how)
{
    uint64_t end = page + count;

    hearthi_pin_count_add(page, count, how);
    hearthi_node_cache_keep(page, count);
    overwritten_close(page, end);
    range_bring(page, end);
    range_open(page, end, (how & HEARTH_WRITE) != 0);
    HEARTHI_ASSERT(are_ready(page, end, (how & HEARTH_WRITE) != 0));
}

/* ---- acquires ---- */

enum { RUNS = 32 };
struct renewal {
    struct hearthi_fetch run[RUNS];
    size_t               n, used; /* pages aside */
};

static bool
is_open(uint64_t page)
{
    return hearthi_table.state[page] == HEARTHI_DIRTY;
}

/* Can one message bring page + 1 behind page? */
static bool
renewed_together(uint64_t page)
{
    return hearthi_follows(page) && is_open(page) == is_open(page + 1) &&
           (is_open(page) || hearthi_cached(page) + hearthi_heap.page ==
                                 hearthi_cached(page + 1));
}

/* The run that a list of n begins with. */
static size_t
run_length(const hearthi_page *page, size_t n)
{
    size_t count = 1;

    while (count < n && page[count] == *page + count &&
           renewed_together(page[count - 1]))
        count++;
    return count;
}

/* Add the run that the list begins with.  Returns how many pages found a
 * place. */
static size_t
renewal_add(struct renewal *r, const hearthi_page *page, size_t n)
{
    bool   open = is_open(*page);
    size_t most = open ? hearthi_min(n, n_aside - r->used) : n, count;

    HEARTHI_ASSERT(hearthi_is_pinned(*page) && r->used <= n_aside);
    if (r->n == RUNS || most == 0)
        return 0;
    count = run_length(page, most);
    r->run[r->n++] = (struct hearthi_fetch){
        .page = *page,
        .count = (uint32_t)count,
        .home = hearthi_home_of(*page),
        .frame = hearthi_home_frame_of(*page),
        .to = open ? aside + (r->used << hearthi_heap.shift)
                   : hearthi_cached(*page),
    };
    r->used += open ? count : 0;
    return count;
}

static void
renewal_merge(const struct renewal *r)
{
    for (size_t i = 0; i < r->n; i++) {
        const struct hearthi_fetch *f = &r->run[i];

        for (uint64_t k = 0; k < f->count && is_open(f->page); k++)
            hearthi_twin_merge(f->page + k, f->to + (k << hearthi_heap.shift));
    }
}

void
hearthi_pins_bring(void)
{
    struct hearthi_pagelist *l = &hearthi_stale;

    HEARTHI_ASSERT_HAS(TABLE);
    hearthi_pagelist_sort(l);
    for (size_t i = 0, n; i < l->n;) {
        struct renewal r;

        r.n = r.used = 0;
        while (i < l->n && (n = renewal_add(&r, l->page + i, l->n - i)) > 0)
            i += n;
        hearthi_fetch_runs(r.run, r.n);
        renewal_merge(&r);
    }
    hearthi_stale_clear();
}
