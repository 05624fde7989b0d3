/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What every call of Tmk.h checks first: the lowest file of this layer, which
 * stands on hearth.h.
 */
#ifndef HEARTHI_TMK_PROCESS_H
#define HEARTHI_TMK_PROCESS_H

#include <mpi.h>
#include <stdbool.h>

struct hearthi_tmk {
    bool     up;       /* between Tmk_startup and Tmk_exit */
    bool     owns_mpi; /* Tmk_startup initialised MPI */
    MPI_Comm comm;     /* for the end */
};

extern struct hearthi_tmk hearthi_tmk;

/* Every call but Tmk_startup() starts with this. */
void hearthi_tmk_require(const char *call);

/* The same, and ends the job if a number is not one of 0 .. count - 1. */
void hearthi_tmk_number(const char *call, const char *what, unsigned number,
                        unsigned count);

#endif
