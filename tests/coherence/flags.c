/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Flags as such, and atomic operations on heap words.
 */
#include <stdlib.h>
#include <time.h>

#include "delay.h"
#include "flags.h"
#include "transport/mpi/rma_object.h"

/* With all else that stands in the word beside it. */
START_TEST(a_flag_word_has_the_ticket_of_the_last_node)
{
    for (unsigned set = 0; set < 2; set++) {
        struct hearthi_serving s = { set, HEARTHI_NODES_MOST,
                                     HEARTHI_EPOCHS - 1, UINT8_MAX,
                                     UINT32_MAX };

        s = hearthi_serving_read(hearthi_serving_make(s));
        expect_eq(s.set, set);
        expect_eq(s.ticket, HEARTHI_NODES_MOST);
        expect_eq(s.epoch, HEARTHI_EPOCHS - 1);
        expect_eq(s.whole, UINT8_MAX);
        expect_eq(s.end, UINT32_MAX);
    }
    all_expected();
}
END_TEST

START_TEST(every_flag_can_be_set_and_waited_for)
{
    int step = ranks <= 2 ? HEARTH_FLAGS / rounds_of(HEARTH_FLAGS) : 13;

    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < HEARTH_FLAGS; i += step)
            if (i / step % ranks == me)
                hearth_flag_set(i);
        for (int i = HEARTH_FLAGS - HEARTH_FLAGS % step; i >= 0; i -= step)
            if (i < HEARTH_FLAGS && (i / step + 1) % ranks == me)
                hearth_flag_wait(i);
        barrier();
        for (int i = 0; i < HEARTH_FLAGS; i += step)
            if ((i / step + 2) % ranks == me)
                hearth_flag_reset(i);
        barrier();
    }
    all_assert(true);
}
END_TEST

START_TEST(a_flag_stays_set_until_it_is_reset)
{
    int64_t *p = pages_new(1);

    for (int k = 0; k < 2 * ranks; k++) {
        if (me == k % ranks) {
            *p = k;
            hearth_flag_set(1023);
            hearth_flag_set(1023);
        }
        hearth_flag_wait(1023);
        expect_eq(*p, k);
        hearth_flag_wait(1023);
        barrier();
        if (me == (k + 1) % ranks)
            hearth_flag_reset(1023);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* A reset flag makes the next wait wait: the word tells if it did not. */
START_TEST(a_reset_flag_is_waited_for_again)
{
    int64_t *p = pages_new(2);

    for (int k = 1; k <= 12; k++) {
        if (me == 0) {
            if (k % 3 == 0)
                sleep_ms(3);
            p[0] = k;
            hearth_flag_set(7);
        } else {
            hearth_flag_wait(7);
            expect_eq(p[0], k);
        }
        barrier();
        if (me == 0)
            hearth_flag_reset(7);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- a log that goes round while it is read ---- */

enum { TOLD = 150, SETS = 20 };

/* Pages that are written for the first set, and for the second: no two are
 * neighbours, so that each is a notice. */
static int64_t *
told_word(int64_t *p, int set, int i)
{
    return word(p, 2 * (set * TOLD + i));
}

static void
told_write(int64_t *p, int set, int value)
{
    for (int i = 0; i < TOLD; i++)
        *told_word(p, set, i) = value;
}

static void
told_expect(int64_t *p, int set, int value)
{
    for (int i = 0; i < TOLD; i++)
        expect_eq(*told_word(p, set, i), value);
}

static void
random_nap(uint64_t *state, unsigned most_us)
{
    struct timespec nap = { 0,
                            (long)(hearthi_random(state) % most_us) * 1000 };

    nanosleep(&nap, NULL);
}

/* A waiter reads the log while the next set writes over what it reads, which
 * it must notice.  It has copies of all pages, which are stale then.  The
 * second set takes 4 ms between its notices and the step that says so. */
START_TEST(a_set_that_overwrites_the_log_under_a_waiter_is_noticed)
{
    int64_t *p = pages_new(4 * TOLD);
    uint64_t random = (uint64_t)me + 77;

    for (int k = 1; k <= SETS; k++) {
        int flag = 900 + k;

        told_expect(p, 0, k - 1);
        barrier();
        if (me == 0) {
            told_write(p, 0, k);
            hearth_flag_set(flag);
            random_nap(&random, 500);
            told_write(p, 1, k);
            delay_replace(4);
            hearth_flag_set(flag);
            delay_replace(0);
        } else {
            random_nap(&random, 6000);
            hearth_flag_wait(flag);
            told_expect(p, 0, k);
        }
        barrier();
        told_expect(p, 1, k);
        if (me == 0)
            hearth_flag_reset(flag);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* All results together are 0 .. total-1, each once, rising on each rank. */
START_TEST(fetch_and_add_gives_each_number_once)
{
    enum { STEPS = 40 };
    int64_t *w = hearth_alloc(512, sizeof *w, hearth_on(ranks / 2));
    char    *seen = calloc((size_t)(STEPS * ranks), 1);
    int64_t  last = -1;

    for (int k = 0; k < STEPS; k++) {
        int64_t got = hearth_fetch_add(w, 1);

        expect(got > last && got < STEPS * ranks);
        last = got;
        if (got >= 0 && got < STEPS * ranks)
            seen[got]++;
    }
    barrier();
    expect_eq(*w, STEPS * ranks);
    MPI_Allreduce(MPI_IN_PLACE, seen, STEPS * ranks, MPI_CHAR, MPI_SUM,
                  MPI_COMM_WORLD);
    for (int i = 0; i < STEPS * ranks; i++)
        expect_eq(seen[i], 1);
    free(seen);
    hearth_free(w);
    all_expected();
}
END_TEST

START_TEST(fetch_and_add_takes_all_values)
{
    int64_t *w = hearth_alloc(1, sizeof *w, hearth_on(0));
    int64_t  big = (int64_t)1 << 62;

    barrier();
    if (me == ranks - 1) {
        expect_eq(hearth_fetch_add(w, -5), 0);
        expect_eq(hearth_fetch_add(w, 0), -5);
        expect_eq(hearth_fetch_add(w, big), -5);
        expect_eq(hearth_fetch_add(w, 5 - big), big - 5);
        expect_eq(hearth_swap(w, INT64_MIN), 0);
        expect_eq(hearth_swap(w, -1), INT64_MIN);
    }
    barrier();
    expect_eq(*w, -1);
    hearth_free(w);
    all_expected();
}
END_TEST

/* Tokens are swapped through one word: none is lost, none is doubled. */
START_TEST(swap_keeps_every_token)
{
    enum { STEPS = 30 };
    int64_t *w = hearth_alloc(512, sizeof *w, hearth_cyclic(1));
    int64_t  token = me + 1, sums[2], got[2];

    for (int k = 0; k < STEPS; k++) {
        token = hearth_swap(w + 9, token);
        expect(token >= 0 && token <= ranks);
    }
    barrier();
    if (me == 0)
        expect(w[9] >= 0 && w[9] <= ranks);
    sums[0] = token + (me == 0 ? w[9] : 0);
    sums[1] = token * token + (me == 0 ? w[9] * w[9] : 0);
    MPI_Allreduce(sums, got, 2, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect_eq(got[0], ranks * (ranks + 1) / 2);
    expect_eq(got[1], ranks * (ranks + 1) * (2 * ranks + 1) / 6);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* What is added is taken out by swaps: all of it, each once, though some add
 * while others swap. */
START_TEST(adding_and_swapping_at_once_loses_nothing)
{
    const int steps = rounds_of(200);
    int64_t *w = hearth_alloc(512, sizeof *w, hearth_on(ranks - 1));
    int64_t  mine = 0, all = 0;

    barrier();
    for (int k = 0; k < steps; k++) {
        hearth_fetch_add(w, 1 + me);
        if ((k + me) % 2 == 0)
            mine += hearth_swap(w, 0);
    }
    barrier();
    mine += me == 0 ? *w : 0;
    MPI_Allreduce(&mine, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect_eq(all, steps * ranks * (ranks + 1) / 2);
    barrier();
    hearth_free(w);
    all_expected();
}
END_TEST

/* Atomics and plain words share a page: diffs of the neighbours must not
 * bring an old count home, and copies must learn of the count. */
START_TEST(atomics_live_beside_plain_words)
{
    enum { STEPS = 6 };
    int64_t *p = hearth_alloc(512, sizeof *p, hearth_on(0));

    for (int k = 1; k <= 5; k++) {
        expect_eq(p[0], (k - 1) * STEPS * ranks); /* a copy to be dropped */
        barrier();
        for (int i = 1; i <= STEPS; i++) {
            p[10 + me]++;
            hearth_fetch_add(p, 1);
            expect_eq(p[10 + me], (k - 1) * STEPS + i);
            if (i != me % STEPS + 1)
                continue;
            hearth_lock(2300);
            p[1]++;
            hearth_unlock(2300);
        }
        barrier();
        expect_eq(p[0], k * STEPS * ranks);
        expect_eq(p[1], k * ranks);
        for (int r = 0; r < ranks; r++)
            expect_eq(p[10 + r], k * STEPS);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

TCase *
flags_and_atomics(void)
{
    TCase *tc = tcase_create("flags and atomics");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, a_flag_word_has_the_ticket_of_the_last_node);
    tcase_add_test(tc, every_flag_can_be_set_and_waited_for);
    tcase_add_test(tc, a_flag_stays_set_until_it_is_reset);
    tcase_add_test(tc, a_reset_flag_is_waited_for_again);
    tcase_add_test(tc,
                   a_set_that_overwrites_the_log_under_a_waiter_is_noticed);
    tcase_add_test(tc, fetch_and_add_gives_each_number_once);
    tcase_add_test(tc, fetch_and_add_takes_all_values);
    tcase_add_test(tc, swap_keeps_every_token);
    tcase_add_test(tc, adding_and_swapping_at_once_loses_nothing);
    tcase_add_test(tc, atomics_live_beside_plain_words);
    return tc;
}
