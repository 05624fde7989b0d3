/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "page_in_flight.h"

#include "base/mutex.h"
#include "evict.h"
#include "node/event.h"
#include "page.h"
#include "pin_count.h"
#include "reuse_prefetch.h"

static struct {
    uint32_t             ways;  /* in use: a bit for each */
    uint64_t             pages; /* on them */
    struct hearthi_event here;  /* something is */
} c;

#ifdef HEARTHI_DEBUG
bool
hearthi_in_flight_is_none(void)
{
    return c.ways == 0 && c.pages == 0;
}
#endif

static uint64_t
half(void)
{
    return 2 * hearthi_copies_most();
}

int
hearthi_way_take(uint64_t pages, size_t runs)
{
    int way = 0;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(pages > 0 && runs > 0);
    if (c.pages + pages > half())
        return -1;
    while (way < HEARTHI_WAY_BESIDE && (c.ways >> way & 1))
        way++;
    if (way == HEARTHI_WAY_BESIDE || (way > 0 && runs > 1))
        return -1;
    c.ways |= UINT32_C(1) << way;
    c.pages += pages;
    return way;
}

void
hearthi_way_give(int way, uint64_t pages)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(c.ways >> way & 1);
    HEARTHI_ASSERT(c.pages >= pages);
    c.ways &= ~(UINT32_C(1) << way);
    c.pages -= pages;
    HEARTHI_ASSERT((c.ways == 0) == (c.pages == 0));
    hearthi_event_raise(&c.here);
}

/* A first copy may have been read before its flag could be seen. */
static void
provisional_add(uint64_t page)
{
    hearthi_pagelist_add(&hearthi_provisional, HEARTHI_PROVISIONAL, page);
}

/* No protection changes. */
void
hearthi_in_flight_begin(const struct hearthi_fetch *run)
{
    for (uint64_t p = run->page; p < run->page + run->count; p++) {
        HEARTHI_ASSERT(hearthi_state_of(p) == HEARTHI_INVALID);
        HEARTHI_ASSERT(hearthi_table.mark[p] & HEARTHI_RESIDENT);
        hearthi_touch(p);
        hearthi_states_put(p, 1, HEARTHI_IN_FLIGHT);
        if (hearthi_table.mark[p] & HEARTHI_REGISTERED)
            continue;
        hearthi_table.mark[p] |= HEARTHI_REGISTERED;
        provisional_add(p);
    }
}

void
hearthi_in_flight_end(const struct hearthi_fetch *run)
{
    for (uint64_t p = run->page; p < run->page + run->count; p++) {
        HEARTHI_ASSERT(hearthi_is_in_flight(hearthi_table.state[p]));
        HEARTHI_ASSERT(hearthi_table.mark[p] & HEARTHI_REGISTERED);
        HEARTHI_ASSERT(hearthi_table.mark[p] & HEARTHI_RESIDENT);
        if (hearthi_table.state[p] != HEARTHI_STALE_IN_FLIGHT)
            continue;
        hearthi_states_put(p, 1, HEARTHI_INVALID);
        if (run->announce)
            provisional_add(p);
    }
}

/* What is here is told under the lock, so none is missed.  What no thread
 * waits for yet (reuse_prefetch.h) this thread waits for. */
void
hearthi_in_flight_wait(void)
{
    uint32_t seen = hearthi_event_value(&c.here);

    HEARTHI_ASSERT_HAS(TABLE);
    if (hearthi_reuse_prefetch_finish())
        return;
    hearthi_table_unlock();
    hearthi_event_wait(&c.here, seen, true);
    hearthi_table_lock();
}

void
hearthi_in_flight_raise(void)
{
    hearthi_event_raise(&c.here);
}

/* What was looked at may be fetched again while this thread waits. */
void
hearthi_in_flight_wait_for(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; c.pages > 0 && p < page + count; p++)
        while (hearthi_is_in_flight(hearthi_table.state[p])) {
            hearthi_in_flight_wait();
            p = page;
        }
}

/* Others may pin and unpin pages of these meanwhile. */
void
hearthi_in_flight_make_room(uint64_t page, uint64_t count)
{
    while (c.pages > 0) {
        uint64_t pages = hearthi_pin_count_new(page, count);
        bool     fits;

        hearthi_pin_count.wanted += pages;
        fits = c.pages <= half();
        if (!fits)
            hearthi_in_flight_wait();
        HEARTHI_ASSERT(hearthi_pin_count.wanted >= pages);
        hearthi_pin_count.wanted -= pages;
        if (fits)
            return;
    }
}
