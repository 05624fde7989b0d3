/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Collectives of start and end.  A rank that waits in them gives its core to
 * others: MPICH 4.0.2 (ch4) never does inside a blocking call, so that with 32
 * ranks on two cores each MPI_Barrier took 200 ms, and hearth_init calls some
 * thirty collectives.
 */
#ifndef HEARTHI_COLLECTIVE_H
#define HEARTHI_COLLECTIVE_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>

/* Until n requests are done; serves no other rank meanwhile. */
void hearthi_collective_wait(MPI_Request *request, int n);

/* As MPI_Barrier, MPI_Bcast, MPI_Allgather (of so many bytes each) and
 * MPI_Allreduce. */
void hearthi_collective(MPI_Comm comm);
void hearthi_collective_bcast(void *at, size_t bytes, int root, MPI_Comm comm);
void hearthi_collective_gather(const void *mine, size_t bytes, void *all,
                               MPI_Comm comm);
void hearthi_collective_reduce(const void *mine, void *all, int n,
                               MPI_Datatype type, MPI_Op op, MPI_Comm comm);

/* Over all ranks of all clusters, which wait by `wait`: a barrier, and
 * MPI_Allreduce. */
void hearthi_all_barrier(void (*wait)(MPI_Request *request, int n));
void hearthi_all_reduce(const void *mine, void *all, int n, MPI_Datatype type,
                        MPI_Op op, void (*wait)(MPI_Request *request, int n));

/* MPI_Allreduce of one int over the ranks of this cluster, and over all. */
int hearthi_collective_here(int mine, MPI_Op op);
int hearthi_collective_int(int mine, MPI_Op op);

/* The first rank of comm for which it is true, or their number: the one that
 * speaks for all. */
int hearthi_collective_first(bool is, MPI_Comm comm);

/* MPI_Sendrecv over all ranks of so many bytes each. */
void hearthi_collective_swap(const void *mine, int to, void *theirs, int from,
                             size_t bytes, int tag);

/* The two in another call, with tags of its own, one a round, and its way to
 * wait. */
struct hearthi_collective_way {
    const char *call;
    MPI_Comm    comm;
    int         tag;
    void (*wait)(MPI_Request *request, int n);
};
void hearthi_collective_gather_by(const struct hearthi_collective_way *way,
                                  const void *mine, size_t bytes, void *all);
void hearthi_collective_swap_by(const struct hearthi_collective_way *way,
                                const void *mine, int to, void *theirs,
                                int from, size_t bytes, int round);

/* MPI_Comm_dup. */
MPI_Comm hearthi_collective_dup(MPI_Comm comm);

/* Groups of one job make their windows one after the other.  Collective. */
void hearthi_window_order_begin(void);
void hearthi_window_order_end(void);

#endif
