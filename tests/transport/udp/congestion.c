/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Time-outs and windows of the udp transport, without a network: a link is
 * simulated, with a rate, a delay and a queue of some length, and a time that
 * only the test moves.
 */
#include "config.h"

#include "harness.h"
#include "transport/udp/congestion.h"
#include "transport/udp/timer.h"

#define MS UINT64_C(1000000)

enum { UNIT = 1472 };

/* A link on which datagrams of UNIT bytes come, one behind the other. */
struct link {
    uint64_t each;  /* ns that one takes */
    uint64_t delay; /* and on the way */
    uint64_t queue; /* that it holds; what is more is lost */
    uint64_t free;  /* from then on it is idle */
    unsigned lose;  /* every so-manieth, or 0 */
    uint64_t bytes; /* that it carried */
    unsigned count;
};

static struct hearthi_udp_congestion w;

/* When what is sent at `now` has come; 0: never. */
static uint64_t
link_send(struct link *l, uint64_t now)
{
    uint64_t start = l->free > now ? l->free : now;

    if ((start - now) / l->each >= l->queue)
        return 0;
    l->bytes += UNIT;
    l->free = start + l->each;
    if (l->lose != 0 && ++l->count % l->lose == 0)
        return 0;
    return l->free + l->delay;
}

/* Bring `n` datagrams by windows of them, one window in each turn; what did
 * not come is sent again.  The bytes that the link carried for each that came.
 */
static double
transfer(struct link *l, unsigned n)
{
    unsigned came = 0;
    uint64_t now = 0;

    hearthi_udp_congestion_open(&w, UNIT);
    while (came < n) {
        unsigned some = (unsigned)(w.size / UNIT), good = 0;
        uint64_t last = 0, sent = now;

        some = some < n - came ? some : n - came;
        some = some > 0 ? some : 1;
        for (unsigned i = 0; i < some; i++) {
            uint64_t at = link_send(l, now);

            good += at != 0;
            last = at != 0 ? at : last;
        }
        now = (last != 0 ? last : now + 100 * MS) + l->delay;
        for (unsigned i = 0; i < good; i++)
            hearthi_udp_congestion_grow(&w, UNIT, (some - i) * (uint64_t)UNIT);
        if (good == 0)
            hearthi_udp_congestion_silent(&w, now);
        else if (good < some)
            hearthi_udp_congestion_lose(&w, sent, now);
        if (good > 0)
            hearthi_udp_congestion_again(&w);
        came += good;
        ck_assert_uint_ge(w.size, UNIT);
    }
    return (double)l->bytes / UNIT / n;
}

START_TEST(a_window_finds_what_a_link_with_a_short_queue_takes)
{
    struct link narrow = { .each = 12 * MS, .delay = MS, .queue = 40 };
    struct link wide = { .each = MS / 100, .delay = 50 * MS, .queue = 4000 };
    struct link lossy = { .each = MS / 100,
                          .delay = MS,
                          .queue = 4000,
                          .lose = 100 };

    ck_assert(transfer(&narrow, 3000) < 1.05);
    ck_assert_uint_le(w.size, 80 * UNIT);
    ck_assert(transfer(&wide, 3000) < 1.05);
    ck_assert_uint_ge(w.size, 500 * UNIT);
    ck_assert(transfer(&lossy, 3000) < 1.05);
}
END_TEST

START_TEST(a_window_is_halved_once_for_all_that_was_sent_before)
{
    hearthi_udp_congestion_open(&w, UNIT);
    ck_assert_uint_eq(w.size, 10 * UNIT);
    hearthi_udp_congestion_lose(&w, 1 * MS, 2 * MS);
    ck_assert_uint_eq(w.size, 5 * UNIT);
    hearthi_udp_congestion_lose(&w, 1 * MS, 3 * MS);
    ck_assert_uint_eq(w.size, 5 * UNIT);
    hearthi_udp_congestion_lose(&w, 4 * MS, 5 * MS);
    ck_assert_uint_eq(w.size, 5 * UNIT / 2);
    hearthi_udp_congestion_lose(&w, 6 * MS, 7 * MS);
    ck_assert_uint_eq(w.size, 2 * UNIT);
}
END_TEST

START_TEST(a_window_grows_only_while_it_is_in_use)
{
    hearthi_udp_congestion_open(&w, UNIT);
    hearthi_udp_congestion_grow(&w, UNIT, 4 * UNIT);
    ck_assert_uint_eq(w.size, 10 * UNIT);
    hearthi_udp_congestion_grow(&w, UNIT, 5 * UNIT);
    ck_assert_uint_eq(w.size, 11 * UNIT);
}
END_TEST

/* An answer to a try that was given up brings the window back; one to the last
 * try does not, and then neither does a late one. */
START_TEST(a_time_out_counts_only_if_something_was_lost)
{
    hearthi_udp_congestion_open(&w, UNIT);
    hearthi_udp_congestion_silent(&w, 1 * MS);
    hearthi_udp_congestion_silent(&w, 3 * MS);
    ck_assert_uint_lt(w.size, 4 * UNIT);
    hearthi_udp_congestion_late(&w);
    ck_assert_uint_eq(w.size, 10 * UNIT);
    hearthi_udp_congestion_silent(&w, 9 * MS);
    hearthi_udp_congestion_again(&w);
    hearthi_udp_congestion_late(&w);
    ck_assert_uint_lt(w.size, 4 * UNIT);
    ck_assert_uint_eq(w.slow, 5 * UNIT);
}
END_TEST

/* Requests one after the other on a link whose answers take so long: how often
 * each is sent, at the end. */
static unsigned
tries_at(struct hearthi_udp_trip *t, uint64_t took)
{
    unsigned tries = 1;
    uint64_t wait = hearthi_udp_trip_wait(t), at = wait;

    for (; at < took; at += wait) {
        uint64_t most = hearthi_udp_trip_most(t, false);

        wait = 2 * wait < most ? 2 * wait : most;
        tries++;
    }
    hearthi_udp_trip_learn(t, took);
    return tries;
}

START_TEST(a_time_out_is_longer_than_the_round_trip_however_long_that_is)
{
    for (uint64_t took = MS / 100; took < 20000 * MS; took *= 3) {
        struct hearthi_udp_trip t = { .mean = 0 };

        hearthi_udp_trip_learn(&t, took);
        ck_assert_uint_ge(hearthi_udp_trip_wait(&t), 2 * took);
        for (int i = 0; i < 100; i++)
            ck_assert_uint_eq(tries_at(&t, took), 1);
        ck_assert_uint_ge(hearthi_udp_trip_wait(&t), took);
    }
}
END_TEST

/* From 1 ms to 1 s, as behind a queue: some tries at once, one from then on.
 */
START_TEST(a_link_that_gets_slow_is_learnt_from_one_answer)
{
    struct hearthi_udp_trip t = { .mean = 0 };

    for (int i = 0; i < 100; i++)
        hearthi_udp_trip_learn(&t, MS);
    ck_assert_uint_lt(hearthi_udp_trip_wait(&t), 2 * MS);
    ck_assert_uint_le(tries_at(&t, 1000 * MS), 18);
    ck_assert_uint_eq(tries_at(&t, 1000 * MS), 1);
}
END_TEST

/* On a fast network what is lost goes again soon, also behind many tries. */
START_TEST(where_round_trips_are_short_the_wait_stays_so)
{
    struct hearthi_udp_trip t = { .mean = 0 };

    for (int i = 0; i < 100; i++)
        hearthi_udp_trip_learn(&t, MS / 20);
    ck_assert_uint_eq(hearthi_udp_trip_wait(&t), MS);
    ck_assert_uint_le(hearthi_udp_trip_most(&t, false), 100 * MS);
    ck_assert_uint_le(hearthi_udp_trip_most(&t, true), 50 * MS);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("congestion");
    TCase *tc = tcase_create("congestion");

    tcase_add_test(tc, a_window_finds_what_a_link_with_a_short_queue_takes);
    tcase_add_test(tc, a_window_is_halved_once_for_all_that_was_sent_before);
    tcase_add_test(tc, a_window_grows_only_while_it_is_in_use);
    tcase_add_test(tc, a_time_out_counts_only_if_something_was_lost);
    tcase_add_test(
        tc, a_time_out_is_longer_than_the_round_trip_however_long_that_is);
    tcase_add_test(tc, a_link_that_gets_slow_is_learnt_from_one_answer);
    tcase_add_test(tc, where_round_trips_are_short_the_wait_stays_so);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
