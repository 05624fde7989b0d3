/* SPDX-License-Identifier: BSD-2-Clause */
#include "delay.h"

#include <mpi.h>
#include <sched.h>

static double replace_late; /* milliseconds */

void
delay_replace(double ms)
{
    replace_late = ms;
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

/* Stands before the library's, which tools may call by its second name. */
int
MPI_Fetch_and_op(const void *value, void *result, MPI_Datatype type, int rank,
                 MPI_Aint at, MPI_Op op, MPI_Win win)
{
    if (op == MPI_REPLACE && replace_late > 0)
        delay_here(replace_late);
    return PMPI_Fetch_and_op(value, result, type, rank, at, op, win);
}
