/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "launch_check.h"

#include <stdlib.h>

#include "base/report.h"

/* With the launcher of another MPI every process has a world of its own and
 * believes to be rank 0.  The launchers of Open MPI and MPICH say how many
 * they have started. */
void
hearthi_launcher_check(void)
{
    static const char *const counts[] = { "OMPI_COMM_WORLD_SIZE", "PMI_SIZE" };
    int                      size;

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    for (int i = 0; size == 1 && i < 2; i++) {
        const char *count = getenv(counts[i]);

        if (count != NULL && atoi(count) > 1)
            hearthi_warn("hearth_init",
                         "the launcher started %s processes (%s), but this "
                         "one is alone in MPI_COMM_WORLD: use the mpirun of "
                         "the MPI that the program was built with",
                         count, counts[i]);
    }
}

void
hearthi_intercommunicator_check(MPI_Comm comm)
{
    int two_groups;

    MPI_Comm_test_inter(comm, &two_groups);
    if (two_groups)
        hearthi_fatal("hearth_init",
                      "the communicator is an intercommunicator, of two "
                      "groups: make one of both by MPI_Intercomm_merge");
}
