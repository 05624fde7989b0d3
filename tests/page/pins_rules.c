/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What stays with a held page, rule by rule: each of these fails where one
 * place in the library does not pass held pages by.
 */
#include "pins.h"

#include <stdlib.h>
#include <string.h>

#include "page/evict.h"
#include "page/page.h"

enum { FEW = 6, MANY = 48 };

static unsigned
state_of(const void *p)
{
    unsigned state;

    hearthi_table_lock();
    state = hearthi_state_of(hearthi_page_of(p));
    hearthi_table_unlock();
    return state;
}

/* Somewhere in the page, but in no rank's part. */
static unsigned char *
spot(unsigned char *p, size_t page)
{
    return part(p, page, ranks);
}

/* Pages with a home on the rank before this one: where nodes have one rank,
 * all of them are copies.  All of them are for this rank alone. */
static unsigned char *
copies_new(size_t pages)
{
    unsigned char *mine = NULL;

    for (int r = 0; r < ranks; r++) {
        unsigned char *p = hearth_alloc(pages * page_bytes(), 1,
                                        hearth_on((r + ranks - 1) % ranks));

        if (r == me)
            mine = p;
    }
    return mine;
}

START_TEST(a_held_range_is_present_and_costs_nothing_the_second_time)
{
    unsigned char *p = bytes_new(FEW);
    size_t         n = FEW * page_bytes();
    hearth_stats   a, b;
    uint64_t       before;

    for (int how = HEARTH_READ; how <= (HEARTH_READ | HEARTH_WRITE); how++) {
        hearth_hold(p, n, how);
        expect(device_finds(p, 0, n));
        expect(how == HEARTH_READ || device_sets(p, 0, n));
        a = counted();
        before = messages_begun();
        hearth_hold(p + 1, n - 2, how);
        expect_eq(messages_begun(), before);
        b = counted();
        expect_eq(b.fetches, a.fetches);
        expect_eq(b.twins, a.twins);
        expect_eq(b.holds, a.holds + 1);
        expect_eq(b.read_faults + b.write_faults,
                  a.read_faults + a.write_faults);
        hearth_drop(p + 1, n - 2, how);
        hearth_drop(p, n, how);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(holds_nest_and_overlap)
{
    unsigned char *p = copies_new(3);
    size_t         size = page_bytes();

    hearth_hold(p, 2 * size, HEARTH_WRITE);
    hearth_hold(p + size, 2 * size, HEARTH_WRITE);
    hearth_hold(p + size, 1, HEARTH_READ);
    hearth_drop(p, 2 * size, HEARTH_WRITE);
    hearth_lock(100 + me);
    hearth_unlock(100 + me);
    expect(device_sets(p + size, 1, 2 * size));
    hearth_drop(p + size, 2 * size, HEARTH_WRITE);
    hearth_lock(100 + me);
    hearth_unlock(100 + me);
    barrier();
    expect(device_finds(p + size, 1, size)); /* held for reading still */
    hearth_drop(p + size, 1, HEARTH_READ);
    expect_eq(p[2 * size], 1);
    all_expected();
}
END_TEST

START_TEST(a_page_that_was_dropped_is_as_any_other)
{
    unsigned char *p = bytes_new(FEW);

    for (size_t i = 0; i < FEW; i++) /* all are shared */
        expect_eq(*spot(p, i), 0);
    barrier();
    hearth_hold(p, FEW * page_bytes(), HEARTH_WRITE);
    barrier();
    for (size_t i = 0; i < FEW; i++)
        expect(device_sets(part(p, i, me), 3, 1));
    hearth_drop(p, FEW * page_bytes(), HEARTH_WRITE);
    hearth_lock(100 + me);
    hearth_unlock(100 + me); /* a release */
    for (size_t i = 0; i < FEW; i++) {
        expect(state_of(spot(p, i)) != HEARTHI_DIRTY);
        expect(state_of(spot(p, i)) != HEARTHI_HOME_DIRTY);
    }
    barrier();
    for (size_t i = 0; i < FEW; i++)
        for (int r = 0; r < ranks; r++)
            expect_eq(*part(p, i, r), 3);
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- releases ---- */

START_TEST(a_write_held_page_is_open_after_every_release)
{
    unsigned char *p = bytes_new(FEW);

    hearth_hold(p, FEW * page_bytes(), HEARTH_WRITE);
    for (int k = 0; k < 4; k++) { /* nothing is written */
        hearth_lock(100 + me);
        hearth_unlock(100 + me);
        barrier();
        for (size_t i = 0; i < FEW; i++)
            expect(device_sets(part(p, i, me), k, PART));
    }
    barrier();
    hearth_drop(p, FEW * page_bytes(), HEARTH_WRITE);
    hearth_free(p);
    all_expected();
}
END_TEST

/* A home page that nobody else has had is fetched while it is held: from then
 * on each release must tell of what nobody here can see. */
START_TEST(a_held_home_page_stays_open_when_others_fetch_it)
{
    for (int home = 0; home < ranks; home++) {
        unsigned char *p =
            hearth_alloc(FEW * page_bytes(), 1, hearth_on(home));
        size_t n = FEW * page_bytes();

        if (me == home)
            hearth_hold(p, n, HEARTH_WRITE);
        for (int k = 1; k < 6; k++) {
            if (me == home)
                expect(device_sets(p, k, n));
            barrier();
            for (size_t i = 0; i < n; i += 512)
                expect_eq(p[i], k);
            barrier();
        }
        if (me == home)
            hearth_drop(p, n, HEARTH_WRITE);
        hearth_free(p);
    }
    all_expected();
}
END_TEST

/* A long sequence of stores sends home, and closes, what it leaves behind. */
START_TEST(a_long_write_sequence_leaves_held_pages_open)
{
    enum { LONG = 1024, FIRST = 512, LAST = 1000 };
    unsigned char *p = copies_new(LONG);
    size_t         size = page_bytes();

    for (size_t i = 0; i < LONG; i++)
        p[i * size] = 1;
    barrier();
    for (size_t i = 0; i < LONG; i++) {
        p[i * size] = 2;
        if (i >= FIRST && i < LAST)
            hearth_hold(p + i * size, size, HEARTH_WRITE);
    }
    expect(device_sets(p + FIRST * size, 3, (LAST - FIRST) * size));
    for (size_t i = FIRST; i < LAST; i++)
        hearth_drop(p + i * size, size, HEARTH_WRITE);
    all_expected();
}
END_TEST

/* ---- room ---- */

/* HEARTH_CACHE of 16 pages, of which 8 may be held. */
START_TEST(held_copies_stay_while_others_are_evicted)
{
    unsigned char *held = copies_new(8), *p = bytes_new(MANY);
    size_t         size = page_bytes();

    hearth_hold(held, 8 * size, HEARTH_WRITE);
    for (int round = 1; round < 5; round++) {
        expect(device_sets(held, round, 8 * size));
        for (size_t i = 0; i < MANY; i++)
            *part(p, (i * 7) % MANY, me) = (unsigned char)round;
        expect(device_finds(held, round, 8 * size));
        barrier();
        for (size_t i = 0; i < MANY; i++)
            for (int r = 0; r < ranks; r++)
                expect_eq(*part(p, i, r), round);
        expect(device_finds(held, round, 8 * size));
        hearth_prefetch(p, MANY * size);
        barrier();
    }
    hearth_drop(held, 8 * size, HEARTH_WRITE);
    hearth_free(p);
    all_expected();
}
END_TEST

/* A fetch brings a quarter of what may go. */
START_TEST(a_range_that_fills_the_cache_is_held_whole)
{
    unsigned char *p = copies_new(8), *q = copies_new(16);
    size_t         size = page_bytes();

    for (size_t i = 0; i < 16; i++)
        q[i * size] = 1;
    hearth_hold(p, 8 * size, HEARTH_READ);
    expect(device_finds(p, 0, 8 * size));
    for (size_t i = 0; i < 16; i++)
        expect_eq(q[i * size], 1);
    hearth_hold(p, 8 * size, HEARTH_WRITE); /* not one more copy */
    expect(device_sets(p, 5, 8 * size));
    hearth_drop(p, 8 * size, HEARTH_READ);
    hearth_drop(p, 8 * size, HEARTH_WRITE);
    hearth_hold(q + 8 * size, 8 * size, HEARTH_READ);
    hearth_drop(q + 8 * size, 8 * size, HEARTH_READ);
    all_expected();
}
END_TEST

/* As if the kernel had no mapping left: mappings of home pages go. */
START_TEST(a_held_home_page_keeps_its_mapping)
{
    unsigned char *p = bytes_new(MANY);
    size_t         size = page_bytes();
    long           most = hearthi_table.areas_max;

    barrier();
    hearth_hold(p, FEW * size, HEARTH_WRITE);
    hearthi_table_lock();
    hearthi_table.areas_max = 0;
    hearthi_copies_reserve(0);
    hearthi_table.areas_max = most;
    hearthi_table_unlock();
    expect(device_sets(p, 0, FEW * size));
    hearth_hold(p, MANY * size, HEARTH_READ); /* brings the others back */
    expect(device_finds(p, 0, MANY * size));
    hearth_drop(p, MANY * size, HEARTH_READ);
    hearth_drop(p, FEW * size, HEARTH_WRITE);
    hearth_free(p);
    all_expected();
}
END_TEST

static void
start_small(void)
{
    fixture_start_with("CACHE", bytes_of_pages(16));
}

void
holds_rules(Suite *s)
{
    TCase *tc = tcase_create("rules"), *small = tcase_create("small cache");

    tcase_add_unchecked_fixture(tc, fixture_start_eager, fixture_stop);
    tcase_add_test(tc,
                   a_held_range_is_present_and_costs_nothing_the_second_time);
    tcase_add_test(tc, holds_nest_and_overlap);
    tcase_add_test(tc, a_page_that_was_dropped_is_as_any_other);
    tcase_add_test(tc, a_write_held_page_is_open_after_every_release);
    tcase_add_test(tc, a_held_home_page_stays_open_when_others_fetch_it);
    tcase_add_test(tc, a_long_write_sequence_leaves_held_pages_open);
    tcase_add_test(tc, a_held_home_page_keeps_its_mapping);
    suite_add_tcase(s, tc);
    tcase_add_unchecked_fixture(small, start_small, fixture_stop);
    tcase_add_test(small, held_copies_stay_while_others_are_evicted);
    tcase_add_test(small, a_range_that_fills_the_cache_is_held_whole);
    suite_add_tcase(s, small);
}
