/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <mpi.h>
#include <stdlib.h>

#include "ghosts.h"

/* Mark the nodes that are needed, then give each a place behind `own`. */
static uint32_t *
places_make(const struct app_run *run, const struct edges *e, struct ghosts *g)
{
    const size_t n = e->nodes, count = (e->to - e->from) * e->degree;
    uint32_t    *place = app_private(run, n, sizeof *place);
    int          next = 0;

    for (size_t k = 0; k < count; k++)
        place[e->neighbour[k]] = 1;
    for (int r = 0; r < run->ranks; r++) {
        g->get_at[r] = next;
        for (size_t i = app_part(n, r, run->ranks);
             r != run->rank && i < app_part(n, r + 1, run->ranks); i++)
            if (place[i] != 0)
                place[i] = (uint32_t)(e->to - e->from) + (uint32_t)next++;
        g->get[r] = next - g->get_at[r];
    }
    for (size_t i = e->from; i < e->to; i++)
        place[i] = (uint32_t)(i - e->from);
    return place;
}

static int
sum(const int *x, int count)
{
    int s = 0;

    for (int i = 0; i < count; i++)
        s += x[i];
    return s;
}

/* Tell the others which of their nodes are needed here. */
static void
ghosts_tell(const struct app_run *run, struct ghosts *g, const int *wanted)
{
    const int ranks = run->ranks;
    size_t    mine;

    MPI_Alltoall(g->get, 1, MPI_INT, g->send, 1, MPI_INT, MPI_COMM_WORLD);
    for (int r = 1; r < ranks; r++)
        g->send_at[r] = g->send_at[r - 1] + g->send[r - 1];
    mine = (size_t)sum(g->send, ranks);
    g->mine = app_private(run, mine, sizeof *g->mine);
    g->packed = app_private(run, mine, sizeof *g->packed);
    MPI_Alltoallv(wanted, g->get, g->get_at, MPI_INT, g->mine, g->send,
                  g->send_at, MPI_INT, MPI_COMM_WORLD);
}

struct ghosts
ghosts_make(const struct app_run *run, struct edges *e)
{
    const size_t  n = e->nodes, own = e->to - e->from;
    const size_t  ranks = (size_t)run->ranks;
    struct ghosts g = { .mine = NULL };
    uint32_t     *place;
    int          *wanted;

    g.send = app_private(run, ranks, sizeof *g.send);
    g.send_at = app_private(run, ranks, sizeof *g.send_at);
    g.get = app_private(run, ranks, sizeof *g.get);
    g.get_at = app_private(run, ranks, sizeof *g.get_at);
    place = places_make(run, e, &g);
    wanted = app_private(run, (size_t)sum(g.get, run->ranks), sizeof *wanted);
    for (int r = 0; r < run->ranks; r++) {
        const size_t first = app_part(n, r, run->ranks);

        for (size_t i = first; i < app_part(n, r + 1, run->ranks); i++)
            if (r != run->rank && place[i] != 0)
                wanted[place[i] - own] = (int)(i - first);
    }
    ghosts_tell(run, &g, wanted);
    for (size_t k = 0; k < own * e->degree; k++)
        e->neighbour[k] = place[e->neighbour[k]];
    free(wanted);
    free(place);
    return g;
}

void
ghosts_free(struct ghosts *g)
{
    free(g->packed);
    free(g->mine);
    free(g->get_at);
    free(g->get);
    free(g->send_at);
    free(g->send);
}

void
ghosts_update(const struct app_run *run, struct ghosts *g, double *value,
              size_t own)
{
    const int mine = sum(g->send, run->ranks);

    for (int i = 0; i < mine; i++)
        g->packed[i] = value[g->mine[i]];
    MPI_Alltoallv(g->packed, g->send, g->send_at, MPI_DOUBLE, value + own,
                  g->get, g->get_at, MPI_DOUBLE, MPI_COMM_WORLD);
}

size_t
ghosts_count(const struct app_run *run, const struct ghosts *g)
{
    return (size_t)sum(g->get, run->ranks);
}
