/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where time went, as parts of a whole, and the lines in a terminal.
 */
#include "report/shares.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/hash.h"
#include "harness.h"
#include "report/terminal.h"

static unsigned
sum_of(const unsigned *permille)
{
    unsigned sum = 0;

    for (int i = 0; i < HEARTHI_SHARES; i++)
        sum += permille[i];
    return sum;
}

START_TEST(tenths_of_a_percent_add_up_to_1000_whatever_the_parts)
{
    uint64_t state = 1;

    for (int turn = 0; turn < 1000; turn++) {
        struct hearthi_shares s;
        unsigned              permille[HEARTHI_SHARES];

        for (int i = 0; i < HEARTHI_SHARES; i++)
            s.ns[i] = hearthi_random(&state) >> (turn % 60 + 4);
        s.ns[0]++;
        hearthi_shares_permille(&s, permille);
        ck_assert_uint_eq(sum_of(permille), 1000);
    }
}
END_TEST

START_TEST(of_no_time_there_are_no_parts)
{
    struct hearthi_shares s = { { 0 } };
    unsigned              permille[HEARTHI_SHARES];

    hearthi_shares_permille(&s, permille);
    ck_assert_uint_eq(sum_of(permille), 0);
}
END_TEST

START_TEST(each_nanosecond_is_in_one_part)
{
    const hearth_stats    s = { .fault_ns = 100,
                                .write_fault_ns = 30,
                                .lock_ns = 200,
                                .barrier_ns = 300,
                                .barrier_wait_ns = 250,
                                .diff_ns = 70,
                                .predict_ns = 20,
                                .service_ns = 50 };
    struct hearthi_shares p = hearthi_shares_of(&s, 1000, 2);
    uint64_t              sum = 0;

    for (int i = 0; i < HEARTHI_SHARES; i++)
        sum += p.ns[i];
    ck_assert_uint_eq(sum, 1000);
    ck_assert_uint_eq(p.ns[HEARTHI_SHARE_COMPUTING], 350);
    ck_assert_uint_eq(p.ns[HEARTHI_SHARE_READ_FAULTS], 70);
    ck_assert_uint_eq(p.ns[HEARTHI_SHARE_WRITE_FAULTS], 30);
    ck_assert_uint_eq(p.ns[HEARTHI_SHARE_BARRIERS], 250);
    /* Of 90 of diffs and fetches 50 were in barriers, 40 in locks. */
    ck_assert_uint_eq(p.ns[HEARTHI_SHARE_LOCKS], 160);
    ck_assert_uint_eq(p.ns[HEARTHI_SHARE_AHEAD], 20);
    ck_assert_uint_eq(p.ns[HEARTHI_SHARE_DIFFS], 70);
}
END_TEST

START_TEST(on_one_node_a_barrier_is_waiting)
{
    const hearth_stats    s = { .barrier_ns = 300 };
    struct hearthi_shares p = hearthi_shares_of(&s, 400, 1);

    ck_assert_uint_eq(p.ns[HEARTHI_SHARE_BARRIERS], 300);
    ck_assert_uint_eq(p.ns[HEARTHI_SHARE_COMPUTING], 100);
}
END_TEST

/* ---- the terminal ---- */

enum { KINDS = 12 };

static const char *
kind(unsigned i)
{
    static const char *const name[KINDS] = { "A", "B", "C", "D", "E", "F",
                                             "G", "H", "I", "J", "K", "L" };

    return i < KINDS ? name[i] : NULL;
}

static const char *
none(unsigned i)
{
    (void)i;
    return NULL;
}

static char *
printed(const struct hearthi_terminal *t)
{
    static char text[32768];
    FILE       *out = fmemopen(text, sizeof text, "w");

    ck_assert_ptr_ne(out, NULL);
    hearthi_terminal_print(out, t);
    fclose(out);
    return text;
}

START_TEST(there_are_at_most_40_lines_that_begin_with_hearth)
{
    static struct hearthi_tally sum;
    struct hearthi_advice       advice[HEARTHI_ADVICES];
    struct hearthi_terminal     t = { .sum = &sum,
                                      .elapsed_ns = 12345000000,
                                      .whole_ns = 49000000000,
                                      .ranks = 4,
                                      .nodes = 2,
                                      .transport = "udp",
                                      .message = kind,
                                      .refusal = none,
                                      .advice = advice,
                                      .advices = HEARTHI_ADVICES,
                                      .no_lines = "no lines" };
    int                         lines = 0;

    for (int i = 0; i < HEARTHI_STAT_COUNT; i++)
        ((uint64_t *)(void *)&sum.counter)[i] = 1000000007;
    for (int i = 0; i < KINDS; i++)
        sum.sent[i] = 5;
    for (int i = 0; i < HEARTHI_ADVICES; i++) {
        advice[i] = (struct hearthi_advice){ .rule = "rule" };
        memset(advice[i].what, 'x', 200);
        memset(advice[i].remedy, 'y', 200);
        advice[i].what[40] = ' ';
    }
    for (char *line = strtok(printed(&t), "\n"); line != NULL;
         line = strtok(NULL, "\n"), lines++)
        ck_assert_int_eq(strncmp(line, "hearth: ", 8), 0);
    ck_assert_int_le(lines, HEARTHI_TERMINAL_LINES);
}
END_TEST

START_TEST(elapsed_time_stands_first_and_counters_of_0_are_left_out)
{
    static struct hearthi_tally sum;
    struct hearthi_terminal     t = { .sum = &sum,
                                      .elapsed_ns = 12345000000,
                                      .whole_ns = 24690000000,
                                      .ranks = 2,
                                      .nodes = 2,
                                      .transport = "mpi",
                                      .message = none,
                                      .refusal = none,
                                      .advice = &(struct hearthi_advice){ 0 } };
    const char                 *text;

    sum.counter.getpages = 123456789;
    sum.counter.fault_ns = 2500000000;
    text = printed(&t);
    ck_assert_int_eq(strncmp(text, "hearth: elapsed 12.3 s", 22), 0);
    ck_assert_ptr_ne(strstr(text, "\nhearth: Advice: nothing stands out\n"),
                     NULL);
    ck_assert_ptr_ne(strstr(text, "summed over 2 ranks"), NULL);
    ck_assert_ptr_ne(strstr(text, " 123456789 "), NULL);
    ck_assert_ptr_ne(strstr(text, " 2.500 s"), NULL);
    ck_assert_ptr_eq(strstr(text, "twins"), NULL);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("shares");
    TCase *tc = tcase_create("shares");

    tcase_add_test(tc, tenths_of_a_percent_add_up_to_1000_whatever_the_parts);
    tcase_add_test(tc, of_no_time_there_are_no_parts);
    tcase_add_test(tc, each_nanosecond_is_in_one_part);
    tcase_add_test(tc, on_one_node_a_barrier_is_waiting);
    tcase_add_test(tc, there_are_at_most_40_lines_that_begin_with_hearth);
    tcase_add_test(tc,
                   elapsed_time_stands_first_and_counters_of_0_are_left_out);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
