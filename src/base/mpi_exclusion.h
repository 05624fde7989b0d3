/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Operations of the program's in which MPI must be left alone by threads of
 * Hearth's: file requests of Open MPI 4.1, whose progress engine walks their
 * list without a lock.  The thread of a gateway between clusters does not do
 * that: who takes part in such an operation may wait for it (doc/beside.md).
 */
#ifndef HEARTHI_MPI_EXCLUSION_H
#define HEARTHI_MPI_EXCLUSION_H

#include <stdbool.h>

/* Around such an operation, by any thread: the first waits until a thread of
 * Hearth's has left MPI, which it does in microseconds. */
void hearthi_mpi_exclusion_begin(void);
void hearthi_mpi_exclusion_end(void);

/* Before Hearth's thread is there: none is known of. */
void hearthi_mpi_exclusion_open(void);

/* Around what Hearth's one thread does in MPI: it does not if that is false.
 */
bool hearthi_mpi_exclusion_enter(void);
void hearthi_mpi_exclusion_leave(void);

#endif
