/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The hosts of jia.h and what every call of it checks first: the lowest file
 * of this layer, which stands on hearth.h and knows of the layers below only
 * how to end the job, wait and place pages.  Above it is tune, then sync
 * and message, alloc, and start on top of all.
 */
#ifndef HEARTHI_JIA_HOSTS_H
#define HEARTHI_JIA_HOSTS_H

#include <mpi.h>
#include <stdbool.h>

struct hearthi_jia {
    bool     up;       /* between jia_init and jia_exit */
    bool     owns_mpi; /* jia_init initialised MPI */
    MPI_Comm all;      /* every rank that was started */
    MPI_Comm comm;     /* the hosts, for messages and jia_wait */
};

extern struct hearthi_jia hearthi_jia;

/* Every call but jia_init() starts with this. */
void hearthi_jia_require(const char *call);

/* End the job if a number is not one of 0 .. count - 1. */
void hearthi_jia_number(const char *call, const char *what, int number,
                        int count);

#endif
