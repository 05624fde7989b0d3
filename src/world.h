/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the layers above the seam know of this job: ranks, nodes, threads.
 * Filled once by hearth_init() and only read afterwards.
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
    int        home_node; /* the node whose home pages are loaded and stored
                             to directly: this one, or none (-1) where all
                             stores are looked at (HEARTH_RACES) */
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
    return hearthi_world.node_of[rank] == hearthi_world.home_node;
}

/* Find out which ranks there are; `hides`: the last rank of comm is not the
 * program's.  Collective. */
void hearthi_world_open(MPI_Comm comm, bool hides);
void hearthi_world_close(void);

/* The cluster that a rank is in.  Behind all ranks there is a number for each
 * cluster's gateway. */
int hearthi_cluster_of(int rank);

/* Is it in another one than this rank? */
static inline bool
hearthi_is_far(int rank)
{
    return hearthi_cluster_of(rank) != hearthi_world.cluster;
}

/* For a collective call whose ways are those of one MPI job: end the job if
 * there are several. */
void hearthi_one_cluster(const char *call);

/* A thread is told from another by the address of a thread-local: initial-
 * exec, so that a signal handler reads it without allocating. */
extern _Thread_local
    __attribute__((tls_model("initial-exec"))) char hearthi_identity;

/* Identity of the calling thread; safe in a signal handler. */
static inline const void *
hearthi_thread(void)
{
    return &hearthi_identity;
}

/* May this thread call MPI, at the level that MPI was initialised with? */
static inline bool
hearthi_may_call_mpi(void)
{
    return hearthi_world.multiple ||
           hearthi_thread() == hearthi_world.main_thread;
}

#endif
