/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The MPI job that this rank is in: its ranks, nodes and communicators, as the
 * transports and the segments need them.  Filled once by hearth_init() and
 * only read afterwards.  What the layers above know of ranks is in world.h.
 */
#ifndef HEARTHI_JOB_H
#define HEARTHI_JOB_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

#include "base/thread.h"

struct hearthi_cluster {
    MPI_Comm comm;       /* all of its ranks; our own duplicate */
    MPI_Comm node_comm;  /* ranks of this node */
    MPI_Comm leaders;    /* first rank of each node; null on the others */
    int      rank, size; /* in comm */
    int      node, nodes;
    int      node_rank, node_size; /* in node_comm */
    int      machine_rank;
    int      machine_ranks; /* ranks on this machine, virtual or not */
    int      cores;         /* that the ranks of this machine have together */
    size_t   memory;        /* bytes that they may have together */
    size_t   memory_share;  /* this rank's part of them */
    bool     hides; /* the last rank is not the program's, a node of its own */
    int      system_page;  /* the largest of all machines */
    bool     threads;      /* some rank has MPI_THREAD_MULTIPLE */
    int      unthreaded;   /* the first that has it not, or size */
    int     *node_of;      /* of each rank */
    int     *machine_of;   /* of each rank: the lowest rank there */
    int     *node_rank_of; /* rank within its node, of each rank */
    int     *node_member;  /* rank in comm of each rank of this node */
};

extern struct hearthi_cluster hearthi_cluster;

/* Are all ranks on one machine?  Then they are for each other alone. */
static inline bool
hearthi_one_machine(void)
{
    return hearthi_cluster.machine_ranks == hearthi_cluster.size;
}

/* Do ranks share cores?  Until it is known which are here, all may be. */
static inline bool
hearthi_crowded(void)
{
    return hearthi_cluster.machine_ranks > hearthi_cluster.cores;
}

/* The program's ranks of this job. */
static inline int
hearthi_cluster_ranks(void)
{
    return hearthi_cluster.size - hearthi_cluster.hides;
}

/* This is the one that the program does not see. */
static inline bool
hearthi_cluster_hidden(void)
{
    return hearthi_cluster.rank == hearthi_cluster_ranks();
}

/* Find the nodes of comm, which is ours from now on; `hides`: its last rank is
 * not the program's.  Collective. */
void hearthi_cluster_open(MPI_Comm comm, bool hides);
void hearthi_cluster_close(void);

/* End the job when an MPI call fails: the rank that first knows prints the
 * line. */
void hearthi_mpi_failed(const char *call, int code);

static inline void
hearthi_mpi_check(const char *call, int code)
{
    if (code != MPI_SUCCESS)
        hearthi_mpi_failed(call, code);
}

#define HEARTHI_MPI(call) hearthi_mpi_check(#call, (call))

/* A call that makes or frees a communicator or a window.  MPICH 4.0 spins in
 * each of them: of 64 ranks on 2 cores hearth_init took 15 s so, and 2.9 s
 * when they yield.  Nothing else is called meanwhile: a signal ends some waits
 * early (signal(7)). */
#ifdef OPEN_MPI /* which yields where it has more ranks than cores */
#define HEARTHI_SPINS(call) (call)
#else
#define HEARTHI_SPINS(call)                        \
    (hearthi_yield_timer_begin(hearthi_crowded()), \
     hearthi_yield_timer_tick(call))
#endif

#define HEARTHI_MPI_SPINS(call) hearthi_mpi_check(#call, HEARTHI_SPINS(call))

#endif
