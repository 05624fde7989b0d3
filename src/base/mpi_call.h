/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who is inside MPI.
 *
 * The MPI call that the calling thread is in, the program's or Hearth's own,
 * or NULL.  MPI libraries cannot be entered again in the same thread: a page
 * fault there must be served without MPI.
 */
#ifndef HEARTHI_MPI_CALL_H
#define HEARTHI_MPI_CALL_H

#include <stdbool.h>

/* Initial-exec: reading it in a signal handler must not allocate. */
extern _Thread_local __attribute__((tls_model("initial-exec")))
const char *hearthi_mpi_call;

/* Returns what to give hearthi_mpi_call_leave(). */
static inline const char *
hearthi_mpi_call_enter(const char *call)
{
    const char *outer = hearthi_mpi_call;

    hearthi_mpi_call = call;
    return outer;
}

static inline void
hearthi_mpi_call_leave(const char *outer)
{
    hearthi_mpi_call = outer;
}

/* ---- exclusion ----
 *
 * Operations of the program during which no thread of Hearth's may be inside
 * MPI: file requests of Open MPI 4.1, whose progress engine walks their list
 * without a lock.  The thread of a gateway between clusters does not heed
 * this: a rank that takes part in such an operation may wait for it
 * (doc/beside.md). */

/* Around such an operation, by any thread: the first waits until a thread of
 * Hearth's has left MPI, which it does in microseconds. */
void hearthi_mpi_exclusion_begin(void);
void hearthi_mpi_exclusion_end(void);

/* Is such an operation under way? */
bool hearthi_mpi_exclusion_is(void);

/* Before Hearth's thread is there: none is known of. */
void hearthi_mpi_exclusion_open(void);

/* Around what Hearth's one thread does in MPI: it does not if that is false.
 */
bool hearthi_mpi_exclusion_enter(void);
void hearthi_mpi_exclusion_leave(void);

#endif
