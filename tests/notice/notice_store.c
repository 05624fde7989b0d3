/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank knows, sentence by sentence.
 */
#include "notice_store.h"

#include <limits.h>
#include <string.h>

static struct hearthi_notice_store known;
static uint64_t                    given[LOCKS];

static struct hearthi_notice out[100];

static struct hearthi_notice
run(uint64_t page, uint32_t writer, uint64_t when)
{
    return (struct hearthi_notice){ page, 1, writer, when };
}

static bool
learn(struct hearthi_notice n, int lock)
{
    return hearthi_notice_store_add(&known, &n, lock);
}

static size_t
give(int lock)
{
    return hearthi_notice_store_since(&known, lock, &given[lock], out, 100);
}

static void
setup(void)
{
    hearthi_notice_store_init(&known, 10, ME);
    memset(given, 0, sizeof given);
}

static void
teardown(void)
{
    hearthi_notice_store_free(&known);
}

START_TEST(a_lock_is_given_each_notice_once)
{
    ck_assert(learn(run(1, ME, 1), -1));
    ck_assert(learn(run(2, 0, 1), 1));
    ck_assert_uint_eq(give(0), 2);
    ck_assert_uint_eq(give(0), 0);
    ck_assert(learn(run(3, ME, 2), -1));
    ck_assert_uint_eq(give(0), 1);
    ck_assert_uint_eq(out[0].page, 3);
}
END_TEST

START_TEST(a_lock_is_not_given_what_came_from_it)
{
    ck_assert(learn(run(1, 0, 1), 2));
    ck_assert(!learn(run(1, 0, 1), 3));
    ck_assert(learn(run(1, ME, 1), -1));
    ck_assert(!learn(run(1, ME, 1), 1));
    ck_assert_uint_eq(give(1), 1);
    ck_assert_uint_eq(give(2), 1);
    ck_assert_uint_eq(give(3), 1);
    ck_assert_uint_eq(give(0), 2);
}
END_TEST

START_TEST(a_later_interval_takes_the_place_of_an_earlier_one)
{
    ck_assert(learn(run(1, 0, 5), 1));
    ck_assert(learn(run(2, 0, 5), 1));
    ck_assert(!learn(run(1, 0, 5), 2));
    ck_assert(!learn(run(1, 0, 4), 2));
    ck_assert_uint_eq(give(0), 2);
    ck_assert(learn(run(1, 0, 6), 2));
    ck_assert_uint_eq(give(0), 1);
    ck_assert_uint_eq(out[0].interval, 6);
    ck_assert_uint_eq(give(3), 2);
    ck_assert_uint_eq(out[0].page, 2);
    ck_assert_uint_eq(out[1].interval, 6);
}
END_TEST

START_TEST(of_too_much_the_nearest_becomes_one)
{
    for (uint64_t p = 0; p < 8; p++)
        ck_assert(learn(run(20 * p, 0, 1), 1));
    ck_assert(learn(run(100, 1, 1), 1));
    ck_assert_uint_eq(give(2), 9);
    ck_assert(learn(run(200, 1, 1), 3));
    ck_assert(learn(run(102, 1, 1), 3));
    ck_assert_uint_eq(give(0), 5);
    ck_assert_uint_eq(out[3].page, 200);
    ck_assert_uint_eq(out[4].page, 100);
    ck_assert_uint_eq(out[4].count, 3);
    /* and of who has a part only that is news which has the other */
    ck_assert_uint_eq(give(2), 2);
    ck_assert_uint_eq(give(1), 2);
    ck_assert_uint_eq(give(3), 4);
}
END_TEST

/* No copy of a page between its parts was dropped for a merged run. */
START_TEST(a_run_that_was_made_is_news_when_it_is_learnt)
{
    for (uint64_t p = 0; p < 10; p++)
        ck_assert(learn(run(100 * p, 0, 2), 1));
    ck_assert(learn(run(2, 0, 2), 1));
    give(0);
    for (size_t i = 0; i < 5; i++) {
        if (out[i].count == 1)
            continue;
        out[i].interval = 1;
        ck_assert(learn(out[i], 3));
        ck_assert(!learn(out[i], 2));
        out[i].interval = 2;
        ck_assert(!learn(out[i], 2));
    }
}
END_TEST

START_TEST(too_many_writers_become_everything_and_each_lock_hears_it_once)
{
    for (uint64_t p = 0; p < 10; p++)
        ck_assert(learn(run(2 * p, (uint32_t)p + 3, 1), 1));
    ck_assert_uint_eq(give(2), 10);
    ck_assert(learn(run(99, 0, 1), 1));
    for (int lock = 0; lock < 3; lock++) {
        ck_assert_uint_eq(give(lock), 1);
        ck_assert_uint_eq(out[0].page, 0);
        ck_assert_uint_eq(out[0].count, HEARTHI_INVALIDATE_ALL);
        ck_assert_uint_eq(out[0].writer, ME);
        ck_assert_uint_eq(give(lock), 0);
    }
    ck_assert(learn(run(0, 0, 1), 1));
    ck_assert_uint_eq(give(2), 1);
}
END_TEST

START_TEST(everything_of_one_origin_and_number_is_learnt_once)
{
    struct hearthi_notice theirs = { 0, HEARTHI_INVALIDATE_ALL, 0, 7 };
    struct hearthi_notice mine = { 0, HEARTHI_INVALIDATE_ALL, ME, 7 };

    ck_assert(learn(theirs, 1));
    ck_assert(!learn(theirs, 2));
    ck_assert(learn(mine, -1));
    ck_assert(learn(mine, -1));
    ck_assert(!learn(theirs, 3));
    ck_assert(!learn(mine, 3));
    ck_assert_uint_eq(give(0), 2);
    ck_assert_uint_eq(out[0].writer, 0);
    ck_assert_uint_eq(out[1].writer, ME);
    ck_assert_uint_eq(out[1].interval, 2);
    theirs.interval++;
    ck_assert(learn(theirs, 1));
    ck_assert_uint_eq(give(0), 1);
}
END_TEST

/* The log said it already; but an older one that it was not given yet, and
 * that the new one stands for as well, must not be lost. */
START_TEST(what_a_log_lost_is_given_to_all_locks_but_that)
{
    ck_assert(learn(run(1, ME, 1), -1));
    ck_assert_uint_eq(give(1), 1);
    hearthi_notice_store_lost(&known, 1, given[1]);
    ck_assert_uint_eq(give(1), 0);
    ck_assert_uint_eq(give(2), 2);
    ck_assert_uint_eq(out[1].count, HEARTHI_INVALIDATE_ALL);
    hearthi_notice_store_lost(&known, 1, given[1]);
    hearthi_notice_store_lost(&known, 3, given[3]);
    ck_assert_uint_eq(give(1), 1);
    ck_assert_uint_eq(give(2), 1);
    ck_assert_uint_eq(give(3), 2);
}
END_TEST

/* More locks than an entry can remember cost repetition, not loss. */
START_TEST(a_notice_seen_in_many_logs_is_given_to_every_other_lock)
{
    enum { MANY = 200 };
    uint64_t all[MANY] = { 0 };

    for (int lock = 0; lock < MANY; lock += 2)
        learn(run(1, 0, 1), lock);
    for (int lock = 1; lock < MANY; lock += 2)
        ck_assert_uint_eq(
            hearthi_notice_store_since(&known, lock, &all[lock], out, 100), 1);
    ck_assert_uint_eq(
        hearthi_notice_store_since(&known, MANY - 2, &all[MANY - 2], out, 100),
        0);
}
END_TEST

/* Also of locks whose numbers are alike in their last 16 bits, or are the last
 * that there can be. */
START_TEST(a_notice_seen_in_one_log_is_given_to_every_other_lock)
{
    static const int lock[] = { 0,       1,       65534,      65535,  65536,
                                65537,   131071,  131072,     131073, 1 << 24,
                                1 << 30, INT_MAX, INT_MAX - 1 };
    enum { N = sizeof lock / sizeof *lock };

    for (size_t i = 0; i < N; i++) {
        learn(run(i, 0, 1), lock[i]);
        for (size_t k = 0; k < N; k++) {
            uint64_t from = hearthi_notice_store_next(&known) - 1;

            ck_assert_uint_eq(
                hearthi_notice_store_since(&known, lock[k], &from, out, 100),
                k != i);
        }
        hearthi_notice_store_clear(&known);
        learn(run(i, 0, 2), -1);
        ck_assert_uint_eq(hearthi_notice_store_since(
                              &known, lock[i], &(uint64_t){ 0 }, out, 100),
                          1);
        hearthi_notice_store_clear(&known);
    }
}
END_TEST

/* Of two that become one what both were seen in is kept, and no other. */
START_TEST(a_merged_run_is_given_to_each_lock_that_has_a_part_only)
{
    enum { FAR = 65536 + 3 };

    for (uint64_t p = 0; p < 11; p++) {
        ck_assert(learn(run(2 * p, 0, 1), FAR));
        if (p < 10)
            learn(run(2 * p, 0, 1), 3);
    }
    ck_assert_uint_eq(
        hearthi_notice_store_since(&known, FAR, &(uint64_t){ 0 }, out, 100),
        0);
    ck_assert_uint_gt(give(3), 0);
}
END_TEST

START_TEST(memory_stays_bounded_however_long_no_barrier_comes)
{
    for (uint64_t i = 0; i < 1000000; i++) {
        learn(run(i % 7, ME, i), -1);
        learn(run(i, (uint32_t)i % WRITERS, i), (int)(i % LOCKS));
        if (known.runs > 10 || known.room > 128)
            ck_abort_msg("%zu runs, room for %zu", known.runs, known.room);
    }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("notice_store");
    TCase *tc = tcase_create("notice_store");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    known_against_a_list(tc);
    known_when_merged(tc);
    tcase_add_test(tc, a_lock_is_given_each_notice_once);
    tcase_add_test(tc, a_lock_is_not_given_what_came_from_it);
    tcase_add_test(tc, a_later_interval_takes_the_place_of_an_earlier_one);
    tcase_add_test(tc, of_too_much_the_nearest_becomes_one);
    tcase_add_test(tc, a_run_that_was_made_is_news_when_it_is_learnt);
    tcase_add_test(
        tc, too_many_writers_become_everything_and_each_lock_hears_it_once);
    tcase_add_test(tc, everything_of_one_origin_and_number_is_learnt_once);
    tcase_add_test(tc, what_a_log_lost_is_given_to_all_locks_but_that);
    tcase_add_test(tc,
                   a_notice_seen_in_many_logs_is_given_to_every_other_lock);
    tcase_add_test(tc, a_notice_seen_in_one_log_is_given_to_every_other_lock);
    tcase_add_test(tc,
                   a_merged_run_is_given_to_each_lock_that_has_a_part_only);
    tcase_add_test(tc, memory_stays_bounded_however_long_no_barrier_comes);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
