/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ranks that go away.
 */
#include <mpi.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <unistd.h>

#include "badinput.h"

/* A rank goes away, the others wait for it, in each of the ways to wait. */
static void
dies_killed_at_barrier(void)
{
    if (me == last)
        kill(getpid(), SIGKILL);
    hearth_barrier();
}

static void
dies_killed_with_lock(void)
{
    if (me == last)
        hearth_lock(9);
    hearth_barrier();
    if (me == last)
        kill(getpid(), SIGKILL);
    hearth_lock(9);
}

/* The last rank stops while another waits for its page. */
static void *
wake(void *process)
{
    const pid_t *pid = process;

    sleep(2);
    kill(*pid, SIGCONT);
    return NULL;
}

static void
stop_last(bool again)
{
    int      *p = hearth_alloc(1, sizeof *p, hearth_on(last));
    pid_t     pid = getpid();
    pthread_t waker;

    MPI_Bcast(&pid, sizeof pid, MPI_BYTE, last, MPI_COMM_WORLD);
    hearth_barrier();
    if (me == 0 && again)
        pthread_create(&waker, NULL, wake, &pid);
    if (me == last)
        kill(pid, SIGSTOP);
    else
        usleep(300000);
    if (*(volatile int *)p != 0)
        exit(1);
    if (me == 0 && again)
        pthread_join(waker, NULL);
    hearth_barrier();
}

static void
stopped(void)
{
    stop_last(false);
}

static void
stopped_awhile(void)
{
    stop_last(true);
}

/* Late is not an error, gone is: nobody asks the last rank for anything. */
static void
stopped_at_barrier(void)
{
    if (me == last)
        kill(getpid(), SIGSTOP);
    hearth_barrier();
}

static void
stopped_with_lock(void)
{
    if (me == last)
        hearth_lock(9);
    hearth_barrier();
    if (me == last)
        kill(getpid(), SIGSTOP);
    hearth_lock(9);
}

static void
stopped_before_flag(void)
{
    if (me == last)
        kill(getpid(), SIGSTOP);
    hearth_flag_wait(3);
}

static void
dies_by_exit(void)
{
    if (me == last)
        exit(0);
    hearth_flag_wait(1);
}

static void
dies_by_exit_quietly(void)
{
    if (me == last)
        _exit(0);
    hearth_barrier();
}

const struct badinput badinput_ends[] = {
    BADINPUT(dies_killed_at_barrier),
    BADINPUT(dies_killed_with_lock),
    BADINPUT(stopped),
    BADINPUT(stopped_awhile),
    BADINPUT(stopped_at_barrier),
    BADINPUT(stopped_with_lock),
    BADINPUT(stopped_before_flag),
    BADINPUT(dies_by_exit),
    BADINPUT(dies_by_exit_quietly),
    { 0 },
};
