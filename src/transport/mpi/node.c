/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The memory that the ranks of a node use to synchronise.
 */
#include "config.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "mpi.h"
#include "space/heap.h"
#include "world.h"

static MPI_Win window = MPI_WIN_NULL;
static void   *private_area;
static size_t  bytes;

static size_t
line_up(size_t n)
{
    return (n + 63) & ~(size_t)63;
}

static size_t
head_bytes(int ranks)
{
    return line_up(sizeof(struct hearthi_node_area) +
                   (size_t)ranks * sizeof(struct hearthi_deposit));
}

/* The first rank of the node allocates for all; size 0 is broken in places,
 * so the others ask for a line. */
static void *
area_shared(int ranks)
{
    MPI_Aint size;
    int      unit;
    void    *mine, *base;

    HEARTHI_MPI(MPI_Win_allocate_shared(
        hearthi_world.node_rank == 0 ? (MPI_Aint)bytes + 64 : 64, 1,
        MPI_INFO_NULL, hearthi_world.node_comm, &mine, &window));
    HEARTHI_MPI(MPI_Win_shared_query(window, 0, &size, &unit, &base));
    base = (void *)line_up((uintptr_t)base);
    if (hearthi_world.node_rank == 0)
        memset(base, 0, head_bytes(ranks));
    HEARTHI_MPI(MPI_Barrier(hearthi_world.node_comm));
    return base;
}

void
hearthi_node_open(void)
{
    struct hearthi_mpi *m = &hearthi_mpi;
    int                 ranks = hearthi_world.node_size;
    char               *at;

    bytes = head_bytes(ranks) +
            (size_t)ranks * HEARTHI_DEPOSIT_MAX * sizeof *m->news +
            HEARTHI_NEWS_MAX * sizeof *m->news;
    if (ranks == 1)
        at = private_area = hearthi_sparse(bytes);
    else
        at = area_shared(ranks);
    m->node = (struct hearthi_node_area *)(void *)at;
    at += head_bytes(ranks);
    m->news = (struct hearthi_notice *)(void *)at;
    at += HEARTHI_NEWS_MAX * sizeof *m->news;
    m->deposited = calloc((size_t)ranks, sizeof *m->deposited);
    if (m->deposited == NULL)
        hearthi_fatal("hearth_init", "no memory");
    for (int r = 0; r < ranks; r++)
        m->deposited[r] = (struct hearthi_notice *)(void *)at +
                          (size_t)r * HEARTHI_DEPOSIT_MAX;
}

void
hearthi_node_close(void)
{
    if (window != MPI_WIN_NULL)
        MPI_Win_free(&window);
    hearthi_sparse_free(private_area, bytes);
    private_area = NULL;
    free(hearthi_mpi.deposited);
}
