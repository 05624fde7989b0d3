/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which MPI there is, and how it was started.  MPI_Init makes MPI_COMM_WORLD
 * and MPI_COMM_SELF.  A program that opens sessions instead has neither, only
 * the communicators that it makes of their groups.
 */
#ifndef HEARTHI_SESSION_H
#define HEARTHI_SESSION_H

#include <mpi.h>
#include <stdbool.h>

#include "base/mpi_library.h"

/* The library of the process, by what it says of itself; it may be another one
 * than that with which this was built. */
struct hearthi_mpi_library hearthi_mpi_library_loaded(void);

/* The first line of what it says, without MPICH's tabs. */
void hearthi_mpi_library_line(char line[HEARTHI_MPI_TEXT]);

/* Are MPI_COMM_WORLD and MPI_COMM_SELF there? */
bool hearthi_mpi_has_world(void);

/* Has the program opened one, by calls that come through libhearth? */
bool hearthi_sessions_are_open(void);

/* Processes of this job, or 0 if MPI does not tell. */
int hearthi_job_size(void);

/* Called as the program finalises the last session of a process without
 * MPI_COMM_WORLD. */
extern void (*hearthi_sessions_end_hook)(void);

#if HAVE_DECL_MPI_SESSION_INIT
/* In front of the calls of the same names. */
int hearthi_session_init(int (*next)(MPI_Info, MPI_Errhandler, MPI_Session *),
                         MPI_Info info, MPI_Errhandler handler,
                         MPI_Session *session);
int hearthi_session_finalize(int (*next)(MPI_Session *), MPI_Session *session);
#endif

#endif
