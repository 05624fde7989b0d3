/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "migration_freeze.h"

#include "base/mutex.h"
#include "copies.h"
#include "evict.h"
#include "home_write_guard.h"
#include "page.h"
#include "page_in_flight.h"
#include "pin_count.h"
#include "uffd_pages.h"

static struct {
    uint8_t *was; /* of each page: its state, and 0 if it is not frozen */
    bool     any;
} z;

void
hearthi_migration_freeze_open(void)
{
    z.was = hearthi_sparse(hearthi_heap.pages);
    z.any = false;
}

void
hearthi_migration_freeze_close(void)
{
    hearthi_sparse_free(z.was, hearthi_heap.pages);
}

bool
hearthi_is_frozen(uint64_t page)
{
    return z.any && z.was[page] != 0;
}

static bool
was_home(uint64_t page)
{
    return hearthi_is_home(z.was[page]);
}

bool
hearthi_was_copy(uint64_t page)
{
    return z.was[page] == HEARTHI_CLEAN &&
           hearthi_table.state[page] == HEARTHI_IN_FLIGHT;
}

/* ---- freezing ---- */

static bool
may_freeze(uint64_t page)
{
    return !hearthi_is_in_flight(hearthi_state_of(page)) &&
           !hearthi_is_pinned(page) && !hearthi_is_home_write_guarded(page);
}

/* How far the pages from one on have its state and its home's run. */
static uint64_t
alike(uint64_t page, uint64_t end)
{
    return hearthi_run_length(page, end - page, hearthi_state_of(page));
}

bool
hearthi_migration_freeze(uint64_t page, uint64_t count)
{
    uint64_t end = page + count;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(count > 0 && end <= hearthi_table.top);
    for (uint64_t p = page; p < end; p++)
        if (!may_freeze(p))
            return false;
    hearthi_copies_reserve(0); /* what is frozen splits mappings */
    hearthi_copies_shut_range(page, end);
    for (uint64_t p = page, n; p < end; p += n) {
        uint8_t was = (uint8_t)hearthi_state_of(p);

        HEARTHI_ASSERT(was != HEARTHI_DIRTY && !hearthi_is_in_flight(was));
        n = alike(p, end);
        hearthi_pages_set(p, n, HEARTHI_INVALID);
        for (uint64_t i = p; i < p + n; i++) {
            HEARTHI_ASSERT(z.was[i] == 0);
            z.was[i] = was;
            hearthi_states_put(i, 1, HEARTHI_IN_FLIGHT);
        }
    }
    z.any = true;
    return true;
}

void
hearthi_migration_freeze_note(uint64_t page, uint64_t count)
{
    uint8_t *mark = hearthi_table.mark;

    for (uint64_t p = page; p < page + count; p++)
        if (was_home(p) && (mark[p] & HEARTHI_LISTED))
            mark[p] |= HEARTHI_CHANGED;
}

/* ---- thawing ---- */

/* As it would be if it had only lost its mapping (evict.c). */
static enum hearthi_state
home_state(uint64_t page)
{
    uint8_t mark = hearthi_table.mark[page];

    if (!(mark & HEARTHI_TRACKED))
        return HEARTHI_HOME_OPEN;
    return mark & HEARTHI_LISTED ? HEARTHI_HOME_DIRTY : HEARTHI_HOME_ARMED;
}

static enum hearthi_state
copy_state(uint64_t page)
{
    return hearthi_was_copy(page) ? HEARTHI_CLEAN : HEARTHI_INVALID;
}

enum hearthi_state
hearthi_frozen_state(uint64_t page)
{
    if (!was_home(page))
        return copy_state(page);
    return z.was[page] == HEARTHI_HOME_AWAY ? HEARTHI_HOME_AWAY
                                            : home_state(page);
}

static enum hearthi_state
moved_state(uint64_t page)
{
    bool near = hearthi_is_home(hearthi_page_place_of(page)->state);

    return near ? home_state(page) : copy_state(page);
}

static void
run_thaw(uint64_t page, uint64_t end, enum hearthi_state (*to)(uint64_t))
{
    for (uint64_t n; page < end; page += n) {
        enum hearthi_state state;
        uint64_t           most;

        hearthi_copies_reserve(0); /* frozen pages may be victims */
        state = to(page);
        most = alike(page, end);
        for (n = 1; n < most && to(page + n) == state; n++)
            ;
        /* Not one on its way any more, for what looks at it now. */
        for (uint64_t p = page; p < page + n; p++) {
            HEARTHI_ASSERT(hearthi_is_frozen(p));
            HEARTHI_ASSERT(hearthi_is_in_flight(hearthi_table.state[p]));
            hearthi_states_put(p, 1, HEARTHI_INVALID);
        }
        hearthi_pages_set(page, n, state);
        for (uint64_t p = page; p < page + n; p++)
            z.was[p] = 0;
    }
}

void
hearthi_thaw_stayed(uint64_t page, uint64_t count)
{
    run_thaw(page, page + count, hearthi_frozen_state);
}

/* Its new home is told of it by a flag from the first copy on, or tells of all
 * stores; its old one is as any other rank. */
static void
moved_mark(uint64_t page, bool shared)
{
    uint8_t *mark = &hearthi_table.mark[page];

    *mark &= (uint8_t)~HEARTHI_TRACKED;
    if (!shared)
        *mark &= (uint8_t)~HEARTHI_REGISTERED;
    if (!hearthi_is_home(hearthi_page_place_of(page)->state))
        return;
    *mark &= (uint8_t) ~(HEARTHI_REGISTERED | HEARTHI_WROTE);
    if (shared)
        *mark |= HEARTHI_TRACKED;
}

void
hearthi_thaw_moved(uint64_t page, uint64_t count,
                   bool (*shared)(uint64_t page))
{
    for (uint64_t p = page; p < page + count; p++)
        moved_mark(p, shared(p));
    run_thaw(page, page + count, moved_state);
}

void
hearthi_migration_freeze_end(void)
{
    HEARTHI_ASSERT_HAS(TABLE);
    z.any = false;
    hearthi_in_flight_raise();
}

bool
hearthi_frozen_wait(uint64_t page, uint64_t count)
{
    bool waited = false;

    for (uint64_t p = page; z.any && p < page + count; p++)
        while (hearthi_is_frozen(p)) {
            hearthi_in_flight_wait();
            waited = true;
            p = page;
        }
    return waited;
}
