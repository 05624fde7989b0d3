/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "shm_area.h"

#include <stdint.h>
#include <string.h>

#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "space/heap.h"

/* The first rank of the node allocates for all; size 0 is broken in places,
 * so the others ask for a line. */
static char *
shared_open(struct hearthi_shm_area *a)
{
    MPI_Aint size;
    int      unit;
    void    *mine, *base;

    HEARTHI_MPI_SPINS(MPI_Win_allocate_shared(
        hearthi_cluster.node_rank == 0 ? (MPI_Aint)a->bytes + 64 : 64, 1,
        MPI_INFO_NULL, hearthi_cluster.node_comm, &mine, &a->window));
    HEARTHI_MPI(MPI_Win_shared_query(a->window, 0, &size, &unit, &base));
    return (char *)(((uintptr_t)base + 63) & ~(uintptr_t)63);
}

void
hearthi_shm_area_open(struct hearthi_shm_area *a, size_t bytes, size_t zero)
{
    a->bytes = bytes;
    a->window = MPI_WIN_NULL;
    if (hearthi_cluster.node_size == 1) {
        a->base = hearthi_sparse(bytes); /* zeroed */
        return;
    }
    a->base = shared_open(a);
    if (hearthi_cluster.node_rank == 0)
        memset(a->base, 0, zero);
    hearthi_collective(hearthi_cluster.node_comm);
}

void
hearthi_shm_area_close(struct hearthi_shm_area *a)
{
    if (a->window != MPI_WIN_NULL)
        HEARTHI_SPINS(MPI_Win_free(&a->window));
    else
        hearthi_sparse_free(a->base, a->bytes);
    a->base = NULL;
    a->window = MPI_WIN_NULL;
}
