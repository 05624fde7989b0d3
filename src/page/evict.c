/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "evict.h"

#include "base/min.h"
#include "base/mutex.h"
#include "base/stat.h"
#include "copies.h"
#include "diffs.h"
#include "frames.h"
#include "overwrite.h"
#include "page.h"
#include "pin_count.h"
#include "twins.h"
#include "uffd_pages.h"

/* Runs of at most FEW watched pages go first where mappings are short, then of
 * at most MANY: 28,000 longer ones by themselves would be 14 GiB of pages. */
enum { BATCH = 256, FEW = 8, MANY = 128 };

/* Pages that have no copy but kept their frame show their own place again, and
 * are watched. */
static void
views_restore(const hearthi_page *victim, size_t n)
{
    const struct hearthi_table *t = &hearthi_table;

    for (size_t i = 0; i < n; i++)
        if (t->state[victim[i]] == HEARTHI_INVALID &&
            !hearthi_view_is_own(victim[i]))
            hearthi_pages_set(victim[i], 1, HEARTHI_INVALID);
}

static bool
has_any_frame(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++)
        if (hearthi_table.mark[p] & HEARTHI_RESIDENT)
            return true;
    return false;
}

/* A few watched pages by themselves take mappings as long as they are watched,
 * copies or not. */
static void
few_unwatch(const hearthi_page *victim, size_t n, uint64_t few)
{
    uint64_t first, count;

    for (size_t i = 0; i < n; i++)
        if (hearthi_uffd_pages_are_few(victim[i], few, &first, &count) &&
            !has_any_frame(first, count))
            hearthi_copies_unwatched(first, count);
}

/* Take up to max frames from their pages; `few`: as for
 * hearthi_frames_victims().  In this order: no page's view shows them, what
 * was changed in them has arrived, and only then may they belong to others. No
 * other thread sends from a frame, or receives into one, when this is done:
 * diffs have arrived before the table lock is free again, and pages on their
 * way are no victims. */
static size_t
evict(size_t max, uint64_t few)
{
    hearthi_page victim[BATCH];
    size_t n = hearthi_frames_victims(victim, max < BATCH ? max : BATCH, few);
    uint64_t dropped = 0;

    /* A release that is under way may have gathered bytes of a victim that
     * stays open, and other threads have written them again. */
    hearthi_diff_end();
    for (size_t i = 0, run; i < n; i += run) {
        run = hearthi_pages_in_row(victim, n, i);
        dropped += hearthi_copies_drop_begin(victim[i], run);
    }
    views_restore(victim, n);
    hearthi_diff_end();
    HEARTHI_ASSERT(hearthi_diffs_have_arrived());
    hearthi_frames_give(victim, n);
    if (few > 0)
        few_unwatch(victim, n, few);
    hearthi_count(evictions, dropped);
    return n;
}

/* How far the pages of a run are, from one on, in its state, and pinned or not
 * as it is.  Pinned pages are touched ones. */
static uint64_t
alike(const struct hearthi_page_place *r, uint64_t page)
{
    uint64_t           end = r->page + r->count, p = page + 1;
    enum hearthi_state state = hearthi_state_of(page);
    bool               held = hearthi_is_pinned(page);

    while (p < end) {
        uint64_t next = hearthi_touched_next(p, end);

        if (next > p && (r->state != (uint8_t)state || held))
            break;
        if (next == p &&
            (hearthi_state_of(p) != state || hearthi_is_pinned(p) != held))
            break;
        p = next > p ? next : p + 1;
    }
    return p - page;
}

/* May their mapping be given up? */
static bool
is_mapped_home(uint64_t page)
{
    enum hearthi_state state = hearthi_state_of(page);

    return hearthi_is_home(state) && state != HEARTHI_HOME_AWAY &&
           !hearthi_is_pinned(page);
}

/* Pages that can be looked at as one, from this one on. */
static uint64_t
pages_like(uint64_t page)
{
    struct hearthi_page_place        r = *hearthi_page_place_of(page);
    const struct hearthi_allocation *next;

    if (hearthi_is_home(r.state))
        return alike(&r, page);
    if (r.in != NULL)
        return r.page + r.count - page;
    next = hearthi_page_map_get(hearthi_page_map_before(page));
    return (next == NULL ? hearthi_table.top : next->page) - page;
}

/* Home pages keep their frames; what is given up is the mapping, of runs in
 * the order of their addresses, from behind the last one that was. */
static void
homes_give_up(uint64_t want, uint64_t longest)
{
    static uint64_t hand;
    uint64_t        seen = 0, run;

    for (; want > 0 && seen < hearthi_table.top; seen += run, hand += run) {
        if (hand >= hearthi_table.top)
            hand = 0;
        run = pages_like(hand);
        HEARTHI_ASSERT(run > 0);
        if (run > longest || !is_mapped_home(hand))
            continue;
        hearthi_pages_set(hand, run, HEARTHI_HOME_AWAY);
        want--;
    }
}

/* Short runs first, as long ones are few and each page of one is noted.  But
 * where each short one lies between long ones, only both together help. */
static void
homes_relieve(long goal)
{
    const struct hearthi_table *t = &hearthi_table;
    long                        before;

    for (uint64_t longest = HEARTHI_HOME_RUN; longest < 16 * t->top;
         longest *= 16)
        do {
            before = t->areas;
            if (before <= goal)
                return;
            homes_give_up(BATCH, longest);
        } while (t->areas < before);
}

void
hearthi_home_back(uint64_t page, bool write)
{
    const uint8_t *mark = hearthi_table.mark;
    const uint8_t  which = HEARTHI_TRACKED | HEARTHI_LISTED;
    uint64_t n = hearthi_run_length(page, HEARTHI_HOME_RUN, HEARTHI_HOME_AWAY);

    HEARTHI_ASSERT(hearthi_state_of(page) == HEARTHI_HOME_AWAY);
    for (uint64_t i = 1; i < n; i++)
        if ((mark[page + i] & which) != (mark[page] & which))
            n = i;
    if (!(mark[page] & HEARTHI_TRACKED)) {
        hearthi_pages_set(page, n, HEARTHI_HOME_OPEN);
    } else if (mark[page] & HEARTHI_LISTED) {
        hearthi_pages_set(page, n, HEARTHI_HOME_DIRTY);
    } else if (write) {
        hearthi_list(page);
        hearthi_pages_set(page, 1, HEARTHI_HOME_DIRTY);
    } else {
        hearthi_pages_set(page, n, HEARTHI_HOME_ARMED);
    }
}

/* Copies first: they can be fetched again.  An eighth more than needed goes,
 * so that the next fault finds room.  Where what is left is held, the next
 * fault does not look through all of it again while there are about as many
 * mappings: that the kernel allows no more is said when it does not. */
static void
areas_relieve(void)
{
    struct hearthi_table *t = &hearthi_table;
    long                  goal = t->areas_max - t->areas_max / 8;

    if (t->areas <= t->areas_stuck &&
        t->areas > t->areas_stuck - t->areas_max / 32 - 1)
        return;
    for (uint64_t few = FEW; few <= MANY; few *= MANY / FEW)
        while (t->areas > goal && evict(BATCH, few) > 0)
            ;
    homes_relieve(goal);
    t->areas_stuck = hearthi_areas_short() ? t->areas + t->areas_max / 64 : 0;
}

/* May it be closed before the interval ends? */
static bool
is_open_still(uint64_t page)
{
    return hearthi_state_of(page) == HEARTHI_DIRTY &&
           !hearthi_is_overwritten(page) && !hearthi_is_pinned_open(page) &&
           !hearthi_twin_is_recent(page);
}

/* An open copy can be closed at any time: its diff may go home before the
 * release that has to bring it there (HLRC, Zhou, Iftode and Li, 1996, sends
 * diffs when it has time), the page stays listed, so the interval tells of it,
 * and a store that follows opens it again.  Those that were opened last stay:
 * a store across two pages needs both, and would close each for the other.
 * Where nearly all are held or such, twins are more than HEARTH_CACHE has room
 * for, and the list is not gone through again each time. */
static void
twins_relieve(void)
{
    enum { MOST = 64, FEW_CLOSED = 4 };
    static size_t            hand;
    struct hearthi_pagelist *l = &hearthi_written;
    size_t                   n = 0;

    hearthi_diff_end(); /* as in evict() */
    hearthi_twins_trim();
    if (!hearthi_twins_short(1))
        return;
    for (size_t seen = 0; seen < l->n && n < MOST; seen++, hand++) {
        hand = hand < l->n ? hand : 0;
        if (!is_open_still(l->page[hand]))
            continue;
        hearthi_copies_shut(l->page[hand], 1);
        n++;
    }
    if (n > 0)
        hearthi_diff_end();
    if (n < FEW_CLOSED)
        hearthi_twins_stuck();
}

bool
hearthi_areas_suffice(void)
{
    hearthi_table.areas_stuck = 0;
    hearthi_copies_reserve(0);
    return !hearthi_areas_short();
}

void
hearthi_copies_make_room(uint64_t count)
{
    uint64_t bound = hearthi_frames.bound, n;
    size_t   spare = hearthi_frames_free_to_go() / 16;

    while ((n = hearthi_frames.given) + count > bound) {
        size_t want = (size_t)(n + count - bound);

        if (evict(want + (spare < BATCH / 2 ? spare : BATCH / 2), 0) == 0)
            break; /* what has a frame is held */
    }
    if (hearthi_areas_short())
        areas_relieve();
    if (hearthi_twins_short(1))
        twins_relieve();
}
