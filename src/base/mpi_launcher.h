/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the launcher of a job says to the processes that it has started.  No
 * MPI call.
 */
#ifndef HEARTHI_MPI_LAUNCHER_H
#define HEARTHI_MPI_LAUNCHER_H

#include <stdbool.h>

#include "mpi_library.h"

/* The names of two environment variables: how many processes there are, and
 * which one this is. */
struct hearthi_mpi_launcher {
    const char *count, *number;
};

/* The one that has started this process, which uses a library of that kind;
 * NULL if none says so. */
const struct hearthi_mpi_launcher *
hearthi_mpi_launcher_find(enum hearthi_mpi_kind kind);

/* With the launcher of another MPI every process has a world of its own and
 * believes to be rank 0: as many jobs, each of which would say that all is
 * well.  Of a process that is alone in its world: how many the launcher has
 * started, if that is more than one, else 0. */
int hearthi_mpi_launcher_others(const struct hearthi_mpi_launcher *launcher);

/* Is this the process of them that has something to say? */
bool
hearthi_mpi_launcher_is_first(const struct hearthi_mpi_launcher *launcher);

/* What to do about it, for a line. */
const char *
hearthi_mpi_launcher_remedy(const struct hearthi_mpi_launcher *launcher);

/* Does a launcher of this name, which may have words behind it, take options
 * of its MPI, or only environment variables? */
bool hearthi_mpi_launcher_takes_words(const char *name);

#endif
