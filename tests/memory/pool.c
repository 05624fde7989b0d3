/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Free runs of frames against a bitmap.
 */
#include <string.h>

#include "harness.h"
#include "property.h"
#include "space/pool.h"

enum { NUMBERS = 600, CASES = 2000 };

static bool                is_free[NUMBERS];
static struct hearthi_pool pool;

static uint64_t
naive_left(void)
{
    uint64_t n = 0;

    for (size_t i = 0; i < NUMBERS; i++)
        n += is_free[i];
    return n;
}

static uint64_t
naive_longest(void)
{
    uint64_t longest = 0, n = 0;

    for (size_t i = 0; i < NUMBERS; i++) {
        n = is_free[i] ? n + 1 : 0;
        longest = n > longest ? n : longest;
    }
    return longest;
}

/* So long that its class is the next one below that of `longest`, or more. */
static uint64_t
least_for(uint64_t count, uint64_t longest)
{
    uint64_t power = longest > 0;

    while (power > 0 && 2 * power <= longest)
        power *= 2;
    return count < power ? count : power;
}

/* Take what is free, as much as was asked for where that is sure to be
 * found. */
static void
take(int i, uint64_t count)
{
    uint64_t longest = naive_longest(), first = 0, got;

    got = hearthi_pool_take(&pool, count, &first);
    if (got > count || got > longest || got < least_for(count, longest))
        ck_abort_msg("case %d: %d of %d, longest %d", i, (int)got, (int)count,
                     (int)longest);
    for (uint64_t k = first; k < first + got; k++) {
        if (k >= NUMBERS || !is_free[k])
            ck_abort_msg("case %d: %d was not free", i, (int)k);
        is_free[k] = false;
    }
}

/* Give a part of what is in use around `at`. */
static void
give(uint64_t at, uint64_t most)
{
    uint64_t n = 0;

    while (at + n < NUMBERS && n < most && !is_free[at + n])
        n++;
    if (n == 0)
        return;
    memset(is_free + at, true, n);
    hearthi_pool_give(&pool, at, n);
}

static void
start(void)
{
    memset(is_free, false, sizeof is_free);
    hearthi_pool_open(&pool, NUMBERS);
}

START_TEST(what_is_taken_was_free_and_comes_in_long_runs)
{
    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i), most = 1 + below(&s, 40);
        uint64_t taking = 1 + below(&s, 4);

        start();
        for (size_t k = below(&s, 400); k > 0; k--) {
            if (below(&s, 5) < taking)
                take(i, 1 + below(&s, most));
            else
                give(below(&s, NUMBERS), 1 + below(&s, most));
            if (pool.left != naive_left())
                ck_abort_msg("case %d: %d left", i, (int)pool.left);
        }
        while (pool.left > 0)
            take(i, 1 + below(&s, most));
        ck_assert_uint_eq(naive_left(), 0);
        hearthi_pool_close(&pool);
    }
}
END_TEST

/* Frames come back one by one, in any order. */
START_TEST(neighbours_grow_together_to_one_run)
{
    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i), first = 1, factor = 1 + below(&s, 300);

        start();
        while (NUMBERS % factor == 0 || factor % 2 == 0 || factor % 3 == 0 ||
               factor % 5 == 0)
            factor++;
        for (uint64_t k = 0; k < NUMBERS; k++)
            give(k * factor % NUMBERS, 1);
        if (hearthi_pool_take(&pool, NUMBERS, &first) != NUMBERS)
            ck_abort_msg("case %d, steps of %d", i, (int)factor);
        ck_assert_uint_eq(first, 0);
        ck_assert_uint_eq(hearthi_pool_take(&pool, 1, &first), 0);
        hearthi_pool_close(&pool);
    }
}
END_TEST

START_TEST(a_new_pool_has_nothing)
{
    uint64_t first = 7;

    start();
    ck_assert_uint_eq(pool.left, 0);
    ck_assert_uint_eq(hearthi_pool_take(&pool, 1, &first), 0);
    hearthi_pool_close(&pool);
    ck_assert_ptr_eq(pool.length, NULL);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("pool");
    TCase *tc = tcase_create("pool");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, what_is_taken_was_free_and_comes_in_long_runs);
    tcase_add_test(tc, neighbours_grow_together_to_one_run);
    tcase_add_test(tc, a_new_pool_has_nothing);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
