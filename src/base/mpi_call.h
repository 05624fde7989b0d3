/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The MPI call that the calling thread is in, the program's or Hearth's own,
 * or NULL.  MPI libraries cannot be entered again in the same thread: a page
 * fault there must be served without MPI.
 */
#ifndef HEARTHI_MPI_CALL_H
#define HEARTHI_MPI_CALL_H

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

#endif
