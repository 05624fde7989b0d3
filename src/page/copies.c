/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A copy is closed in this order, here and everywhere: protect the
 * application view, then compare the system view with the twin, then wait
 * until the diff has arrived.  Another thread's store therefore either is in
 * the diff, or faults and opens the page again; it cannot fall in between.
 */
#include "config.h"

#include "copies.h"

#include <string.h>

#include "base/min.h"
#include "base/mutex.h"
#include "base/stat.h"
#include "diffs.h"
#include "evict.h"
#include "frames.h"
#include "freed_frames.h"
#include "hull.h"
#include "node_cache.h"
#include "overwrite.h"
#include "page.h"
#include "pin_count.h"
#include "policy/stride_prefetch.h"
#include "reuse_prefetch.h"
#include "sharer_notify.h"
#include "twins.h"

enum { BATCH = 256 };

void
hearthi_copies_open(void)
{
    hearthi_diffs_open(hearthi_frames_open());
}

void
hearthi_copies_close(void)
{
    hearthi_diffs_close();
    hearthi_freed_frames = 0;
    hearthi_frames_close();
}

void
hearthi_list(uint64_t page)
{
    hearthi_pagelist_add(&hearthi_written, HEARTHI_LISTED, page);
}

void
hearthi_list_changed(uint64_t page)
{
    hearthi_list(page);
    hearthi_table.mark[page] |= HEARTHI_CHANGED;
}

void
hearthi_copies_write(uint64_t page, uint64_t count)
{
    HEARTHI_ASSERT_HAS(TABLE);
    for (uint64_t p = page; p < page + count; p++) {
        hearthi_twin_make(p);
        hearthi_list(p);
    }
    hearthi_count(twins, count);
    hearthi_pages_set(page, count, HEARTHI_DIRTY);
}

/* What it is when it is closed.  Does its home tell of its own stores to this
 * page?  If not, one that was opened without a fetch is no copy now. */
static enum hearthi_state
shut_state(uint64_t page)
{
    return hearthi_table.state[page] == HEARTHI_CLEAN ||
                   !hearthi_is_overwritten(page) ||
                   ((hearthi_table.mark[page] & HEARTHI_REGISTERED) &&
                    hearthi_sharer_is_notified(hearthi_home_of(page)))
               ? HEARTHI_CLEAN
               : HEARTHI_INVALID;
}

HEARTHI_FOR_ASSERT static bool
are_copies(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++)
        if (!hearthi_is_copy(hearthi_table.state[p]))
            return false;
    return true;
}

/* A page that is about to be pinned gets its content first (pin.c). */
HEARTHI_FOR_ASSERT static bool
is_any_held_open(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++)
        if (hearthi_is_pinned_open(p) && !hearthi_is_overwritten(p))
            return true;
    return false;
}

/* One that is shown as the first is, and has no diff.  A copy that is pinned,
 * or is about to be, is left to the thread that pins it. */
bool
hearthi_copies_may_cover(uint64_t page, uint64_t first)
{
    return hearthi_table.state[page] == HEARTHI_CLEAN &&
           !hearthi_is_pinned(page) && hearthi_view_is_alike(page, first);
}

/* Dirty copies, which are protected by now. */
static void
written_send(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++) {
        hearthi_diff_begin(p, false);
        hearthi_twin_free(p);
    }
    hearthi_node_cache_lend_written(page, count);
}

/* A run of which some are clean.  Note which, before all of them are. */
static void
hull_shut(uint64_t page, uint64_t count)
{
    uint8_t was[BATCH];

    HEARTHI_ASSERT(count <= BATCH);
    count = hearthi_min(count, BATCH); /* compilers see it so */
    memcpy(was, hearthi_table.state + page, count);
    hearthi_pages_set(page, count, HEARTHI_CLEAN);
    for (uint64_t i = 0, n; i < count; i += n) {
        for (n = 1; i + n < count && was[i + n] == was[i];)
            n++;
        if (was[i] == HEARTHI_DIRTY)
            written_send(page + i, n);
    }
}

/* How many can be closed by one call: of a run in which some are clean no more
 * than can be noted. */
static uint64_t
shut_together(uint64_t page, uint64_t end, bool *mixed)
{
    const uint8_t     *state = hearthi_table.state;
    enum hearthi_state to = shut_state(page);
    uint64_t           n = 0;

    *mixed = false;
    for (; page + n < end && shut_state(page + n) == to; n++) {
        bool clean = state[page + n] == HEARTHI_CLEAN;

        if (n >= BATCH && (*mixed || clean))
            break;
        *mixed |= clean;
    }
    return n;
}

void
hearthi_copies_shut(uint64_t page, uint64_t count)
{
    bool mixed;

    for (uint64_t end = page + count, n; page < end; page += n) {
        n = shut_together(page, end, &mixed);
        HEARTHI_ASSERT(are_copies(page, n));
        HEARTHI_ASSERT(!is_any_held_open(page, n));
        if (mixed) {
            hull_shut(page, n);
        } else {
            hearthi_pages_set(page, n, shut_state(page));
            written_send(page, n);
        }
    }
}

static bool
may_shut(uint64_t page)
{
    return hearthi_table.state[page] == HEARTHI_DIRTY &&
           !hearthi_is_pinned_open(page);
}

void
hearthi_copies_shut_range(uint64_t page, uint64_t end)
{
    while (page < end) {
        uint64_t n = 0;

        while (page + n < end && may_shut(page + n))
            n++;
        if (n > 0)
            hearthi_copies_shut(page, n);
        page += n + 1;
    }
}

void
hearthi_copies_opened(struct hearthi_stride *s, uint64_t page, uint64_t count)
{
    struct hearthi_stride_run r =
        hearthi_stride_prefetch_opened(s, page, count);

    if (r.count == 0)
        return;
    hearthi_copies_shut_range(r.page, r.page + r.count);
    hearthi_diff_end();
}

bool
hearthi_copies_refresh(uint64_t page)
{
    HEARTHI_ASSERT(hearthi_table.state[page] == HEARTHI_DIRTY);
    HEARTHI_ASSERT(!hearthi_is_overwritten(page));
    return hearthi_diff_begin(page, true);
}

/* ---- dropping ---- */

/* A page of a run that shows nothing now, and what it was before.  True if it
 * was a copy. */
static bool
page_went(uint64_t page, unsigned was)
{
    if (!hearthi_is_copy(was))
        return false;
    hearthi_reuse_prefetch_dropped(page, 1);
    if (was == HEARTHI_DIRTY) {
        hearthi_diff_begin(page, false);
        hearthi_twin_free(page);
    }
    return true;
}

/* Valid copies of a run, and invalid pages between them (hull.h): note which
 * are which before the protection and with it the states change.  Runs are cut
 * so that the note is small.  Returns how many copies there were. */
static uint64_t
hull_drop(uint64_t page, uint64_t count)
{
    uint8_t  was[BATCH];
    uint64_t dropped = 0;

    while (count > 0) {
        uint64_t n = hearthi_min(count, BATCH);

        HEARTHI_ASSERT(hearthi_pin_count_of(page, n) == 0);
        memcpy(was, hearthi_table.state + page, n);
        hearthi_pages_set(page, n, HEARTHI_INVALID);
        for (uint64_t i = 0; i < n; i++)
            dropped += page_went(page + i, was[i]);
        page += n;
        count -= n;
    }
    return dropped;
}

/* A pinned copy must not go, not for a moment: it is brought up to date where
 * it is (pin.c).  One on its way is not there yet, and will not be valid when
 * it is (page_in_flight.h).  One that is here and was not shown has nothing to
 * bring home.
 */
static bool
may_go(uint64_t page)
{
    const uint8_t *state = &hearthi_table.state[page];

    if (*state == HEARTHI_IN_FLIGHT)
        hearthi_states_put(page, 1, HEARTHI_STALE_IN_FLIGHT);
    if (*state == HEARTHI_PREFETCHED) {
        hearthi_node_cache_keep(page, 1);
        hearthi_states_put(page, 1, HEARTHI_INVALID);
        hearthi_reuse_prefetch_unused(page);
    }
    if (!hearthi_is_copy(*state))
        return false;
    if (!hearthi_is_pinned(page))
        return true;
    hearthi_stale_add(page);
    return false;
}

bool
hearthi_is_absent(uint64_t page)
{
    return hearthi_state_of(page) == HEARTHI_INVALID &&
           !hearthi_is_pinned(page);
}

/* Pages without a copy may lie between copies that go: all of them show
 * nothing in the end.  One that is on its way has a state of its own, and a
 * copy that stays is to be seen. */
static enum hearthi_in_hull
in_drop(uint64_t page, const void *first)
{
    if (may_go(page))
        return HEARTHI_HULL_OF;
    return hearthi_is_absent(page) &&
                   hearthi_view_is_alike(page, *(const uint64_t *)first)
               ? HEARTHI_HULL_OVER
               : HEARTHI_HULL_END;
}

uint64_t
hearthi_copies_drop_begin(uint64_t page, uint64_t count)
{
    uint64_t end = page + count, dropped = 0;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(end <= hearthi_heap.pages);
    while (page < end) {
        uint64_t n = 1;

        if (may_go(page)) {
            n = hearthi_hull(page, end, in_drop, &page);
            dropped += hull_drop(page, n);
        }
        page += n;
    }
    return dropped;
}

uint64_t
hearthi_copies_drop(uint64_t page, uint64_t count)
{
    uint64_t n;

    hearthi_copies_reserve(0); /* a hole in a run splits its mapping */
    n = hearthi_copies_drop_begin(page, count);
    if (n > 0)
        hearthi_diff_end();
    return n;
}

/* The ring knows every page that has a frame, in about the order of their
 * addresses where they were fetched so: drop run by run. */
uint64_t
hearthi_copies_drop_all(void)
{
    uint64_t dropped = 0, page = 0;

    for (uint64_t i = 0, n; (n = hearthi_frames_run(i, &page)) > 0; i += n)
        dropped += hearthi_copies_drop_begin(page, n);
    hearthi_diff_end();
    return dropped;
}
