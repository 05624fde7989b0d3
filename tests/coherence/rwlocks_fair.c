/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reader-writer locks: neither readers nor writers starve, and tries.
 */
#include "rwlocks.h"

/* ---- fairness ---- */

enum { STOP = 7, COMING = 8, TURNS = 4, SECONDS = 8 };

static bool
is_told(int rank, int tag)
{
    int told = 0;

    MPI_Iprobe(rank, tag, MPI_COMM_WORLD, &told, MPI_STATUS_IGNORE);
    if (told)
        told_by(rank, tag);
    return told;
}

static void
drain(int rank, int tag)
{
    while (is_told(rank, tag))
        continue;
}

static void
come(void)
{
    MPI_Request sent;

    MPI_Isend(NULL, 0, MPI_BYTE, me % (ranks - 1) + 1, COMING, MPI_COMM_WORLD,
              &sent);
    MPI_Request_free(&sent);
}

/* Until the one before it comes, or for a moment. */
static void
stay(int before)
{
    double soon = MPI_Wtime() + 0.01;

    while (!is_told(before, COMING) && MPI_Wtime() < soon)
        continue;
}

/* The ranks but 0 take the lock all the time.  A reader stays until the next
 * one has come in, and a writer until it is about to wait: so there is always
 * one inside, or one that waits, unless they let others go first. */
static void
crowd(int rwlock, bool write)
{
    double until = MPI_Wtime() + SECONDS;
    int    before = (me + ranks - 3) % (ranks - 1) + 1;

    while (!is_told(0, STOP) && MPI_Wtime() < until) {
        if (write)
            come();
        lock_as(rwlock, write);
        if (!write) {
            drain(before, COMING);
            come();
        }
        stay(before);
        if (write)
            sleep_ms(2);
        hearth_rwunlock(rwlock);
    }
}

static void
is_served(int rwlock, bool write)
{
    double start = MPI_Wtime(), took;

    mpi_barrier();
    if (me > 0) {
        crowd(rwlock, !write);
        mpi_barrier();
        drain(MPI_ANY_SOURCE, MPI_ANY_TAG);
        mpi_barrier();
        return;
    }
    for (int k = 0; k < TURNS; k++) {
        sleep_ms(20); /* so that the others are at it */
        lock_as(rwlock, write);
        hearth_rwunlock(rwlock);
    }
    took = MPI_Wtime() - start;
    for (int r = 1; r < ranks; r++)
        tell(r, STOP);
    mpi_barrier();
    mpi_barrier();
    expect_timely(took < SECONDS);
}

START_TEST(readers_do_not_starve_a_writer)
{
    if (ranks > 2)
        is_served(800, true);
    all_expected();
}
END_TEST

START_TEST(writers_do_not_starve_a_reader)
{
    if (ranks > 2)
        is_served(801, false);
    all_expected();
}
END_TEST

/* The first rank is inside when another comes to write; a reader who comes
 * then waits for that one, and sees what he writes. */
START_TEST(a_reader_waits_for_a_writer_who_was_there_before)
{
    int64_t *p = pages_new(1);

    for (int k = 1; k <= 5 && ranks > 2; k++) {
        if (me == 0)
            hearth_rdlock(802);
        mpi_barrier();
        if (me == 1) {
            hearth_wrlock(802);
            *p = k;
            hearth_rwunlock(802);
        } else if (me == 2) {
            while (hearth_tryrdlock(802)) /* until the writer is there */
                hearth_rwunlock(802);
            tell(0, COMING);
            hearth_rdlock(802);
            expect_eq(*p, k);
            hearth_rwunlock(802);
        } else if (me == 0) {
            told_by(2, COMING);
            hearth_rwunlock(802);
        }
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- what waiting costs ---- */

enum { WHILE = 60, FEW = 20 };

static void
drive(int ms)
{
    double until = MPI_Wtime() + ms / 1000.0;

    while (MPI_Wtime() < until)
        is_told(MPI_ANY_SOURCE, COMING);
}

/* Rank 0 has it for a while, and the others come. */
static void
wait_counted(int rwlock, bool first, bool write)
{
    hearth_stats before, after;

    if (me == 0)
        lock_as(rwlock, first);
    mpi_barrier();
    hearth_get_stats(&before);
    if (me == 0)
        drive(WHILE);
    else
        lock_as(rwlock, write);
    hearth_get_stats(&after);
    hearth_rwunlock(rwlock);
    mpi_barrier();
    expect_timely(after.messages - before.messages <=
                  FEW + after.resends - before.resends);
}

/* Looks at its words, with gaps of a sixteenth of the time so far, would be
 * 150 messages and more.  Without helpers there are no bells, which are rung
 * as often as others have the core. */
START_TEST(who_waits_sends_few_messages_however_long_it_takes)
{
    fixture_stop();
    fixture_start_with("PROGRESS", "none");
    for (int rwlock = 803; rwlock < 805; rwlock++) { /* of two managers */
        wait_counted(rwlock, true, me % 2 == 0);
        wait_counted(rwlock, true, true);
        wait_counted(rwlock, false, true);
    }
    fixture_stop();
    fixture_start();
    all_expected();
}
END_TEST

/* ---- tries ---- */

START_TEST(a_try_takes_a_lock_that_is_free_and_no_other)
{
    for (int k = 0; k < ranks + 3; k++) {
        int  lock = 900 + k, holder = k % ranks;
        bool write = k % 2 == 0;

        if (me == holder)
            expect(write ? hearth_trywrlock(lock) : hearth_tryrdlock(lock));
        mpi_barrier();
        if (me != holder) {
            expect(!hearth_trywrlock(lock));
            expect_eq(hearth_tryrdlock(lock), !write);
            if (!write)
                hearth_rwunlock(lock);
        }
        mpi_barrier();
        if (me == holder)
            hearth_rwunlock(lock);
        mpi_barrier();
        if (me == (holder + 1) % ranks)
            for (int i = 0; i < 3; i++) {
                expect(hearth_trywrlock(lock));
                hearth_rwunlock(lock);
                expect(hearth_tryrdlock(lock));
                hearth_rwunlock(lock);
            }
        mpi_barrier();
    }
    all_expected();
}
END_TEST

/* All try at once, some to read. */
START_TEST(one_of_several_tries_gets_a_free_lock)
{
    enum { TIMES = 60 };

    for (int k = 0; k < TIMES; k++) {
        bool write = (k + me) % 3 != 0, taken;
        int  mine[2] = { 0, 0 }, all[2]; /* that read, that write */

        mpi_barrier();
        taken = write ? hearth_trywrlock(950) : hearth_tryrdlock(950);
        mine[write] = taken;
        mpi_barrier();
        if (taken)
            hearth_rwunlock(950);
        MPI_Allreduce(mine, all, 2, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
        expect(all[0] + all[1] > 0);
        expect(all[1] == 0 || (all[1] == 1 && all[0] == 0));
    }
    all_expected();
}
END_TEST

/* What tries that are refused leave behind hinders nobody. */
START_TEST(tries_acquire_and_detain_nobody)
{
    enum { STEPS = 25 };
    int64_t *p = pages_new(SPREAD), last = 0;

    for (int k = 0; k < STEPS;) {
        bool write = k % 3 == 0, try = (k + me) % 4 != 0;

        if (!try)
            lock_as(951, write);
        else if (!(write ? hearth_trywrlock(951) : hearth_tryrdlock(951))) {
            dawdle();
            continue;
        }
        expect_eq(write ? version_write(p, false)
                        : version_read(p, &last, k % 5 == 0),
                  0);
        hearth_rwunlock(951);
        k++;
    }
    barrier();
    expect_eq(*p, ranks * ((STEPS + 2) / 3));
    hearth_free(p);
    all_expected();
}
END_TEST

void
rwlocks_fair(TCase *tc)
{
    tcase_add_test(tc, readers_do_not_starve_a_writer);
    tcase_add_test(tc, writers_do_not_starve_a_reader);
    tcase_add_test(tc, a_reader_waits_for_a_writer_who_was_there_before);
    tcase_add_test(tc, who_waits_sends_few_messages_however_long_it_takes);
    tcase_add_test(tc, a_try_takes_a_lock_that_is_free_and_no_other);
    tcase_add_test(tc, one_of_several_tries_gets_a_free_lock);
    tcase_add_test(tc, tries_acquire_and_detain_nobody);
}
