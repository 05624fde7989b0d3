/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether hearth_init() was given a communicator that can be right.
 */
#ifndef HEARTHI_LAUNCH_CHECK_H
#define HEARTHI_LAUNCH_CHECK_H

#include <mpi.h>

/* A line if this process is alone though the launcher started several. */
void hearthi_launcher_check(void);

/* Ends the job if it is of two groups. */
void hearthi_intercommunicator_check(MPI_Comm comm);

#endif
