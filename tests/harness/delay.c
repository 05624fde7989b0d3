/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "delay.h"

#include <dlfcn.h>
#include <mpi.h>
#include <sched.h>
#include <string.h>

#include "base/hash.h"
#include "seen.h"

/* Milliseconds. */
static _Thread_local double   replace_late, most_late;
static _Thread_local unsigned late_one_in;
static _Thread_local uint64_t random_state;
static void (*before_get)(void);

void
delay_replace(double ms)
{
    replace_late = ms;
}

void
delay_next_get(void (*meanwhile)(void))
{
    before_get = meanwhile;
}

void
delay_some(uint64_t seed, unsigned one_in, double most_ms)
{
    random_state = seed;
    late_one_in = one_in;
    most_late = most_ms;
}

void
delay_here(double ms)
{
    double until = MPI_Wtime() + ms / 1000;
    int    arrived;

    while (MPI_Wtime() < until) {
        MPI_Iprobe(MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_SELF, &arrived,
                   MPI_STATUS_IGNORE);
        sched_yield();
    }
}

static void
late_perhaps(void)
{
    if (late_one_in == 0 || hearthi_random(&random_state) % late_one_in != 0)
        return;
    delay_here(most_late * (double)(hearthi_random(&random_state) % 1000) /
               1000);
}

/* These stand before the library's, which tools may call by second names. */

SEEN int
MPI_Fetch_and_op(const void *value, void *result, MPI_Datatype type, int rank,
                 MPI_Aint at, MPI_Op op, MPI_Win win)
{
    int code;

    if (op == MPI_REPLACE && replace_late > 0)
        delay_here(replace_late);
    late_perhaps();
    code = PMPI_Fetch_and_op(value, result, type, rank, at, op, win);
    late_perhaps();
    return code;
}

/* The next MPI_Get may be that of a library that was loaded before MPI's. */
SEEN int
MPI_Get(void *to, int n, MPI_Datatype type, int rank, MPI_Aint at, int there,
        MPI_Datatype type_there, MPI_Win win)
{
    static __typeof__(MPI_Get) *next;
    void (*meanwhile)(void) = before_get;

    if (next == NULL) {
        void *found = dlsym(RTLD_NEXT, "MPI_Get");

        memcpy(&next, &found, sizeof next);
    }
    before_get = NULL;
    if (meanwhile != NULL)
        meanwhile();
    return next(to, n, type, rank, at, there, type_there, win);
}
