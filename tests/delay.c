/* SPDX-License-Identifier: BSD-2-Clause */
#include "delay.h"

#include <mpi.h>
#include <sched.h>

static double replace_late; /* milliseconds */
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

/* These stand before the library's, which tools may call by second names. */

int
MPI_Fetch_and_op(const void *value, void *result, MPI_Datatype type, int rank,
                 MPI_Aint at, MPI_Op op, MPI_Win win)
{
    if (op == MPI_REPLACE && replace_late > 0)
        delay_here(replace_late);
    return PMPI_Fetch_and_op(value, result, type, rank, at, op, win);
}

int
MPI_Get(void *to, int n, MPI_Datatype type, int rank, MPI_Aint at, int there,
        MPI_Datatype type_there, MPI_Win win)
{
    void (*meanwhile)(void) = before_get;

    before_get = NULL;
    if (meanwhile != NULL)
        meanwhile();
    return PMPI_Get(to, n, type, rank, at, there, type_there, win);
}
