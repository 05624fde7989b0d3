/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whose functions are behind ours.  Each call of MPI has two names: MPI_X,
 * which profilers take, and PMPI_X, by which they and some Fortran libraries
 * reach MPI.  Hearth stands before both, and behind each there may be another
 * library: a profiler behind libhearth in the order of loading is called by
 * MPI_X, and calls PMPI_X, which is ours again, and then MPI's.
 */
#ifndef HEARTHI_MPI_NEXT_H
#define HEARTHI_MPI_NEXT_H

#include <stdbool.h>
#include <stdint.h>

#include "front/mpi_calls.h"

extern struct hearthi_mpi_calls hearthi_next_mpi, hearthi_next_pmpi;

/* What Hearth's own calls reach: the first MPI_X that is not ours. */
extern struct hearthi_mpi_calls hearthi_direct;

/* Our own functions by the name of MPI_X, in the table's order. */
extern void *const hearthi_front_ours[];

/* Fill all three.  Done when the library is loaded, or when a library that was
 * loaded before calls MPI. */
void hearthi_front_find(void);

/* At a call behind which nothing was found, with the place of what is there:
 * look again, and end the job if the MPI library has no such call. */
void hearthi_front_need(const char *call, const void *place);

/* Do the program's calls of MPI go past libhearth? */
bool hearthi_front_is_behind(void);

/* Our PMPI_Send. */
extern void *const hearthi_front_send;

/* At hearth_init(): a line if the program's calls do not come here. */
void hearthi_front_check(void);

/* ---- mpi_waits.c ----
 *
 * Calls in which the program waits for another rank, noted for
 * HEARTH_DEADLOCK.  Where that is off nothing stands there: what comes next is
 * a pointer, and some of them lead there where it is on. */

/* For a world that is open, before and after all calls of this start. */
void hearthi_mpi_waits_open(void);
void hearthi_mpi_waits_close(void);

/* How many calls this rank has made that all ranks of the job make. */
uint64_t hearthi_mpi_waits_count(void);

#endif
