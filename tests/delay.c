/* SPDX-License-Identifier: BSD-2-Clause */
#include "delay.h"

#include <mpi.h>
#include <sched.h>

static double replace_late, sum_late; /* seconds */

void
delay_replace(double ms)
{
    replace_late = ms / 1000;
}

void
delay_sum(double ms)
{
    sum_late = ms / 1000;
}

static void
spend(double seconds)
{
    double until = MPI_Wtime() + seconds;
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
        spend(replace_late);
    if (op == MPI_SUM && sum_late > 0)
        spend(sum_late);
    return PMPI_Fetch_and_op(value, result, type, rank, at, op, win);
}
