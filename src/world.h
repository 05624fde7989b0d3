/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who is here, as the layers above the seam know it: ranks, nodes, threads.
 * Filled once by hearth_init() and read by everybody afterwards.
 */
#ifndef HEARTHI_WORLD_H
#define HEARTHI_WORLD_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "cluster.h"

struct hearthi_world {
    bool       up;       /* between hearth_init and hearth_finalize */
    bool       owns_mpi; /* hearth_init initialised MPI */
    bool       multiple; /* MPI_THREAD_MULTIPLE: any thread may fault */
    bool       threads;  /* so it is for some rank, of whichever cluster */
    bool       scope;    /* scope consistency */
    MPI_Comm   comm;     /* all ranks of this cluster */
    int        rank, size;
    int        node, nodes;
    const int *node_of;           /* of each rank */
    const int *node_rank_of;      /* rank within its node, of each rank */
    int        clusters, cluster; /* jobs that make up the world, and ours */
    int        first;             /* number of this cluster's first rank */
    const int *first_of;          /* of each cluster's, and behind the last */

    /* Bytes of each rank go to all, in the order of ranks.  NULL where one
     * cluster is all there is, and MPI does it.  Collective. */
    void (*gather)(const void *mine, size_t bytes, void *all);
    const void *main_thread; /* identity of hearth_init's caller */
};

extern struct hearthi_world hearthi_world;

/* Does this rank load and store directly what a rank is home of? */
static inline bool
hearthi_home_is_near(int rank)
{
    return hearthi_world.node_of[rank] == hearthi_world.node;
}

/* Find out who is here; `hides`: the last rank of comm is not the program's.
 * Collective. */
void hearthi_world_open(MPI_Comm comm, bool hides);
void hearthi_world_close(void);

/* The cluster that a rank is in.  Behind all ranks there is a number for each
 * cluster's gateway. */
int hearthi_cluster_of(int rank);

/* For a collective call whose ways are those of one MPI job: end the job if
 * there are several. */
void hearthi_one_cluster(const char *call);

/* Identity of the calling thread; safe in a signal handler. */
const void *hearthi_thread(void);

#endif
