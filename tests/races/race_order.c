/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Vector times of intervals, and stores that nothing orders.
 */
#include "races/race_order.h"

#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "harness.h"
#include "races/race_compare.h"

enum { RANKS = 3, EVENTS = 400, OBJECTS = 4 };

static struct hearthi_race_event event[RANKS][EVENTS];
static struct hearthi_race_log   rank_log[RANKS];

static void
logs_begin(void)
{
    for (int r = 0; r < RANKS; r++)
        rank_log[r] = (struct hearthi_race_log){ event[r], 0 };
}

/* The interval that ends. */
static uint32_t
add(int rank, enum hearthi_race_kind kind, uint32_t object, uint64_t number)
{
    event[rank][rank_log[rank].events] = (struct hearthi_race_event){
        .kind = (uint16_t)kind, .object = object, .number = number
    };
    return (uint32_t)rank_log[rank].events++;
}

START_TEST(a_chain_of_locks_orders_and_what_is_behind_it_does_not)
{
    struct hearthi_race_order o;
    uint32_t                  first, middle, last;

    logs_begin();
    add(0, HEARTHI_RACE_LOCK, 1, 0);
    first = add(0, HEARTHI_RACE_UNLOCK, 1, 1);
    add(1, HEARTHI_RACE_LOCK, 1, 1);
    middle = add(1, HEARTHI_RACE_UNLOCK, 1, 2);
    add(1, HEARTHI_RACE_LOCK, 2, 7); /* 7 came before the last barrier */
    add(1, HEARTHI_RACE_UNLOCK, 2, 8);
    add(2, HEARTHI_RACE_LOCK, 2, 8);
    last = add(2, HEARTHI_RACE_UNLOCK, 2, 9);
    ck_assert(hearthi_race_order_make(&o, rank_log, RANKS));
    ck_assert(hearthi_race_is_before(&o, 0, first, 1, middle));
    ck_assert(hearthi_race_is_before(&o, 0, first, 2, last));
    ck_assert(!hearthi_race_is_before(&o, 0, first + 1, 2, last));
    ck_assert(!hearthi_race_is_before(&o, 2, last, 0, first));
    ck_assert(!hearthi_race_is_before(&o, 0, first, 2, 0));
    hearthi_race_order_free(&o);
}
END_TEST

START_TEST(an_acquire_comes_after_all_releases_up_to_its_number)
{
    struct hearthi_race_order o;

    logs_begin();
    add(0, HEARTHI_RACE_RELEASE, 5, 1);
    add(1, HEARTHI_RACE_RELEASE, 5, 2);
    add(0, HEARTHI_RACE_RELEASE, 5, 3);
    add(2, HEARTHI_RACE_ACQUIRE, 5, 2);
    ck_assert(hearthi_race_order_make(&o, rank_log, RANKS));
    ck_assert(hearthi_race_is_before(&o, 0, 0, 2, 1));
    ck_assert(hearthi_race_is_before(&o, 1, 0, 2, 1));
    ck_assert(!hearthi_race_is_before(&o, 0, 1, 2, 1));
    ck_assert(!hearthi_race_is_before(&o, 0, 0, 2, 0));
    hearthi_race_order_free(&o);
}
END_TEST

START_TEST(acquires_that_wait_for_each_other_have_no_order)
{
    struct hearthi_race_order o;

    logs_begin();
    add(0, HEARTHI_RACE_FLAG_WAIT, 1, 1);
    add(0, HEARTHI_RACE_FLAG_SET, 2, 1);
    add(1, HEARTHI_RACE_FLAG_WAIT, 2, 1);
    add(1, HEARTHI_RACE_FLAG_SET, 1, 1);
    ck_assert(!hearthi_race_order_make(&o, rank_log, RANKS));
    hearthi_race_order_free(&o);
}
END_TEST

/* What each rank knows, kept as the run goes on: the plain way. */
static uint32_t known[RANKS][RANKS], given[OBJECTS][EVENTS][RANKS];
static uint64_t releases[OBJECTS];
static uint32_t begun[RANKS][EVENTS + 1][RANKS];

static void
join(uint32_t *to, const uint32_t *from)
{
    for (int r = 0; r < RANKS; r++)
        to[r] = to[r] > from[r] ? to[r] : from[r];
}

static void
step(int rank, uint32_t object, bool release)
{
    known[rank][rank]++;
    if (release) {
        uint64_t n = ++releases[object];

        memcpy(given[object][n], known[rank], sizeof known[rank]);
        add(rank, HEARTHI_RACE_FLAG_SET, object, n);
    } else {
        for (uint64_t n = 1; n <= releases[object]; n++)
            join(known[rank], given[object][n]);
        add(rank, HEARTHI_RACE_FLAG_WAIT, object, releases[object]);
    }
    memcpy(begun[rank][rank_log[rank].events], known[rank],
           sizeof known[rank]);
}

START_TEST(random_runs_have_the_times_that_each_step_gives)
{
    uint64_t state = 7;

    for (int turn = 0; turn < 20; turn++) {
        struct hearthi_race_order o;

        logs_begin();
        memset(known, 0, sizeof known);
        memset(begun, 0, sizeof begun);
        memset(releases, 0, sizeof releases);
        for (int i = 0; i < EVENTS - 1; i++) {
            uint64_t x = hearthi_random(&state) >> 8;

            step((int)(x % RANKS), (uint32_t)(x / RANKS % OBJECTS),
                 x / 64 % 2 != 0);
        }
        ck_assert(hearthi_race_order_make(&o, rank_log, RANKS));
        for (int r = 0; r < RANKS; r++)
            for (size_t i = 0; i <= rank_log[r].events; i++)
                ck_assert_mem_eq(o.time[r] + i * RANKS, begun[r][i],
                                 sizeof begun[r][i]);
        hearthi_race_order_free(&o);
    }
}
END_TEST

/* ---- stores ---- */

enum { SHIFT = 12, PAGE = 9 };

struct record {
    struct hearthi_race_stores s;
    uint64_t                   mask;
    uint32_t                   block, pad;
    uint64_t                   word[8];
};

static struct hearthi_race_pair last;
static int                      pairs;
static unsigned                 unit;

static unsigned
unit_of(uint64_t page)
{
    ck_assert_uint_eq(page, PAGE);
    return unit;
}

static void
found(const struct hearthi_race_pair *p, void *arg)
{
    (void)arg;
    last = *p;
    pairs++;
}

/* A byte of one word of the page's block 2. */
static struct record
stored(uint32_t interval, unsigned byte, uint64_t value)
{
    return (struct record){
        .s = { .page = PAGE, .interval = interval, .blocks = 1, .words = 1 },
        .mask = UINT64_C(1) << byte,
        .block = 2,
        .word = { value },
    };
}

static void
two_compare(const struct record *a, const struct record *b,
            const struct hearthi_race_renewed *renewed)
{
    struct hearthi_race_part part[RANKS] = { { .log = rank_log[0] },
                                             { .log = rank_log[1] },
                                             { .log = rank_log[2] } };

    part[0].stores = (const char *)a;
    part[0].bytes = hearthi_race_stores_bytes(&a->s);
    part[1].stores = (const char *)b;
    part[1].bytes = hearthi_race_stores_bytes(&b->s);
    part[2].renewed = renewed;
    part[2].renewals = renewed != NULL;
    pairs = 0;
    ck_assert(hearthi_races_compare(&(struct hearthi_race_comparison){
        .ranks = RANKS,
        .part = part,
        .shift = SHIFT,
        .unit_of = unit_of,
        .found = found,
    }));
}

START_TEST(stores_to_one_byte_race_and_those_beside_each_other_do_not)
{
    struct record a = stored(0, 13, 111), b = stored(0, 13, 222);

    logs_begin();
    unit = 1;
    two_compare(&a, &b, NULL);
    ck_assert_int_eq(pairs, 1);
    ck_assert_uint_eq(last.at, (PAGE << SHIFT) + 2 * 64 + 13);
    ck_assert_uint_eq(last.word[0], 111);
    ck_assert_uint_eq(last.word[1], 222);
    ck_assert(!last.apart);
    b.mask = UINT64_C(1) << 14;
    two_compare(&a, &b, NULL);
    ck_assert_int_eq(pairs, 0);
    unit = 4; /* bytes 12 to 15 are one */
    two_compare(&a, &b, NULL);
    ck_assert_int_eq(pairs, 1);
    ck_assert(last.apart);
    b.mask = UINT64_C(1) << 16;
    two_compare(&a, &b, NULL);
    ck_assert_int_eq(pairs, 0);
    b.block = 3;
    b.mask = a.mask;
    two_compare(&a, &b, NULL);
    ck_assert_int_eq(pairs, 0);
}
END_TEST

START_TEST(stores_that_a_flag_orders_do_not_race)
{
    struct record a = stored(0, 13, 1), b = stored(1, 13, 2);

    logs_begin();
    unit = 1;
    add(0, HEARTHI_RACE_FLAG_SET, 1, 1);
    add(1, HEARTHI_RACE_FLAG_WAIT, 1, 1);
    two_compare(&a, &b, NULL);
    ck_assert_int_eq(pairs, 0);
    a.s.interval = 1;
    two_compare(&a, &b, NULL);
    ck_assert_int_eq(pairs, 1);
}
END_TEST

START_TEST(memory_that_was_given_out_counts_from_then_on)
{
    struct record               a = stored(0, 13, 1), b = stored(0, 13, 2);
    struct hearthi_race_renewed renewed = { (PAGE << SHIFT) + 2 * 64, 16, 0 };

    logs_begin();
    unit = 1;
    two_compare(&a, &b, &renewed);
    ck_assert_int_eq(pairs, 0);
    add(2, HEARTHI_RACE_FLAG_SET, 1, 1);
    add(0, HEARTHI_RACE_FLAG_WAIT, 1, 1);
    a.s.interval = 1;
    two_compare(&a, &b, &renewed);
    ck_assert_int_eq(pairs, 0);
    add(1, HEARTHI_RACE_FLAG_WAIT, 1, 1);
    b.s.interval = 1;
    two_compare(&a, &b, &renewed);
    ck_assert_int_eq(pairs, 1);
    b.s.interval = 0;
    renewed.bytes = 13; /* and not the byte behind it */
    two_compare(&a, &b, &renewed);
    ck_assert_int_eq(pairs, 1);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("race_order");
    TCase *tc = tcase_create("race_order");

    tcase_add_test(tc, a_chain_of_locks_orders_and_what_is_behind_it_does_not);
    tcase_add_test(tc, an_acquire_comes_after_all_releases_up_to_its_number);
    tcase_add_test(tc, acquires_that_wait_for_each_other_have_no_order);
    tcase_add_test(tc, random_runs_have_the_times_that_each_step_gives);
    tcase_add_test(tc,
                   stores_to_one_byte_race_and_those_beside_each_other_do_not);
    tcase_add_test(tc, stores_that_a_flag_orders_do_not_race);
    tcase_add_test(tc, memory_that_was_given_out_counts_from_then_on);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
