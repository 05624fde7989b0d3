/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who will ask at the same time (src/transport/clusters/gateway_thread.h).  A
 * process that loses its core for longer than such a moment sees none: so what
 * is said to be expected must be so in one of many tries, and what is not, in
 * each.
 */
#define _GNU_SOURCE
#include <config.h>

#include <time.h>

#include "harness.h"
#include "transport/clusters/gateway_thread.h"

enum { CONNECTIONS = 8, TRIES = 1000 };

static void
moment_pass(void)
{
    nanosleep(&(struct timespec){ .tv_nsec = 1000000 }, NULL);
}

/* Two are answered, and so many of them ask. */
static bool
expected_after(size_t asks)
{
    hearthi_batching_answered(1);
    hearthi_batching_answered(2);
    for (size_t i = 1; i <= asks; i++)
        hearthi_batching_asked(i);
    return hearthi_batching_expected();
}

static int
expected_in(int tries, size_t asks)
{
    int n = 0;

    for (int i = 0; i < tries; i++) {
        n += expected_after(asks);
        moment_pass();
    }
    return n;
}

START_TEST(who_asks_waits_for_those_who_were_answered_with_it)
{
    hearthi_batching_open(CONNECTIONS);
    ck_assert_int_gt(expected_in(TRIES / 20, 1), 0);
    hearthi_batching_close();
}
END_TEST

START_TEST(nobody_waits_when_all_have_asked)
{
    hearthi_batching_open(CONNECTIONS);
    ck_assert_int_eq(expected_in(TRIES / 20, 2), 0);
    hearthi_batching_close();
}
END_TEST

START_TEST(who_asks_alone_waits_for_nobody)
{
    hearthi_batching_open(CONNECTIONS);
    for (int i = 0; i < TRIES; i++) {
        hearthi_batching_asked(3);
        ck_assert(!hearthi_batching_expected());
        hearthi_batching_answered(3);
    }
    hearthi_batching_close();
}
END_TEST

/* One that was answered long ago and computes holds up nobody. */
START_TEST(who_does_not_ask_is_not_waited_for_again)
{
    hearthi_batching_open(CONNECTIONS);
    hearthi_batching_answered(1);
    moment_pass();
    ck_assert(!hearthi_batching_expected());
    for (int i = 0; i < TRIES; i++) {
        hearthi_batching_answered(2);
        hearthi_batching_asked(2);
        ck_assert(!hearthi_batching_expected());
    }
    hearthi_batching_close();
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("company");
    TCase *tc = tcase_create("all");

    tcase_add_test(tc, who_asks_waits_for_those_who_were_answered_with_it);
    tcase_add_test(tc, nobody_waits_when_all_have_asked);
    tcase_add_test(tc, who_asks_alone_waits_for_nobody);
    tcase_add_test(tc, who_does_not_ask_is_not_waited_for_again);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
