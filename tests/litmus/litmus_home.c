/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The same for pages that stay open at their home (policy/sticky_home.h).
 */
#include <mpi.h>

#include "litmus.h"

enum { STEPS = 8, LOCK = 60 };

static void
locked_add(int64_t *at, int64_t n)
{
    hearth_lock(LOCK);
    *at += n;
    hearth_unlock(LOCK);
}

static void
locked_expect(const int64_t *at, int64_t value)
{
    hearth_lock(LOCK);
    expect_eq(*at, value);
    hearth_unlock(LOCK);
}

/* The home alone writes, under the lock; all the others look each time. */
static void
home_writes(int64_t *at, int home, int64_t from, int steps)
{
    for (int k = 1; k <= steps; k++) {
        if (me == home)
            locked_add(at, 1);
        mpi_barrier();
        if (me != home)
            locked_expect(at, from + k);
        mpi_barrier();
    }
}

/* While a page is open, a word of it changes and changes back; in between it
 * is fetched for the sake of another word.  The section that has changed it
 * back is one that has written, though the page is as it was. */
START_TEST(what_is_as_it_was_is_told_of_too)
{
    for (int home = 0; home < ranks; home++) {
        int64_t *p = hearth_alloc(page_bytes(), sizeof *p, hearth_on(home));

        barrier();
        home_writes(p, home, 0, STEPS);
        for (int k = 0; k < rounds_of(2 * STEPS); k++) {
            if (me == home) {
                locked_add(p, 1);
                p[8] = 1; /* only for itself */
            }
            mpi_barrier();
            if (me != home)
                locked_expect(p, STEPS + 1 + k);
            mpi_barrier();
            if (me == home) {
                hearth_lock(LOCK);
                p[8] = 0;
                hearth_unlock(LOCK);
            }
            mpi_barrier();
            if (me != home)
                locked_expect(p + 8, 0);
            mpi_barrier();
        }
        barrier();
        hearth_free(p);
    }
    all_expected();
}
END_TEST

/* Everybody adds under the lock, and the home now and then without it being
 * looked at. */
START_TEST(a_counter_at_home_here_and_there_counts)
{
    int turns = rounds_of(60);

    for (int home = 0; home < ranks; home++) {
        int64_t *p = hearth_alloc(page_bytes(), sizeof *p, hearth_on(home));

        barrier();
        for (int k = 0; k < turns; k++) {
            locked_add(p, 1);
            if (k % 7 == 3)
                dawdle();
            if (k % 20 == 19)
                barrier();
        }
        barrier();
        expect_eq(*p, (int64_t)turns * ranks);
        barrier();
        hearth_free(p);
    }
    all_expected();
}
END_TEST

static uint64_t
faults_of(int64_t *p, int home, int64_t from, int steps)
{
    hearth_stats before, after;

    hearth_get_stats(&before);
    home_writes(p, home, from, steps);
    hearth_get_stats(&after);
    return after.write_faults - before.write_faults;
}

static bool
is_tracked(int home)
{
    for (int r = 0; r < ranks; r++)
        if (apart(r, home))
            return release_consistency();
    return false;
}

/* One fault in sixteen intervals, and the three of which it is learnt. */
START_TEST(a_page_that_its_home_writes_each_time_stays_open)
{
    int many = rounds_of(48), few = many / 16 + 5;

    for (int home = 0; home < ranks; home++) {
        int64_t *p = hearth_alloc(page_bytes(), sizeof *p, hearth_on(home));

        barrier();
        home_writes(p, home, 0, STEPS);
        if (faults_of(p, home, STEPS, many) > (uint64_t)few && me == home)
            expect(!is_tracked(home));
        barrier();
        hearth_free(p);
    }
    all_expected();
}
END_TEST

/* Of a page that is not written any more others are told once. */
START_TEST(a_page_that_is_written_no_more_is_told_of_no_more)
{
    enum { QUIET = 6 };
    hearth_stats before, after;

    for (int home = 0; home < ranks; home++) {
        int64_t *p = hearth_alloc(page_bytes(), sizeof *p, hearth_on(home));

        barrier();
        home_writes(p, home, 0, STEPS);
        for (int k = 0; k < QUIET; k++) {
            if (k == 2)
                hearth_get_stats(&before);
            if (me == home) {
                hearth_lock(LOCK);
                hearth_unlock(LOCK);
            }
            mpi_barrier();
            locked_expect(p, STEPS);
            mpi_barrier();
        }
        hearth_get_stats(&after);
        expect_eq(after.getpages, before.getpages);
        barrier();
        hearth_free(p);
    }
    all_expected();
}
END_TEST

TCase *
litmus_homes(void)
{
    TCase *tc = tcase_create("homes");

    tcase_add_unchecked_fixture(tc, fixture_start_eager, fixture_stop);
    tcase_add_test(tc, what_is_as_it_was_is_told_of_too);
    tcase_add_test(tc, a_counter_at_home_here_and_there_counts);
    tcase_add_test(tc, a_page_that_its_home_writes_each_time_stays_open);
    tcase_add_test(tc, a_page_that_is_written_no_more_is_told_of_no_more);
    return tc;
}
