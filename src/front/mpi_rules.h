/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The words of mpi.table's counts and conditions.
 */
#ifndef HEARTHI_MPI_RULES_H
#define HEARTHI_MPI_RULES_H

#include <mpi.h>
#include <stdbool.h>

#include "front/datatype_walk.h"
#include "front/mpi_next.h"

static inline bool
is_inter(MPI_Comm comm)
{
    int inter;

    hearthi_next_pmpi.Comm_test_inter(comm, &inter);
    return inter != 0;
}

static inline int
rank_in(MPI_Comm comm)
{
    int rank;

    hearthi_next_pmpi.Comm_rank(comm, &rank);
    return rank;
}

/* Ranks of this side. */
static inline MPI_Count
members(MPI_Comm comm)
{
    int n;

    hearthi_next_pmpi.Comm_size(comm, &n);
    return n;
}

/* Ranks with which data is exchanged: of an intercommunicator, the others. */
static inline MPI_Count
peers(MPI_Comm comm)
{
    int n;

    if (!is_inter(comm))
        return members(comm);
    hearthi_next_pmpi.Comm_remote_size(comm, &n);
    return n;
}

/* Of an intercommunicator, the root says MPI_ROOT, and its neighbours, which
 * have no part in the call, MPI_PROC_NULL. */
static inline bool
contributes(int root)
{
    return root != MPI_ROOT && root != MPI_PROC_NULL;
}

static inline bool
is_root(int root, MPI_Comm comm)
{
    return root == MPI_ROOT ||
           (root >= 0 && !is_inter(comm) && rank_in(comm) == root);
}

#define sum(counts, comm) numbers_sum(HEARTHI_ARRAY(counts), comm)

static inline MPI_Count
numbers_sum(struct hearthi_numbers counts, MPI_Comm comm)
{
    MPI_Count all = 0;

    for (MPI_Count i = 0, n = members(comm); i < n; i++)
        all += hearthi_number(counts, i);
    return all;
}

/* What MPI_Reduce_scatter leaves here; in place, the input is there too. */
#define scattered(sbuf, counts, comm) \
    ((sbuf) == MPI_IN_PLACE ? sum(counts, comm) : (counts)[rank_in(comm)])

/* Neighbours that send to this rank (or that this rank sends to). */
static inline MPI_Count
neighbours(MPI_Comm comm, bool sending)
{
    int kind = MPI_UNDEFINED, rank, n = 0, in, out, weighted;

    hearthi_next_pmpi.Topo_test(comm, &kind);
    if (kind == MPI_CART) {
        hearthi_next_pmpi.Cartdim_get(comm, &n);
        return 2 * n;
    }
    if (kind == MPI_GRAPH) {
        rank = rank_in(comm);
        hearthi_next_pmpi.Graph_neighbors_count(comm, rank, &n);
        return n;
    }
    if (kind != MPI_DIST_GRAPH)
        return 0;
    hearthi_next_pmpi.Dist_graph_neighbors_count(comm, &in, &out, &weighted);
    return sending ? in : out;
}

static inline MPI_Count
sources(MPI_Comm comm)
{
    return neighbours(comm, true);
}

static inline MPI_Count
destinations(MPI_Comm comm)
{
    return neighbours(comm, false);
}

#endif
