/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ranks and threads that go away with a lock, or while a thread waits.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <unistd.h>

#include "badinput.h"
#include "transport/udp/send_window.h"

/* The last rank goes away with a lock, and others wait for it, as far as that
 * can be known. */
static void
loses_a(int lock)
{
    int arrived;

    if (me == last)
        hearth_lock(lock);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me < last)
        hearth_lock(lock);
    for (double end = MPI_Wtime() + 1; MPI_Wtime() < end; usleep(1000))
        MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &arrived,
                   MPI_STATUS_IGNORE);
    badinput_go_away();
}

static void
loses_lock(void)
{
    loses_a(9);
}

/* The rank behind it, which is to ask for the locks, is stopped itself when
 * others find it silent, which is so two seconds after it went. */
static void
loses_lock_late(void)
{
    if (me == (last + 1) % hearth_size())
        badinput_stop(2600, 1100);
    loses_a(9);
}

/* It stays there, and a thread is inside. */
static void
loses_kept_lock(void)
{
    for (int i = 0; me == last && i < 5; i++) {
        hearth_lock(9);
        hearth_unlock(9);
    }
    loses_a(9);
}

/* Who knew of the lock is gone with it. */
static void
loses_own_lock(void)
{
    loses_a(last);
}

static void
loses_far_lock(void)
{
    loses_a(100000);
}

static void
loses_lock_of_address(void)
{
    loses_a(hearth_lock_of((const void *)(uintptr_t)0x1234));
}

static void
loses_locks(void)
{
    for (int i = 1; me == last && i < 4; i++)
        hearth_lock(9 + hearth_size() * i);
    loses_a(9);
}

/* The last rank ends with a lock that the others come to wait for. */
static void
end_with_lock(void (*end)(void))
{
    if (me == last)
        hearth_lock(9);
    hearth_barrier();
    if (me == last)
        end();
    hearth_lock(9);
    hearth_unlock(9);
}

static void
exit_well(void)
{
    exit(0);
}

static void
dies_by_exit_with_lock(void)
{
    end_with_lock(exit_well);
}

static void
finalize_with_lock(void)
{
    if (me == last)
        hearth_lock(12);
    end_with_lock(hearth_finalize);
}

static void *
lock_and_end(void *unused)
{
    hearth_lock(9);
    hearth_unlock(9);
    hearth_lock(9);
    return unused;
}

static void
thread_join(void)
{
    pthread_t thread;

    pthread_create(&thread, NULL, lock_and_end, NULL);
    pthread_join(thread, NULL);
}

static void
thread_ends_with_lock(void)
{
    if (me == last)
        thread_join();
    hearth_lock(9);
    hearth_unlock(9);
}

static void *
lock_pass(void *unused)
{
    hearth_lock(9);
    hearth_unlock(9);
    return unused;
}

/* Rank 0 has the lock for a while, and so many threads of the last one wait:
 * the thread in the barrier is one more. */
static void
threads_wait(int many)
{
    enum { MANY = 400 };
    static pthread_t thread[MANY];
    pthread_attr_t   attr;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, 1 << 17);
    if (me == 0)
        hearth_lock(9);
    MPI_Barrier(MPI_COMM_WORLD);
    for (int i = 0; me == last && i < many; i++)
        pthread_create(&thread[i], &attr, lock_pass, NULL);
    if (me == 0) {
        sleep(many == MANY ? 20 : 1);
        hearth_unlock(9);
    }
    hearth_barrier();
    for (int i = 0; me == last && i < many; i++)
        pthread_join(thread[i], NULL);
}

static void
threads_too_many(void)
{
    threads_wait(400);
}

static void
threads_most(void)
{
    threads_wait(HEARTHI_UDP_SLOTS - HEARTHI_UDP_BULK - 1);
}

/* The condition is entered when its lock can be had. */
static volatile bool comes;

static void *
cond_await(void *unused)
{
    hearth_lock(7);
    comes = true;
    hearth_cond_wait(3, 7);
    return unused;
}

static void
finalize_while_waiting(void)
{
    pthread_t thread;

    if (me == last) {
        pthread_create(&thread, NULL, cond_await, NULL);
        while (!comes)
            usleep(1000);
        hearth_lock(7);
        hearth_unlock(7);
        hearth_finalize();
    }
}

const struct badinput badinput_losses[] = {
    BADINPUT(loses_lock),
    BADINPUT(loses_lock_late),
    BADINPUT(loses_kept_lock),
    BADINPUT(loses_own_lock),
    BADINPUT(loses_locks),
    BADINPUT(loses_far_lock),
    BADINPUT(loses_lock_of_address),
    BADINPUT(dies_by_exit_with_lock),
    BADINPUT(finalize_with_lock),
    BADINPUT(finalize_while_waiting),
    BADINPUT(threads_too_many),
    BADINPUT(threads_most),
    BADINPUT(thread_ends_with_lock),
    { 0 },
};
