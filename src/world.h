/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who is here: ranks, nodes, communicators, threads.  Filled once by
 * hearth_init() and read by everybody afterwards.
 */
#ifndef HEARTHI_WORLD_H
#define HEARTHI_WORLD_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/spin.h"

struct hearthi_world {
    bool        up;         /* between hearth_init and hearth_finalize */
    bool        owns_mpi;   /* hearth_init initialised MPI */
    bool        multiple;   /* MPI_THREAD_MULTIPLE: any thread may fault */
    bool        scope;      /* scope consistency */
    MPI_Comm    comm;       /* all ranks; our own duplicate */
    MPI_Comm    node_comm;  /* ranks of this node */
    MPI_Comm    leaders;    /* first rank of each node; null on the others */
    int         rank, size; /* in comm */
    int         node, nodes;
    int         node_rank, node_size; /* in node_comm */
    int         machine_rank;
    int         machine_ranks; /* ranks on this machine, virtual or not */
    int         cores;         /* of this machine */
    int        *node_of;       /* of each rank */
    int        *machine_of;    /* of each rank: the lowest rank there */
    int        *node_rank_of;  /* rank within its node, of each rank */
    int        *node_member;   /* rank in comm of each rank of this node */
    const void *main_thread;   /* identity of hearth_init's caller */
};

extern struct hearthi_world hearthi_world;

/* Are all ranks on one machine?  Then they are for each other alone. */
static inline bool
hearthi_one_machine(void)
{
    return hearthi_world.machine_ranks == hearthi_world.size;
}

/* Do ranks share cores?  Until it is known which are here, all may be. */
static inline bool
hearthi_crowded(void)
{
    return hearthi_world.machine_ranks > hearthi_world.cores;
}

/* Duplicate comm, find the nodes.  Collective. */
void hearthi_world_open(MPI_Comm comm);
void hearthi_world_close(void);

/* Identity of the calling thread; safe in a signal handler. */
const void *hearthi_thread(void);

/* End the job when an MPI call fails: who first knows prints the line. */
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
#define HEARTHI_SPINS(call) \
    (hearthi_spin_begin(hearthi_crowded()), hearthi_spun(call))
#endif

#define HEARTHI_MPI_SPINS(call) hearthi_mpi_check(#call, HEARTHI_SPINS(call))

#endif
