/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who is here, as the layers above the seam know it: ranks, nodes, threads.
 * Filled once by hearth_init() and read by everybody afterwards.
 */
#ifndef HEARTHI_WORLD_H
#define HEARTHI_WORLD_H

#include <mpi.h>
#include <stdbool.h>

#include "cluster.h"

struct hearthi_world {
    bool        up;       /* between hearth_init and hearth_finalize */
    bool        owns_mpi; /* hearth_init initialised MPI */
    bool        multiple; /* MPI_THREAD_MULTIPLE: any thread may fault */
    bool        scope;    /* scope consistency */
    MPI_Comm    comm;     /* all ranks, for what together.h offers */
    int         rank, size;
    int         node, nodes;
    const int  *node_of;      /* of each rank */
    const int  *node_rank_of; /* rank within its node, of each rank */
    const void *main_thread;  /* identity of hearth_init's caller */
};

extern struct hearthi_world hearthi_world;

/* Find out who is here.  Collective. */
void hearthi_world_open(MPI_Comm comm);
void hearthi_world_close(void);

/* Identity of the calling thread; safe in a signal handler. */
const void *hearthi_thread(void);

#endif
