/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reader-writer locks: writers alone, readers together, all numbers, threads.
 */
#include <pthread.h>
#include <sched.h>

#include "rwlocks.h"

/* ---- who is inside ---- */

long long
version_write(int64_t *p, bool dawdles)
{
    long long wrong = 0;

    for (int i = 0; i < SPREAD; i++) {
        wrong += word(p, i)[0] != word(p, 0)[0] - (i > 0);
        ++*word(p, i);
        if (dawdles)
            dawdle();
    }
    return wrong;
}

long long
version_read(int64_t *p, int64_t *last, bool dawdles)
{
    int64_t   now = *word(p, 0);
    long long wrong = now < *last;

    if (dawdles)
        dawdle();
    for (int i = 0; i < SPREAD; i++)
        wrong += *word(p, i) != now;
    *last = now;
    return wrong;
}

START_TEST(a_writer_is_alone)
{
    enum { STEPS = 60, LOCKS = 3 };
    int64_t *p = pages_new(LOCKS * SPREAD), last[LOCKS] = { 0 };
    int64_t  writes[LOCKS] = { 0 }, all[LOCKS];
    uint64_t random = (uint64_t)me + 5;

    for (int k = 0; k < STEPS; k++) {
        int      i = (int)(hearthi_random(&random) % (2 * LOCKS)) % LOCKS;
        int64_t *version = word(p, i * SPREAD);

        if (hearthi_random(&random) % 3 == 0) {
            hearth_wrlock(i);
            expect_eq(version_write(version, k % 5 == 0), 0);
            writes[i]++;
        } else {
            hearth_rdlock(i);
            expect_eq(version_read(version, &last[i], k % 5 == 0), 0);
        }
        hearth_rwunlock(i);
    }
    barrier();
    MPI_Allreduce(writes, all, LOCKS, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    for (int i = 0; i < LOCKS; i++)
        expect_eq(*word(p, i * SPREAD), all[i]);
    hearth_free(p);
    all_expected();
}
END_TEST

/* All are inside before anybody leaves, and by each way. */
START_TEST(readers_are_inside_together)
{
    for (int k = 0; k < 10; k++) {
        if ((k + me) % 3 != 0)
            hearth_rdlock(k);
        else
            expect(hearth_tryrdlock(k));
        mpi_barrier();
        hearth_rwunlock(k);
        mpi_barrier();
        if (me == k % ranks) {
            hearth_wrlock(k);
            hearth_rwunlock(k);
        }
        mpi_barrier();
    }
    all_expected();
}
END_TEST

/* ---- all of them ---- */

START_TEST(every_number_is_a_reader_writer_lock)
{
    int step = ranks <= 2 ? 7 : 53;

    for (int i = 0; i < HEARTH_RWLOCKS; i += step)
        if (i / step % ranks == me)
            hearth_wrlock(i);
    mpi_barrier();
    for (int i = 0; i < HEARTH_RWLOCKS && ranks > 1; i += step)
        if (i / step % ranks == (me + 1) % ranks)
            expect(!hearth_tryrdlock(i));
    mpi_barrier();
    for (int i = 0; i < HEARTH_RWLOCKS; i += step)
        if (i / step % ranks == me)
            hearth_rwunlock(i);
    mpi_barrier();
    for (int i = HEARTH_RWLOCKS - 1; i >= 0; i -= step)
        hearth_rdlock(i);
    mpi_barrier();
    for (int i = HEARTH_RWLOCKS - 1; i >= 0; i -= step)
        hearth_rwunlock(i);
    all_expected();
}
END_TEST

/* More writers than there are phases.  Between nodes that takes long. */
START_TEST(phases_go_round)
{
    enum { WRITES = (1 << 19) + 9 };

    if (hearth_nodes() > 1)
        return;
    for (int k = 0; k < WRITES && me == 0; k++) {
        hearth_wrlock(960);
        hearth_rwunlock(960);
        if (k % 1000 == 0) {
            expect(hearth_tryrdlock(960));
            hearth_rwunlock(960);
        }
    }
    mpi_barrier();
    if (me == 0)
        hearth_rdlock(960);
    mpi_barrier();
    if (me > 0)
        expect(!hearth_trywrlock(960));
    mpi_barrier();
    if (me == 0)
        hearth_rwunlock(960);
    hearth_wrlock(960);
    hearth_rwunlock(960);
    all_expected();
}
END_TEST

START_TEST(a_lock_that_was_held_at_the_end_is_free_at_the_next_start)
{
    if (me == 0)
        hearth_rdlock(970);
    if (me == ranks - 1)
        hearth_wrlock(971);
    barrier();
    fixture_stop();
    fixture_start();
    for (int i = 970; i < 972; i++) {
        hearth_wrlock(i);
        hearth_rwunlock(i);
        hearth_rdlock(i);
        hearth_rwunlock(i);
    }
    barrier();
    all_expected();
}
END_TEST

/* ---- threads ---- */

enum { THREADS = 3, WORK = 40 };

struct worker {
    pthread_t thread;
    int       number;
    int64_t  *p, writes;
    long long wrong;
};

/* Takes and leaves, tries too; each thread holds another lock meanwhile. */
static void *
work(void *arg)
{
    struct worker *w = arg;
    uint64_t       random = (uint64_t)(me * THREADS + w->number);
    int64_t        last = 0;

    for (int k = 0; k < WORK; k++) {
        bool write = hearthi_random(&random) % 3 == 0;

        hearth_rdlock(980 + w->number);
        if (hearthi_random(&random) % 2 == 0)
            lock_as(990, write);
        else
            while (!(write ? hearth_trywrlock(990) : hearth_tryrdlock(990)))
                sched_yield();
        w->wrong += write ? version_write(w->p, false)
                          : version_read(w->p, &last, false);
        w->writes += write;
        hearth_rwunlock(980 + w->number);
        hearth_rwunlock(990);
    }
    return NULL;
}

START_TEST(threads_of_a_rank_hold_for_themselves)
{
    struct worker w[THREADS];
    int64_t      *p = pages_new(SPREAD), writes = 0, all;

    for (int i = 0; i < THREADS && threads_allowed(); i++) {
        w[i] = (struct worker){ .number = i, .p = p };
        pthread_create(&w[i].thread, NULL, work, &w[i]);
    }
    for (int i = 0; i < THREADS && threads_allowed(); i++) {
        pthread_join(w[i].thread, NULL);
        expect_eq(w[i].wrong, 0);
        writes += w[i].writes;
    }
    barrier();
    MPI_Allreduce(&writes, &all, 1, MPI_INT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect_eq(*p, all);
    hearth_free(p);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("rwlocks");
    TCase *tc = tcase_create("rwlocks");

    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, a_writer_is_alone);
    tcase_add_test(tc, readers_are_inside_together);
    tcase_add_test(tc, every_number_is_a_reader_writer_lock);
    tcase_add_test(tc, phases_go_round);
    tcase_add_test(tc,
                   a_lock_that_was_held_at_the_end_is_free_at_the_next_start);
    tcase_add_test(tc, threads_of_a_rank_hold_for_themselves);
    rwlocks_seen(tc);
    rwlocks_fair(tc);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
