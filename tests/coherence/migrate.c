/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages that move to the node that writes them alone.
 */
#include "migrate.h"

#include <stdlib.h>
#include <string.h>

#include "coherence/migrate_request.h"
#include "page/page.h"

enum { PAGES = 40 };

uint64_t
moves_so_far(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return s.moves;
}

/* Pages on rank 0, of which each rank has every ranks-th. */
static bool
is_mine(int i)
{
    return i % ranks == me;
}

static bool
is_by(const int64_t *p, int i, int r)
{
    int home = hearth_home(word((int64_t *)(uintptr_t)p, i));

    return !apart(home, r);
}

static void
mine_write(int64_t *p, int64_t value)
{
    for (int i = 0; i < PAGES; i++)
        if (is_mine(i))
            *word(p, i) = value + i;
}

static void
all_read(int64_t *p, int64_t value)
{
    for (int i = 0; i < PAGES; i++)
        expect_eq(*word(p, i), value + i);
}

START_TEST(pages_that_a_node_writes_alone_move_there)
{
    int64_t *p = words_on(0, PAGES);

    for (int round = 0; round < 6; round++) {
        barrier();
        mine_write(p, round);
        barrier();
        all_read(p, round);
    }
    for (int i = 0; i < PAGES; i++)
        expect(is_by(p, i, i % ranks));
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(what_moved_is_written_without_twins_and_fetches)
{
    int64_t     *p = words_on(0, PAGES);
    hearth_stats a, b;

    for (int round = 0; round < 8; round++) {
        mine_write(p, round);
        barrier();
    }
    hearth_get_stats(&a);
    for (int round = 0; round < 3; round++) {
        mine_write(p, round);
        barrier();
    }
    hearth_get_stats(&b);
    expect_eq(b.getpages - a.getpages, 0);
    expect_eq(b.twins - a.twins, 0);
    expect_eq(b.write_faults - a.write_faults, 0);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Two words of a page, of which the second is the old home's: what it stores
 * must reach those who have copies, when they were taken before the move, and
 * after. */
START_TEST(what_all_ranks_write_later_is_seen)
{
    int64_t *p = words_on(0, PAGES);
    int      writer = ranks - 1;

    for (int round = 0; round < 12; round++) {
        bool alone = round < 4;

        for (int i = 0; i < PAGES; i++) {
            if (me == writer)
                *word(p, i) = round;
            if (me == 0 && !alone && ranks > 1)
                word(p, i)[1] = round;
        }
        barrier();
        for (int i = 0; i < PAGES; i++) {
            expect_eq(*word(p, i), round);
            expect_eq(word(p, i)[1], alone || ranks == 1 ? 0 : round);
        }
        barrier();
    }
    expect(is_by(p, 0, writer));
    hearth_free(p);
    all_expected();
}
END_TEST

/* By a lock alone, between barriers. */
START_TEST(locks_pass_on_what_is_written_in_moved_pages)
{
    int64_t *p = words_on(0, PAGES);

    for (int round = 0; round < 3; round++) {
        mine_write(p, 0);
        if (ranks == 1)
            *word(p, 0) = 0;
        barrier();
        mine_write(p, 1);
        barrier();
    }
    for (int round = 0; round < 20; round++) {
        hearth_lock(1);
        for (int i = 0; i < PAGES; i++)
            word(p, i)[1]++;
        hearth_unlock(1);
    }
    barrier();
    for (int i = 0; i < PAGES; i++) {
        expect_eq(*word(p, i), 1 + i);
        expect_eq(word(p, i)[1], 20 * ranks);
    }
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(a_page_that_two_nodes_write_in_turn_stays)
{
    int64_t *p = words_on(0, PAGES);

    for (int round = 0; round < 40; round++) {
        for (int i = 0; i < PAGES; i++)
            if (me == (i + round) % ranks)
                word(p, i)[me]++;
        barrier();
    }
    expect_eq(moves_so_far(), 0);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Two intervals each, then four: it moves no more often than it takes to find
 * that out. */
START_TEST(moves_are_damped)
{
    int64_t *p = words_on(0, 1);
    int64_t  moves = 0, all = 0;

    for (int round = 0; round < 128; round++) {
        if (me == (round / 4 % 2 == 0 ? 0 : ranks - 1))
            *p += 1;
        barrier();
    }
    expect_eq(*p, 128);
    moves = (int64_t)moves_so_far();
    MPI_Allreduce(&moves, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect(all <= 2);
    hearth_free(p);
    all_expected();
}
END_TEST

/* In how many barriers in a row a page was written when it is asked for. */
static int
barriers_until_asked(uint64_t page)
{
    static struct hearthi_migrate_requests wishes;
    struct hearthi_pagerun                 run = { page, 1 };
    struct hearthi_pageset                 own = { .run = &run, .n = 1 };
    int                                    n = 1;

    while (!hearthi_migrate_requests_begin(&own))
        if (++n == 1000)
            return 0;
    hearthi_migrate_requests_take(&wishes);
    expect_eq(wishes.n, 1);
    hearthi_migrate_requests_done(page, 1);
    return n;
}

/* What a rank asks for, without barriers: twice as much is needed each time.
 */
START_TEST(a_page_moves_seven_times_and_then_stays)
{
    enum { TURNS = 7 };
    int64_t *p = words_on(0, 1);
    uint64_t page = hearthi_page_of(p);

    if (apart(0, me)) {
        hearthi_table_lock();
        for (int turn = 0; turn < TURNS; turn++)
            expect_eq(barriers_until_asked(page), 2 << turn);
        expect_eq(barriers_until_asked(page), 0);
        hearthi_migrate_requests_forget(page, 1);
        hearthi_table_unlock();
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Frames come and go: what is freed after it moved is zero when it is
 * allocated again, wherever it was. */
START_TEST(what_moved_is_freed_and_zero_again)
{
    for (int round = 0; round < 4; round++) {
        int64_t *p = hearth_alloc(PAGES * page_bytes(), 1, hearth_cyclic(3));

        for (int i = 0; i < PAGES; i++)
            for (size_t k = 0; k < page_bytes() / 8; k++)
                expect_eq(word(p, i)[k], 0);
        barrier();
        for (int k = 0; k < 4; k++) {
            for (int i = 0; i < PAGES; i++)
                if ((i / 5 + round) % ranks == me)
                    memset(word(p, i), 1 + k, page_bytes());
            barrier();
        }
        for (int i = 0; i < PAGES; i++) {
            int64_t want;

            memset(&want, 4, sizeof want);
            for (size_t k = 0; k < page_bytes() / 8; k++)
                expect_eq(word(p, i)[k], want);
        }
        hearth_free(p);
    }
    all_expected();
}
END_TEST

/* One rank writes all; it has room for its share and some. */
START_TEST(what_finds_no_frame_stays_and_is_counted)
{
    int64_t     *p = words_on(0, PAGES);
    int          writer = ranks - 1, near = 0;
    hearth_stats s;

    for (int round = 0; round < 6; round++) {
        if (me == writer)
            for (int i = 0; i < PAGES; i++)
                *word(p, i) = round;
        barrier();
        expect_eq(*word(p, PAGES - 1), round);
        barrier();
    }
    for (int i = 0; i < PAGES; i++)
        near += is_by(p, i, writer);
    hearth_get_stats(&s);
    if (me == writer && apart(0, writer)) {
        expect(near > 0 && near < PAGES);
        expect_eq(s.moves, near);
        expect(s.moves_refused >= (uint64_t)(PAGES - near));
    }
    for (int i = 0; i < PAGES; i++)
        expect_eq(*word(p, i), 5);
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(what_is_held_stays)
{
    int64_t *p = words_on(0, PAGES);

    if (me == 0)
        hearth_hold(word(p, 3), page_bytes(), HEARTH_READ);
    for (int round = 0; round < 6; round++) {
        barrier();
        if (me == ranks - 1)
            for (int i = 3; i < 5; i++)
                *word(p, i) = round;
        barrier();
    }
    expect_eq(hearth_home(word(p, 3)), 0);
    if (me == 0)
        hearth_drop(word(p, 3), page_bytes(), HEARTH_READ);
    barrier();
    expect_eq(*word(p, 3), 5);
    hearth_free(p);
    all_expected();
}
END_TEST

static void
on_start(void)
{
    fixture_start_with("MIGRATE", "on");
}

static void
small_cache_start(void)
{
    setenv("HEARTH_CACHE", bytes_of_pages(16), 1);
    on_start();
    unsetenv("HEARTH_CACHE");
}

static TCase *
tests_of(const char *name, void (*start)(void))
{
    TCase *tc = tcase_create(name);

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, start, fixture_stop);
    tcase_add_test(tc, pages_that_a_node_writes_alone_move_there);
    tcase_add_test(tc, what_moved_is_written_without_twins_and_fetches);
    tcase_add_test(tc, what_all_ranks_write_later_is_seen);
    tcase_add_test(tc, locks_pass_on_what_is_written_in_moved_pages);
    tcase_add_test(tc, a_page_that_two_nodes_write_in_turn_stays);
    tcase_add_test(tc, moves_are_damped);
    tcase_add_test(tc, a_page_moves_seven_times_and_then_stays);
    tcase_add_test(tc, what_moved_is_freed_and_zero_again);
    tcase_add_test(tc, what_finds_no_frame_stays_and_is_counted);
    tcase_add_test(tc, what_is_held_stays);
    return tc;
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("migrate");

    suite_add_tcase(s, tests_of("cache", on_start));
    suite_add_tcase(s, tests_of("small", small_cache_start));
    suite_add_tcase(s, first_touch_tests());
    suite_add_tcase(s, new_tests());
    suite_add_tcase(s, beside_tests(on_start));
    suite_add_tcase(s, seam_tests(on_start));
    return mpi_main(argc, argv, s);
}
