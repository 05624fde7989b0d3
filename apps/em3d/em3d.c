/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * EM3D: electromagnetic waves on an irregular bipartite graph.
 *
 * Problem: a value in each of n nodes of the electric field (E) and n of the
 * magnetic one (H).  A node has `degree` neighbours, all of the other kind,
 * and from its value in each iteration the weighted sum of theirs is
 * subtracted: first in all E nodes, then in all H nodes.  Each neighbour is
 * drawn at random, with a probability of `remote` percent among the nodes of
 * the other ranks and else among those of the node's own.
 *
 * Source: EM3D of Split-C (Culler, Dusseau, Goldstein, Krishnamurthy,
 * Lumetta, von Eicken, Yelick: Parallel Programming in Split-C,
 * Supercomputing 1993).  As there, the graph depends on the number of ranks;
 * one rank has no remote neighbours.  The sizes by default are Hearth's own.
 *
 * Sharing: the values, in two arrays in blocks.  A rank stores to the nodes
 * at home on it, and reads wherever their neighbours are; barriers part the
 * half iterations.  The graph does not change, and nobody but its rank reads
 * a node's edges, so that they are in private memory.
 *
 * Limit: with many remote edges a node of Hearth soon needs every page of the
 * other ranks' values, which cross the network once in a half iteration:
 * whole pages even when few values in them count, which is what --remote
 * shows.  Below that, random access to the values.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "ghosts.h"

static long nodes, degree, remote, iterations;

static const struct app_option options[] = {
    APP_NUMBER('n', "nodes", &nodes, 1 << 18, 1 << 14, 1, 1 << 30,
               "nodes of each kind"),
    APP_NUMBER('d', "degree", &degree, 16, 8, 1, 1024, "neighbours of a node"),
    APP_NUMBER('r', "remote", &remote, 20, 20, 0, 100,
               "percent of neighbours on other ranks"),
    APP_NUMBER('i', "iterations", &iterations, 100, 10, 0, 1L << 40,
               "iterations of two half sweeps"),
};

enum field { E, H };

/* The part that has node i, of so many nearly equal parts; see app_part(). */
static int
part_find(size_t i, int parts)
{
    int part = (int)(i / ((size_t)nodes / (size_t)parts + 1));

    while (app_part((size_t)nodes, part + 1, parts) <= i)
        part++;
    return part;
}

/* A neighbour of node i, by two random numbers in [0, 1). */
static uint32_t
neighbour_draw(size_t i, int parts, double which, double where)
{
    const int    part = part_find(i, parts);
    const size_t first = app_part((size_t)nodes, part, parts);
    const size_t own = app_part((size_t)nodes, part + 1, parts) - first;
    const size_t others = (size_t)nodes - own;
    size_t       j;

    if (others == 0 || which >= (double)remote / 100)
        return (uint32_t)(first + (size_t)(where * (double)own));
    j = (size_t)(where * (double)others);
    return (uint32_t)(j < first ? j : j + own);
}

/* Weights are in [-1/2, 1/2) / degree, so that values stay small. */
static struct edges
edges_make(const struct app_run *run, enum field field, size_t from, size_t to)
{
    const size_t d = (size_t)degree, count = (to - from) * d;
    struct edges e = { from, to, (size_t)nodes, d, NULL, NULL };

    e.neighbour = app_private(run, count, sizeof *e.neighbour);
    e.weight = app_private(run, count, sizeof *e.weight);
    for (size_t k = 0; k < count; k++) {
        uint64_t random =
            2 * (uint64_t)nodes +
            3 * (((uint64_t)field * (size_t)nodes + from) * d + k);

        e.neighbour[k] =
            neighbour_draw(from + k / d, run->ranks, app_random(random),
                           app_random(random + 1));
        e.weight[k] = (app_random(random + 2) - 0.5) / (double)degree;
    }
    return e;
}

static void
edges_free(struct edges *e)
{
    free(e->neighbour);
    free(e->weight);
}

static double
node_start(enum field field, size_t i)
{
    return app_random((uint64_t)field * (size_t)nodes + i);
}

/* The kernel: value[0] is that of the first node of the edges. */
static void
nodes_update(const struct edges *e, double *restrict value,
             const double *restrict other)
{
    const size_t    d = (size_t)degree;
    const uint32_t *neighbour = e->neighbour;
    const double   *weight = e->weight;

    for (size_t i = 0; i < e->to - e->from; i++) {
        double sum = 0;

        for (size_t k = 0; k < d; k++)
            sum += weight[k] * other[neighbour[k]];
        value[i] -= sum;
        neighbour += d;
        weight += d;
    }
}

static void
field_compare(struct app_run *run, enum field field, const double *got,
              const double *want)
{
    for (size_t i = 0; i < (size_t)nodes; i++)
        if (memcmp(&got[i], &want[i], sizeof got[i]) != 0) {
            app_verdict(run, false, "%c node %zu is %.17g, sequentially %.17g",
                        "EH"[field], i, got[i], want[i]);
            return;
        }
}

/* Rank 0 compares all values with those of a sequential run, bit for bit. */
static void
fields_verify(struct app_run *run, double *const got[2])
{
    struct edges edges[2];
    double      *want[2];

    if (!run->verify || run->rank != 0)
        return;
    for (int f = E; f <= H; f++) {
        edges[f] = edges_make(run, (enum field)f, 0, (size_t)nodes);
        want[f] = app_private(run, (size_t)nodes, sizeof *want[f]);
        for (size_t i = 0; i < (size_t)nodes; i++)
            want[f][i] = node_start((enum field)f, i);
    }
    for (long n = 0; n < iterations; n++) {
        nodes_update(&edges[E], want[E], want[H]);
        nodes_update(&edges[H], want[H], want[E]);
    }
    for (int f = E; f <= H; f++) {
        field_compare(run, (enum field)f, got[f], want[f]);
        free(want[f]);
        edges_free(&edges[f]);
    }
}

/* One half iteration. */
static void
half_run(const struct edges *e, double *const value[2], enum field field)
{
    const double *other = value[field == E ? H : E];

    if (remote > 0)
        hearth_prefetch(other, (size_t)nodes * sizeof *other);
    nodes_update(e, value[field] + e->from, other);
    hearth_barrier();
}

static void
em3d_run(struct app_run *run)
{
    const size_t n = (size_t)nodes;
    struct edges edges[2];
    double      *value[2];
    size_t       from, to;

    for (int f = E; f <= H; f++) {
        value[f] = app_alloc(run, n, sizeof *value[f], hearth_block());
        app_home_rows(run, value[f], n, sizeof *value[f], &from, &to);
        edges[f] = edges_make(run, (enum field)f, from, to);
        for (size_t i = from; i < to; i++)
            value[f][i] = node_start((enum field)f, i);
    }
    app_start(run);
    for (long i = 0; i < iterations; i++) {
        half_run(&edges[E], value, E);
        half_run(&edges[H], value, H);
        app_progress(run, "iteration", i + 1, iterations);
    }
    app_stop(run);

    fields_verify(run, value);
    app_barrier(run);
    for (int f = H; f >= E; f--) {
        hearth_free(value[f]);
        edges_free(&edges[f]);
    }
}

/* Bring both fields to rank 0 and verify there. */
static void
mpi_verify(struct app_run *run, double *const value[2])
{
    const size_t n = (size_t)nodes, ranks = (size_t)run->ranks;
    int         *count = app_private(run, ranks, sizeof *count);
    int         *place = app_private(run, ranks, sizeof *place);
    double      *all[2];

    for (int r = 0; r < run->ranks; r++) {
        place[r] = (int)app_part(n, r, run->ranks);
        count[r] = (int)app_part(n, r + 1, run->ranks) - place[r];
    }
    for (int f = E; f <= H; f++) {
        all[f] = app_private(run, run->rank == 0 ? n : 0, sizeof *all[f]);
        MPI_Gatherv(value[f], count[run->rank], MPI_DOUBLE, all[f], count,
                    place, MPI_DOUBLE, 0, MPI_COMM_WORLD);
    }
    fields_verify(run, all);
    free(all[H]);
    free(all[E]);
    free(place);
    free(count);
}

static void
em3d_run_mpi(struct app_run *run)
{
    const size_t  n = (size_t)nodes;
    const size_t  from = app_part(n, run->rank, run->ranks);
    const size_t  own = app_part(n, run->rank + 1, run->ranks) - from;
    struct edges  edges[2];
    struct ghosts ghosts[2]; /* [E]: what the edges of E nodes need of H */
    double       *value[2];

    for (int f = E; f <= H; f++) {
        edges[f] = edges_make(run, (enum field)f, from, from + own);
        ghosts[f] = ghosts_make(run, &edges[f]);
    }
    for (int f = E; f <= H; f++) {
        size_t copies = (size_t)ghosts_count(run, &ghosts[f == E ? H : E]);

        value[f] = app_private(run, own + copies, sizeof *value[f]);
        for (size_t i = 0; i < own; i++)
            value[f][i] = node_start((enum field)f, from + i);
    }
    app_start(run);
    for (long i = 0; i < iterations; i++) {
        ghosts_update(run, &ghosts[E], value[H], own);
        nodes_update(&edges[E], value[E], value[H]);
        ghosts_update(run, &ghosts[H], value[E], own);
        nodes_update(&edges[H], value[H], value[E]);
        app_progress(run, "iteration", i + 1, iterations);
    }
    app_stop(run);
    if (run->verify)
        mpi_verify(run, value);
    for (int f = H; f >= E; f--) {
        free(value[f]);
        ghosts_free(&ghosts[f]);
        edges_free(&edges[f]);
    }
}

static const char *
em3d_check(const struct app_run *run)
{
    if (run->ranks > nodes)
        return "--nodes is less than the number of ranks";
    return NULL;
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "em3d",
        .about = "Electromagnetic waves on an irregular bipartite graph.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = em3d_check,
        .run = em3d_run,
        .run_mpi = em3d_run_mpi,
    };

    return app_main(&app, argc, argv);
}
