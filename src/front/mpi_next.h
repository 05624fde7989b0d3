/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whose functions are behind ours.  Each call of MPI has two names: MPI_X,
 * which profilers take, and PMPI_X, by which they and some Fortran libraries
 * reach MPI.  Hearth stands before both, and behind each there may be somebody
 * else: a profiler behind libhearth in the order of loading is called by
 * MPI_X, and calls PMPI_X, which is ours again, and then MPI's.
 */
#ifndef HEARTHI_MPI_NEXT_H
#define HEARTHI_MPI_NEXT_H

#include "front/mpi_calls.h"

extern struct hearthi_mpi_calls hearthi_next_mpi, hearthi_next_pmpi;

/* What Hearth's own calls reach: the first MPI_X that is not ours. */
extern struct hearthi_mpi_calls hearthi_direct;

/* Our own functions by the name of MPI_X, in the table's order. */
extern void *const hearthi_front_ours[];

/* Fill all three.  Done when the library is loaded, or when a library that was
 * loaded before calls MPI. */
void hearthi_front_find(void);

/* Our PMPI_Send. */
extern void *const hearthi_front_send;

/* At hearth_init(): a line if the program's calls do not come here. */
void hearthi_front_check(void);

#endif
