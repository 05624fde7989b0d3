/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank that polls in MPI over UCX and finds nothing sleeps for a moment, as
 * Open MPI's gives its core away (mpi_yield_when_idle).  MPICH 4.0.2 has
 * nothing like it over UCX (its library does not call sched_yield(2)), so
 * where several jobs run side by side each of its calls waits until the
 * scheduler takes the core from ranks that only poll.  Four jobs of two ranks
 * at a time, on two cores: calls.mpi takes 12 to 20 s, and 6 with this;
 * api.mpi 8 and 2; am_mailbox.mpi 16 and 8; locks.mpi, whose calls hand a lock
 * on, 36 to 53 both ways, with half of the time on the cores.
 *
 * Where threads may call it at the same time, MPICH polls with a lock taken.
 * Who slept there would keep the rank's other threads out nearly all of the
 * time; so that thread sleeps right behind its next pthread_mutex_unlock().
 *
 *     LD_PRELOAD=tests/harness/.libs/libucx_idle.so \
 *         mpiexec -n 2 tests/api/api.mpi
 *
 * Its name begins as UCX's do: it is no code of the program
 * (profile/caller.c).
 */
#include <config.h>

#include <dlfcn.h>
#include <errno.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stddef.h>
#include <time.h>

#include "seen.h"

/* Vain looks before a thread sleeps; and in a loop that takes no lock, or
 * leaves none, before it does so between two of them. */
enum { VAIN_MOST = 100, SLEEP_NS = 50000 };

unsigned ucp_worker_progress(void *worker);

static unsigned (*progress_next)(void *worker);
static int (*unlock_next)(pthread_mutex_t *m);
static int (*flush_next)(int rank, MPI_Win win);

static __thread int  vain;
static __thread bool is_idle;

/* At the first call of each: a library's constructor may make one before this
 * one's would run.  Where MPI is not over UCX there is none of the first, and
 * nobody calls it. */
static void
next_find(void)
{
    *(void **)&progress_next = dlsym(RTLD_NEXT, "ucp_worker_progress");
    *(void **)&unlock_next = dlsym(RTLD_NEXT, "pthread_mutex_unlock");
    *(void **)&flush_next = dlsym(RTLD_NEXT, "PMPI_Win_flush");
}

static void
sleep_shortly(void)
{
    static const struct timespec while_idle = { .tv_nsec = SLEEP_NS };
    int                          saved = errno;

    nanosleep(&while_idle, NULL);
    errno = saved;
    is_idle = false;
    vain = VAIN_MOST;
}

/* A step of RMA that is done at once finds nothing either: looks count from
 * its flush on, or each step of a rank that makes many would sleep. */
SEEN int
PMPI_Win_flush(int rank, MPI_Win win)
{
    if (flush_next == NULL)
        next_find();
    vain = 0;
    is_idle = false;
    return flush_next(rank, win);
}

SEEN unsigned
ucp_worker_progress(void *worker)
{
    unsigned found;

    if (progress_next == NULL)
        next_find();
    found = progress_next(worker);
    vain = found > 0 ? 0 : vain + 1;
    is_idle = vain > VAIN_MOST;
    if (vain > 2 * VAIN_MOST)
        sleep_shortly();
    return found;
}

SEEN int
pthread_mutex_unlock(pthread_mutex_t *m)
{
    int code;

    if (unlock_next == NULL)
        next_find();
    code = unlock_next(m);
    if (is_idle)
        sleep_shortly();
    return code;
}
