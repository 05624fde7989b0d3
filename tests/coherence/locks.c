/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks as such: mutual exclusion, fairness, trying, all numbers, logs that
 * overflow.
 */
#include <pthread.h>

#include "delay.h"
#include "flags.h"
#include "transport/mpi/mpi_fabric.h"

/* Who is inside writes its name and finds it still there. */
START_TEST(one_rank_at_a_time_is_inside)
{
    enum { LOCKS = 5 };
    int      steps = rounds_of(25) * LOCKS;
    int64_t *p = pages_new(LOCKS);
    uint64_t random = (uint64_t)me;

    for (int k = 0; k < steps; k++) {
        int      i = (int)(hearthi_random(&random) % LOCKS);
        int64_t *inside;

        if (k % 5 == 4)
            i = 0; /* one lock with more contention */
        inside = word(p, i);
        hearth_lock(1000 + i);
        expect_eq(inside[0], 0);
        inside[0] = me + 1;
        inside[1]++;
        if (k % 7 == 0)
            dawdle();
        expect_eq(inside[0], me + 1);
        inside[0] = 0;
        hearth_unlock(1000 + i);
    }
    barrier();
    for (int i = 1; i < LOCKS && me == 0; i++)
        word(p, 0)[1] += word(p, i)[1];
    barrier();
    expect_eq(word(p, 0)[1], steps * ranks);
    hearth_free(p);
    all_expected();
}
END_TEST

static void
stay_in_mpi(int ms)
{
    for (int i = 0, arrived; i < ms; i++) {
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &arrived,
                   MPI_STATUS_IGNORE);
        sleep_ms(1);
    }
}

/* While rank 0 holds the lock all others come to wait; then rank 0 gives it
 * back and wants it again at once: a fair queue serves the others first.  The
 * others may be late on a busy machine, so once in a few times is enough.  As
 * manager rank 0 stays in MPI, which may need it to draw their tickets. */
static bool
others_come_first(int64_t *count)
{
    int64_t place;

    if (me == 0)
        hearth_lock(2000);
    mpi_barrier();
    if (me == 0) {
        stay_in_mpi(150);
        hearth_unlock(2000);
    }
    hearth_lock(2000);
    place = ++*count;
    hearth_unlock(2000);
    barrier();
    return me != 0 || place % ranks == 0;
}

START_TEST(waiting_ranks_are_served_in_turn)
{
    int64_t *p = pages_new(1);
    bool     fair = false;

    for (int k = 0; k < 5 && !fair; k++)
        fair = failing_rank(others_come_first(p)) < 0;
    expect_timely(fair);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Everybody wants the lock all the time, until the last has had its share. */
START_TEST(nobody_starves)
{
    enum { SHARE = 15 };
    int64_t *p = pages_new(1), had = 0;

    for (bool done = false; !done;) {
        hearth_lock(2001);
        p[0] += ++had == SHARE;
        done = p[0] == ranks;
        hearth_unlock(2001);
    }
    expect(had >= SHARE);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(a_lock_that_is_held_cannot_be_taken)
{
    for (int k = 0; k < ranks + 2; k++) {
        int lock = 100 * k + 3, holder = k % ranks;

        if (me == holder)
            expect(hearth_trylock(lock));
        mpi_barrier();
        if (me != holder)
            expect(!hearth_trylock(lock));
        mpi_barrier();
        if (me == holder)
            hearth_unlock(lock);
        mpi_barrier();
        if (me == (holder + 1) % ranks) {
            expect(hearth_trylock(lock));
            hearth_unlock(lock);
        }
        mpi_barrier();
    }
    all_expected();
}
END_TEST

/* Trying excludes others and shows their data, as waiting does. */
START_TEST(trying_acquires)
{
    enum { STEPS = 15 };
    int64_t *p = pages_new(2);

    for (int k = 0; k < STEPS;) {
        if (k % 3 == 0) {
            hearth_lock(2100);
        } else if (!hearth_trylock(2100)) {
            dawdle();
            continue;
        }
        expect_eq(p[0], p[512]);
        p[0]++;
        p[512]++;
        hearth_unlock(2100);
        k++;
    }
    barrier();
    expect_eq(p[0], ranks * STEPS);
    expect_eq(p[512], ranks * STEPS);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Each number is a lock of its own: a rank holds many at once. */
START_TEST(many_locks_are_held_at_once)
{
    enum { HELD = 40 };
    int64_t *p = hearth_alloc(HEARTH_LOCKS, sizeof *p, hearth_cyclic(1));

    for (int i = 0; i < HELD; i++) {
        hearth_lock(i * ranks + me);
        p[i * ranks + me]++;
    }
    for (int i = 0; i < HELD; i++)
        hearth_unlock(i * 7 % HELD * ranks + me);
    barrier();
    for (int i = 0; i < HELD * ranks; i++)
        expect_eq(p[i], 1);
    hearth_free(p);
    all_expected();
}
END_TEST

/* All numbers, or a sample where that takes long (a lock costs milliseconds
 * when there are more ranks than cores). */
START_TEST(every_number_is_a_lock)
{
    int      step = ranks <= 2 ? HEARTH_LOCKS / rounds_of(HEARTH_LOCKS) : 29;
    int64_t *p = hearth_alloc(HEARTH_LOCKS, sizeof *p, hearth_cyclic(1));

    for (int pass = 0; pass < 2; pass++) {
        for (int i = HEARTH_LOCKS - 1; i >= 0; i -= step) {
            if ((i / step + pass) % ranks != me)
                continue;
            hearth_lock(i);
            expect_eq(p[i], pass);
            p[i]++;
            hearth_unlock(i);
        }
        barrier();
    }
    for (int i = HEARTH_LOCKS - 1; i >= 0; i -= step)
        expect_eq(p[i], 2);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Every second page is written under the lock, so that each is a notice of
 * its own, many times over, while a reader that has copies of all, and dirty
 * bytes of its own in some, does not acquire: its log overflows. */
START_TEST(a_log_that_overflows_loses_nothing)
{
    enum { PAGES = 1200, ROUNDS = 8 };
    int64_t *p = pages_new(PAGES);
    int64_t  sum = 0;
    int      reader = ranks - 1;

    for (int i = 0; i < PAGES; i++)
        sum += word(p, i)[0];
    expect_eq(sum, 0);
    barrier();
    if (me == reader)
        for (int i = 0; i < PAGES; i += 3)
            word(p, i)[7] = i;
    for (int k = 1; k <= ROUNDS && me != reader; k++) {
        hearth_lock(2200);
        for (int i = k % 2; i < PAGES; i += 2)
            word(p, i)[0]++;
        hearth_unlock(2200);
    }
    mpi_barrier();
    hearth_lock(2200);
    for (int i = 0; i < PAGES; i++)
        expect_eq(word(p, i)[0], (ranks - 1) * ROUNDS / 2);
    hearth_unlock(2200);
    barrier();
    for (int i = 0; i < PAGES; i++)
        expect_eq(word(p, i)[7], i % 3 == 0 ? i : 0);
    hearth_free(p);
    all_expected();
}
END_TEST

/* The sections together write so many pages that they fill the log, which is
 * merged and written anew.  Whatever is Put must be there until it is flushed.
 */
START_TEST(a_log_is_merged_from_memory_that_is_there)
{
    enum { PAGES = 128, ROUNDS = 40 };
    int64_t *p = pages_new(PAGES);
    int64_t  sum = 0;

    for (int i = 0; i < PAGES; i++)
        sum += word(p, i)[0];
    expect_eq(sum, 0);
    barrier();
    delay_transfers(true);
    for (int k = 0; k < ROUNDS; k++) {
        if (me == k % 2) {
            hearth_lock(2201);
            for (int i = k % 2; i < PAGES; i += 2)
                word(p, i)[0]++;
            hearth_unlock(2201);
        }
        mpi_barrier();
    }
    hearth_lock(2201);
    for (int i = 0; i < PAGES; i++)
        expect_eq(word(p, i)[0], i % 2 == 0   ? (ROUNDS + 1) / 2
                                 : ranks == 1 ? 0
                                              : ROUNDS / 2);
    hearth_unlock(2201);
    delay_transfers(false);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Each has a lock of its own, whose steps need no other thread. */
enum { STEPPERS = 80 };

static pthread_barrier_t steppers;

static void *
step_alone(void *lock)
{
    pthread_barrier_wait(&steppers);
    for (int k = 0; k < 2; k++) {
        hearth_lock(*(int *)lock);
        hearth_unlock(*(int *)lock);
    }
    return NULL;
}

/* Open MPI 5 over UCX aborts at the 255th flush or request (mpi.h). */
START_TEST(steps_of_many_threads_are_bounded)
{
    pthread_t thread[STEPPERS];
    int       lock[STEPPERS];
    bool      all = threads_allowed() && me == ranks - 1;

    pthread_barrier_init(&steppers, NULL, STEPPERS);
    delay_flush(all ? 2 : 0);
    for (int t = 0; all && t < STEPPERS; t++) {
        lock[t] = 2300 + t;
        pthread_create(&thread[t], NULL, step_alone, &lock[t]);
    }
    for (int t = 0; all && t < STEPPERS; t++)
        pthread_join(thread[t], NULL);
    expect(delay_flush(0) <= HEARTHI_ATOMIC_OPS_MOST);
    pthread_barrier_destroy(&steppers);
    barrier();
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("locks");
    TCase *tc = tcase_create("sync");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, one_rank_at_a_time_is_inside);
    tcase_add_test(tc, waiting_ranks_are_served_in_turn);
    tcase_add_test(tc, nobody_starves);
    tcase_add_test(tc, a_lock_that_is_held_cannot_be_taken);
    tcase_add_test(tc, trying_acquires);
    tcase_add_test(tc, many_locks_are_held_at_once);
    tcase_add_test(tc, every_number_is_a_lock);
    tcase_add_test(tc, a_log_that_overflows_loses_nothing);
    tcase_add_test(tc, a_log_is_merged_from_memory_that_is_there);
    tcase_add_test(tc, steps_of_many_threads_are_bounded);
    suite_add_tcase(s, tc);
    suite_add_tcase(s, crowds());
    suite_add_tcase(s, tries());
    suite_add_tcase(s, rests());
    suite_add_tcase(s, stays());
    suite_add_tcase(s, stays_in_barriers());
    suite_add_tcase(s, conditions());
    suite_add_tcase(s, flags_and_atomics());
    suite_add_tcase(s, atomics());
    suite_add_tcase(s, adds());
    suite_add_tcase(s, adds_posted());
    suite_add_tcase(s, teams());
    suite_add_tcase(s, flag_logs());
    suite_add_tcase(s, log_places());
    suite_add_tcase(s, full_lists());
    return mpi_main(argc, argv, s);
}
