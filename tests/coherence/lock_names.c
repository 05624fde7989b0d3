/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks by numbers beyond those that are always there, and by address.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "delay.h"
#include "fixture.h"
#include "node/lock_names.h"
#include "space/segment.h"
#include "transport/remote_word.h"

enum { FAR = 1000000 };

static const void *
address_of(int i)
{
    return (const void *)(uintptr_t)(64 * (i + 1));
}

/* ---- which lock ---- */

/* From one on, in an order in which all of them come. */
static void
numbers_ask(int *number, int n, int first)
{
    for (int k = 0; k < n; k++) {
        int i = (k * 7 + first) % n;

        number[i] = hearth_lock_of(address_of(i));
    }
}

static int
compare(const void *a, const void *b)
{
    return *(const int *)a - *(const int *)b;
}

START_TEST(an_address_has_one_lock_of_its_own_for_all)
{
    enum { N = 300 };
    int number[N], of_0[N];

    for (int round = 0; round < 2; round++) {
        numbers_ask(number, N, 31 * me);
        for (int i = 0; i < N; i++)
            of_0[i] = number[i];
        MPI_Bcast(of_0, N, MPI_INT, 0, MPI_COMM_WORLD);
        for (int i = 0; i < N; i++)
            expect_eq(number[i], of_0[i]);
        qsort(of_0, N, sizeof *of_0, compare);
        for (int i = 1; i < N; i++)
            expect(of_0[i - 1] < of_0[i]);
        expect(of_0[0] >= HEARTH_LOCKS);
    }
    all_expected();
}
END_TEST

START_TEST(a_number_and_an_address_of_one_value_have_two_locks)
{
    for (int r = 0; r < ranks; r++) {
        if (r == me) {
            int of = hearth_lock_of((const void *)(uintptr_t)FAR);

            hearth_lock(FAR);
            expect(hearth_trylock(of));
            hearth_lock(FAR + 1);
            hearth_unlock(FAR);
            hearth_unlock(of);
            hearth_unlock(FAR + 1);
        }
        mpi_barrier();
    }
    all_expected();
}
END_TEST

START_TEST(a_number_that_another_rank_was_given_is_the_same_lock)
{
    int64_t *p = pages_new(1);
    int      given = me == 0 ? hearth_lock_of(p) : 0;

    MPI_Bcast(&given, 1, MPI_INT, 0, MPI_COMM_WORLD);
    for (int k = 0; k < 5; k++) {
        hearth_lock(given);
        ++*p;
        dawdle();
        hearth_unlock(given);
    }
    hearth_lock(hearth_lock_of(p));
    hearth_unlock(given);
    barrier();
    expect_eq(*p, 5 * ranks);
    hearth_free(p);
    all_expected();
}
END_TEST

static void *
asks(void *to)
{
    static atomic_int threads;

    numbers_ask(to, 100, 31 * me + 17 * atomic_fetch_add(&threads, 1));
    return NULL;
}

START_TEST(threads_that_ask_at_once_are_told_the_same)
{
    enum { THREADS = 4, N = 100 };
    static int number[THREADS][N];
    pthread_t  thread[THREADS];

    if (threads_allowed()) {
        for (int t = 0; t < THREADS; t++)
            pthread_create(&thread[t], NULL, asks, number[t]);
        for (int t = 0; t < THREADS; t++)
            pthread_join(thread[t], NULL);
        for (int t = 1; t < THREADS; t++)
            for (int i = 0; i < N; i++)
                expect_eq(number[t][i], number[0][i]);
    }
    all_expected();
}
END_TEST

START_TEST(the_largest_number_is_a_lock)
{
    enum { LARGEST = (1 << 30) - 1 };
    int64_t *p = pages_new(1);

    hearth_lock(LARGEST);
    ++*p;
    hearth_unlock(LARGEST);
    barrier();
    expect_eq(*p, ranks);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(a_name_that_is_known_sends_nothing)
{
    hearth_stats before, after;
    uint64_t     sent;

    for (int i = 0; i < 50; i++)
        hearth_lock_of(address_of(i));
    mpi_barrier();
    hearth_get_stats(&before);
    sent = messages_begun();
    for (int i = 0; i < 50; i++)
        hearth_lock_of(address_of(i));
    expect_eq(messages_begun() - sent, 0);
    hearth_get_stats(&after);
    expect_eq(after.local_messages - before.local_messages, 0);
    all_expected();
}
END_TEST

/* ---- what it does ---- */

/* Half of them by number, half by address. */
static int
lock_at(int64_t *p, int i)
{
    return i % 2 ? hearth_lock_of(word(p, i)) : FAR + 17 * i;
}

START_TEST(they_exclude_and_carry_writes)
{
    enum { LOCKS = 40, STEPS = 200 };
    int64_t *p = pages_new(LOCKS), adds[LOCKS] = { 0 }, all[LOCKS];
    uint64_t random = (uint64_t)me + 5;

    for (int k = 0; k < STEPS; k++) {
        int i = (int)(hearthi_random(&random) % LOCKS), lock = lock_at(p, i);
        int64_t *w = word(p, i), was;

        if (k % 3 == 0 && !hearth_trylock(lock))
            continue;
        if (k % 3 != 0)
            hearth_lock(lock);
        was = *w;
        if (k % 5 == 0)
            dawdle();
        *w = was + 1;
        w[1 + me] = ++adds[i];
        hearth_unlock(lock);
    }
    MPI_Allreduce(adds, all, LOCKS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < LOCKS; i++) {
        hearth_lock(lock_at(p, i));
        expect(*word(p, i) <= all[i]);
        hearth_unlock(lock_at(p, i));
    }
    barrier();
    for (int i = 0; i < LOCKS; i++)
        expect_eq(*word(p, i), all[i]);
    hearth_free(p);
    all_expected();
}
END_TEST

/* More than its log holds, and pages that do not lie side by side. */
START_TEST(what_a_section_wrote_is_told_if_the_log_is_short)
{
    enum { PAGES = 200 };
    int64_t *p = pages_new(PAGES);

    for (int round = 1; round <= 6; round++) {
        int lock = 3 + (round % 3 == 0 ? HEARTHI_LOGS_LONG : FAR);

        for (int i = 0; i < PAGES; i++)
            expect(*word(p, i) < round);
        barrier();
        if ((round + me) % ranks == 0) {
            hearth_lock(lock);
            for (int i = 0; i < PAGES; i += 2 + round % 2)
                *word(p, i) = round;
            hearth_unlock(lock);
            for (int r = 0; r < ranks; r++)
                if (r != me)
                    tell(r, 7);
        } else {
            told_by((ranks - round % ranks) % ranks, 7);
            hearth_lock(lock);
            for (int i = 0; i < PAGES; i += 2 + round % 2)
                expect_eq(*word(p, i), round);
            hearth_unlock(lock);
        }
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(one_that_is_taken_again_stays)
{
    enum { TIMES = 50 };
    int          lock = hearth_lock_of(address_of(1000 + me));
    hearth_stats before, after;
    uint64_t     sent;

    if (threads_allowed() && release_consistency() && hearth_nodes() > 1) {
        for (int k = 0; k < 10; k++) {
            hearth_lock(lock);
            hearth_unlock(lock);
        }
        hearth_get_stats(&before);
        sent = messages_begun();
        for (int k = 0; k < TIMES; k++) {
            hearth_lock(lock);
            hearth_unlock(lock);
        }
        expect_eq(messages_begun() - sent, 0);
        hearth_get_stats(&after);
        expect_eq(after.locks_kept - before.locks_kept, TIMES);
    }
    mpi_barrier();
    /* Who asks for it is given it. */
    lock = hearth_lock_of(address_of(1000 + (me + 1) % ranks));
    hearth_lock(lock);
    hearth_unlock(lock);
    all_expected();
}
END_TEST

START_TEST(a_condition_waits_on_one)
{
    enum { COND = 77, LOCK = FAR + 4 };
    int64_t *p = pages_new(1);

    hearth_lock(LOCK);
    while (*p != me)
        hearth_cond_wait(COND, LOCK);
    ++*p;
    hearth_cond_broadcast(COND);
    hearth_unlock(LOCK);
    barrier();
    expect_eq(*p, ranks);
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(there_may_be_as_many_as_the_option_says)
{
    enum { MANY = 5000 };
    int64_t *p;

    fixture_stop();
    fixture_start_with("LOCKS", "5000");
    p = pages_new(1);
    for (int i = me; i < MANY; i += ranks) {
        hearth_lock(FAR + i);
        hearth_unlock(FAR + i);
    }
    mpi_barrier();
    for (int i = 0; i < MANY; i += 97) {
        hearth_lock(FAR + i);
        ++*p;
        hearth_unlock(FAR + i);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- the last ones ---- */

enum { SOME = 48, NUMBERED = 1 << 16, PLAIN = 3000 };

/* As if each manager had given all its names before the n-th: to take them
 * costs seconds. */
static void
names_skip(size_t n)
{
    barrier();
    hearthi_remote_word_put(me, hearthi_segments.names_at, n);
    barrier();
}

/* Addresses that have no lock before, with the objects that are theirs. */
static void
names_take(int from, int *lock, int *object)
{
    for (int i = 0; i < SOME; i++) {
        if (me == i % ranks)
            hearth_lock_of(address_of(from + i));
        mpi_barrier();
        lock[i] = hearth_lock_of(address_of(from + i));
        object[i] = hearthi_lock_names_known(
            hearthi_lock_key_of_address(address_of(from + i)));
    }
}

/* Rank 0 writes under each, and rank 1 reads under it.  Under release
 * consistency rank 1 then passes the word on, under a lock with the number
 * that is left of the object's in 16 bits, if there is such a one. */
static void
words_pass(const int *lock, const int *object)
{
    int64_t *p = pages_new(SOME * ranks);
    int      next = ranks > 2 ? 2 : 0, then[SOME];

    for (int i = 0; i < SOME; i++) {
        int rest = object[i] - NUMBERED;

        then[i] = rest >= 0 && rest < PLAIN ? rest : PLAIN + i;
    }
    copies_take(p, SOME * ranks, 0);
    barrier();
    for (int i = 0; i < SOME && me == 0; i++) {
        hearth_lock(lock[i]);
        *word(p, ranks * i) = i + 1;
        hearth_unlock(lock[i]);
    }
    mpi_barrier();
    for (int i = 0; i < SOME && me == 1; i++) {
        hearth_lock(lock[i]);
        expect_eq(*word(p, ranks * i), i + 1);
        hearth_unlock(lock[i]);
        hearth_lock(then[i]);
        hearth_unlock(then[i]);
    }
    mpi_barrier();
    for (int i = 0; i < SOME && me == next && release_consistency(); i++) {
        hearth_lock(then[i]);
        expect_eq(*word(p, ranks * i), i + 1);
        hearth_unlock(then[i]);
    }
    barrier();
    hearth_free(p);
}

static bool
is_among(const int *object, int one)
{
    for (int i = 0; i < SOME; i++)
        if (object[i] == one)
            return true;
    return false;
}

/* A number of 16 bits is enough for none of them. */
START_TEST(the_last_of_very_many_hand_on_what_was_written)
{
    int lock[SOME], object[SOME];

    fixture_stop();
    fixture_start_with("LOCKS", "70000");
    names_skip((size_t)(NUMBERED - 1 - HEARTHI_SYNCS) / (size_t)ranks - 2);
    names_take(2000, lock, object);
    expect(is_among(object, NUMBERED - 1));
    expect(is_among(object, NUMBERED + ranks));
    words_pass(lock, object);
    names_skip(hearthi_lock_names_each - SOME);
    names_take(3000, lock, object);
    expect(object[SOME - 1] > 70000);
    words_pass(lock, object);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("lock_names");
    TCase *c = tcase_create("lock_names");

    tcase_set_timeout(c, 0);
    tcase_add_checked_fixture(c, fixture_start, fixture_stop);
    tcase_add_test(c, an_address_has_one_lock_of_its_own_for_all);
    tcase_add_test(c, a_number_and_an_address_of_one_value_have_two_locks);
    tcase_add_test(c, a_number_that_another_rank_was_given_is_the_same_lock);
    tcase_add_test(c, threads_that_ask_at_once_are_told_the_same);
    tcase_add_test(c, the_largest_number_is_a_lock);
    tcase_add_test(c, a_name_that_is_known_sends_nothing);
    tcase_add_test(c, they_exclude_and_carry_writes);
    tcase_add_test(c, what_a_section_wrote_is_told_if_the_log_is_short);
    tcase_add_test(c, one_that_is_taken_again_stays);
    tcase_add_test(c, a_condition_waits_on_one);
    tcase_add_test(c, there_may_be_as_many_as_the_option_says);
    tcase_add_test(c, the_last_of_very_many_hand_on_what_was_written);
    suite_add_tcase(s, c);
    return mpi_main(argc, argv, s);
}
