/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Multigrid: V-cycles for Poisson's equation on a periodic cube.
 *
 * Problem: A u = v on n^3 points, A the Laplacian by 27 points, v zero but for
 * ten charges of +1, where the pseudo-random numbers of all points are
 * greatest, and ten of -1, where they are least.  From u = 0, four times: a
 * V-cycle from the finest grid to one of 2^3 points and back, and the residual
 * r = v - A u.  What is asked for is the L2 norm of the last residual.
 *
 * Source: kernel MG of the NAS Parallel Benchmarks (Bailey et al., The NAS
 * Parallel Benchmarks, report RNR-94-007, 1994, and NAS-95-020, 1995).
 *
 * Sharing: u, v and r of each level in an array of their own, in slabs of
 * planes.  A rank stores to the planes at home on it and reads one plane
 * beyond either end: one page run, as it would be one message.  A barrier is
 * between any two operators: three on each level on the way up, one on the
 * way down.  Grids of 16^3 points and less are not worth their barriers: every
 * rank reads all of the first one's residual, and computes all of them for
 * itself.
 *
 * Limit: memory bandwidth; each operator passes over two or three grids and
 * computes little for each point.  In class A, which takes 0.4 GiB of heap,
 * two ranks exchange planes of 512 KiB for slabs of 64 MiB.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include <hearth/hearth.h>

#include "common.h"
#include "cycle.h"
#include "npb.h"

static const char *class = "A";

static const struct app_option options[] = {
    NPB_OPTION(&class),
};

enum { ITERATIONS = 4 };

/* The norms are those of NPB's mg (2.3 to 3.4.2), which asks for 1e-8. */
static const struct problem {
    int    top; /* n is 2 to the power of this */
    double norm;
} problems[NPB_CLASSES] = {
    [NPB_S] = { 5, 0.5307707005734e-04 },
    [NPB_W] = { 7, 0.6467329375339e-05 },
    [NPB_A] = { 8, 0.2433365309069e-05 },
};

/* The timed section. */
static void
multigrid_iterate(struct multigrid *m)
{
    app_start(m->run);
    multigrid_residual(m);
    for (int i = 1; i <= ITERATIONS; i++) {
        multigrid_cycle(m);
        multigrid_residual(m);
        app_progress(m->run, "iteration", i, ITERATIONS);
    }
    app_stop(m->run);
}

/* The norm follows from the sums over each plane: the same for any ranks. */
static void
norm_verify(struct app_run *run, const struct problem *p, const double *square)
{
    const size_t n = (size_t)1 << p->top;
    double       sum = 0, norm;

    for (size_t k = 0; k < n; k++)
        sum += square[k];
    norm = sqrt(sum / ((double)n * (double)n * (double)n));
    if (run->verify && run->rank == 0)
        app_verdict(run, fabs(norm - p->norm) <= 1e-8 * p->norm,
                    "the norm of the residual is %.13e, not %.13e", norm,
                    p->norm);
    app_field(run, "points=%zu^3 norm=%.13e", n, norm);
}

static void
planes_prefetch(const struct grid *g, ptrdiff_t from, ptrdiff_t to)
{
    for (ptrdiff_t k = from; k < to; k++)
        hearth_prefetch(g->plane[k], grid_plane_bytes(g));
}

static void
heap_share(const struct app_run *run, const struct grid *g, ptrdiff_t from,
           ptrdiff_t to)
{
    const ptrdiff_t own = (ptrdiff_t)g->from, end = (ptrdiff_t)g->to;

    (void)run;
    hearth_barrier();
    planes_prefetch(g, from, to < own ? to : own);
    planes_prefetch(g, from > end ? from : end, to);
}

static void
heap_gather(const struct app_run *run, const struct grid *g)
{
    (void)run;
    hearth_barrier();
    hearth_prefetch(g->plane[0], g->n * grid_plane_bytes(g));
}

/* A shared grid, zero: each rank touches its own planes. */
static struct grid
heap_grid(const struct app_run *run, int level)
{
    const size_t n = (size_t)1 << level;
    struct grid  g = grid_make(run, n);

    grid_place(&g, app_alloc(run, n * n * n, sizeof(double), hearth_block()));
    app_home_rows(run, g.plane[0], n, grid_plane_bytes(&g), &g.from, &g.to);
    grid_zero(&g);
    return g;
}

static const struct memory heap = {
    .make = heap_grid,
    .free = hearth_free,
    .share = heap_share,
    .gather = heap_gather,
};

static void
heap_charge(const struct app_run *run, const struct grid *v)
{
    struct charges *all =
        app_alloc(run, (size_t)run->ranks, sizeof *all, hearth_on(0));
    struct charges c;

    charges_find(&all[run->rank], v);
    hearth_barrier();
    c = all[0];
    for (int r = 1; r < run->ranks; r++)
        charges_merge(&c, &all[r]);
    charges_put(&c, v);
    hearth_barrier();
    hearth_free(all);
}

static void
mg_run(struct app_run *run)
{
    const struct problem *p = &problems[npb_class(class)];
    struct multigrid      m = multigrid_make(run, &heap, p->top);
    double               *square =
        app_alloc(run, (size_t)1 << p->top, sizeof *square, hearth_on(0));

    heap_charge(run, &m.v);
    multigrid_iterate(&m);
    grid_square(&m.r[p->top], square);
    hearth_barrier();
    norm_verify(run, p, square);
    hearth_barrier();
    hearth_free(square);
    multigrid_free(&m);
}

/*
 * The plain MPI version: slabs with a copy of the plane beyond either end,
 * nested in each other, so that a rank has at least a plane of the bottom.
 */
static size_t
slab_first(const struct grid *g, int rank, int ranks)
{
    const size_t bottom = (size_t)1 << MG_ALONE;

    return app_part(bottom, rank, ranks) * (g->n / bottom);
}

/* Planes [from - 1, to + 1) of a level; of the bottom, which is gathered, and
 * on one rank all. */
static struct grid
slab_grid(const struct app_run *run, int level)
{
    struct grid  g = grid_make(run, (size_t)1 << level);
    const size_t area = g.n * g.n;
    size_t       planes;

    g.from = slab_first(&g, run->rank, run->ranks);
    g.to = slab_first(&g, run->rank + 1, run->ranks);
    if (run->ranks == 1 || level == MG_ALONE) {
        grid_place(&g, app_private(run, g.n * area, sizeof *g.base));
        return g;
    }
    planes = g.to - g.from + 2;
    g.base = app_private(run, planes * area, sizeof *g.base);
    for (size_t k = 0; k < planes; k++)
        (g.plane + g.from - 1)[k] = g.base + k * area;
    return g;
}

/* Send a plane to one neighbour and receive one from the other. */
static void
plane_exchange(const struct grid *g, double *send, int to, double *receive,
               int from)
{
    const int area = (int)(g->n * g->n);

    MPI_Sendrecv(send, area, MPI_DOUBLE, to, 0, receive, area, MPI_DOUBLE,
                 from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
slab_share(const struct app_run *run, const struct grid *g, ptrdiff_t from,
           ptrdiff_t to)
{
    const int ranks = run->ranks, rank = run->rank;
    const int below = (rank + ranks - 1) % ranks, above = (rank + 1) % ranks;
    double  **first = g->plane + g->from, **end = g->plane + g->to;

    if (ranks == 1)
        return;
    if (from < (ptrdiff_t)g->from)
        plane_exchange(g, end[-1], above, first[-1], below);
    if (to > (ptrdiff_t)g->to)
        plane_exchange(g, first[0], below, end[0], above);
}

static void
slab_gather(const struct app_run *run, const struct grid *g)
{
    const int ranks = run->ranks;
    int       count[1 << MG_ALONE], place[1 << MG_ALONE];

    for (int r = 0; r < ranks; r++) {
        place[r] = (int)(slab_first(g, r, ranks) * g->n * g->n);
        count[r] = (int)(slab_first(g, r + 1, ranks) * g->n * g->n) - place[r];
    }
    MPI_Allgatherv(MPI_IN_PLACE, 0, MPI_DATATYPE_NULL, g->base, count, place,
                   MPI_DOUBLE, MPI_COMM_WORLD);
}

static const struct memory slabs = {
    .make = slab_grid,
    .free = free,
    .share = slab_share,
    .gather = slab_gather,
};

static void
slab_charge(const struct app_run *run, const struct grid *v)
{
    struct charges all[1 << MG_ALONE], c;

    charges_find(&c, v);
    MPI_Allgather(&c, sizeof c, MPI_BYTE, all, sizeof c, MPI_BYTE,
                  MPI_COMM_WORLD);
    c = all[0];
    for (int r = 1; r < run->ranks; r++)
        charges_merge(&c, &all[r]);
    charges_put(&c, v);
}

static void
mg_run_mpi(struct app_run *run)
{
    const struct problem *p = &problems[npb_class(class)];
    struct multigrid      m = multigrid_make(run, &slabs, p->top);
    double                square[MG_MOST] = { 0 };

    slab_charge(run, &m.v);
    multigrid_iterate(&m);
    grid_square(&m.r[p->top], square);
    MPI_Allreduce(MPI_IN_PLACE, square, MG_MOST, MPI_DOUBLE, MPI_SUM,
                  MPI_COMM_WORLD);
    norm_verify(run, p, square);
    multigrid_free(&m);
}

static const char *
mg_check(const struct app_run *run)
{
    if (run->mpi && run->ranks > 1 << MG_ALONE)
        return "--mpi takes 16 ranks at most";
    return NULL;
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "mg",
        .about = "NAS MG: V-cycles for Poisson's equation.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = mg_check,
        .run = mg_run,
        .run_mpi = mg_run_mpi,
    };

    return app_main(&app, argc, argv);
}
