/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Red-black successive over-relaxation.
 *
 * Problem: Laplace's equation on the unit square by the five-point formula,
 * a grid of rows x columns points whose outermost ones are fixed; so many
 * iterations of SOR in red-black order, with the best relaxation factor for
 * this grid (D. M. Young, Iterative Solution of Large Linear Systems, 1971,
 * chapter 6).  The boundary is the harmonic function x^2 - y^2 and the
 * interior begins random: a grid of zeros, as in older codes, would have a
 * DSM send empty diffs.
 *
 * Source: SOR as in the papers on TreadMarks, JIAJIA and Mocha.  As in
 * TreadMarks, red and black points are kept in two arrays, so that an update
 * reads and writes neighbours in memory and vectorises.
 *
 * Sharing: bands of rows.  A rank stores to the rows that are at home on it
 * and reads one row of each neighbour in each half iteration, after a
 * barrier: four page runs a rank and iteration, whatever the size.
 *
 * Limit: memory bandwidth.  The two half iterations are fused, black
 * following red one row behind, so that an iteration brings the grid through
 * the cache once and not twice; only the rows at the edges of the band wait
 * for the neighbours.  The arithmetic is that of two plain sweeps, to the
 * bit.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "common.h"

static long rows, columns, iterations;

static const struct app_option options[] = {
    APP_NUMBER('m', "rows", &rows, 4096, 512, 3, 1 << 20, "rows of the grid"),
    APP_NUMBER('n', "columns", &columns, 4096, 512, 3, 1 << 20,
               "columns of the grid"),
    APP_NUMBER('i', "iterations", &iterations, 400, 100, 0, 1L << 40,
               "iterations of two half sweeps"),
};

enum colour { RED, BLACK };

/*
 * The grid, or the part of it that begins with row `first`.  Point (i, j) is
 * red when i + j is even; it is number j / 2 in row i of its colour.
 */
struct grid {
    double *point[2]; /* by colour: rows of `width` doubles */
    size_t  first;
    size_t  width;
    double  keep, pull; /* x = keep * x + pull * (sum of the neighbours) */
};

static double *
grid_row(const struct grid *g, enum colour c, size_t i)
{
    return g->point[c] + (i - g->first) * g->width;
}

/* The geometry and the relaxation factor; the memory is the caller's. */
static struct grid
grid_shape(size_t first)
{
    double jacobi = (cos(APP_PI / (double)(rows - 1)) +
                     cos(APP_PI / (double)(columns - 1))) /
                    2; /* spectral radius of Jacobi's iteration */
    double      omega = 2 / (1 + sqrt(1 - jacobi * jacobi));
    struct grid g = {
        { NULL, NULL }, first, ((size_t)columns + 1) / 2, 1 - omega, omega / 4
    };

    return g;
}

static double
point_start(size_t i, size_t j)
{
    double y = (double)i / (double)(rows - 1);
    double x = (double)j / (double)(columns - 1);

    if (i == 0 || j == 0 || i == (size_t)rows - 1 || j == (size_t)columns - 1)
        return x * x - y * y;
    return app_random(i * (uint64_t)columns + j);
}

static void
rows_start(const struct grid *g, size_t from, size_t to)
{
    for (size_t i = from; i < to; i++)
        for (size_t j = 0; j < (size_t)columns; j++)
            grid_row(g, (i + j) % 2 == 0 ? RED : BLACK, i)[j / 2] =
                point_start(i, j);
}

/* Relax the points of one colour in row i: the kernel. */
static void
row_relax(const struct grid *g, enum colour c, size_t i)
{
    const enum colour other = c == RED ? BLACK : RED;
    const size_t      shift = (i + c) % 2; /* column of the row's first one */
    const size_t      from = 1 - shift, to = ((size_t)columns - shift) / 2;
    const double      keep = g->keep, pull = g->pull;
    double *restrict x = grid_row(g, c, i);
    const double *restrict up = grid_row(g, other, i - 1);
    const double *restrict down = grid_row(g, other, i + 1);
    const double *restrict right = grid_row(g, other, i) + shift;

#pragma omp simd
    for (size_t k = from; k < to; k++)
        x[k] = keep * x[k] +
               pull * ((up[k] + down[k]) + (right[k - 1] + right[k]));
}

/* The outermost rows of band [from, to), in one colour. */
static void
edges_relax(const struct grid *g, enum colour c, size_t from, size_t to)
{
    if (from < to)
        row_relax(g, c, from);
    if (from + 1 < to)
        row_relax(g, c, to - 1);
}

/* All other rows of the band, in both colours; red edges come before. */
static void
inside_relax(const struct grid *g, size_t from, size_t to)
{
    for (size_t i = from + 1; i + 1 < to; i++) {
        row_relax(g, RED, i);
        if (i > from + 1)
            row_relax(g, BLACK, i - 1);
    }
    if (from + 2 < to)
        row_relax(g, BLACK, to - 2);
}

/* The same iterations as two plain sweeps each, as a textbook has them. */
static void
sequential_run(struct app_run *run, struct grid *g)
{
    size_t m = (size_t)rows;

    *g = grid_shape(0);
    for (int c = RED; c <= BLACK; c++)
        g->point[c] = app_private(run, m * g->width, sizeof(double));
    rows_start(g, 0, m);
    for (long n = 0; n < iterations; n++)
        for (int c = RED; c <= BLACK; c++)
            for (size_t i = 1; i + 1 < m; i++)
                row_relax(g, (enum colour)c, i);
}

static void
row_compare(struct app_run *run, enum colour c, size_t i, const double *got,
            const double *want)
{
    for (size_t k = 0; k < ((size_t)columns + 1) / 2; k++)
        if (memcmp(&got[k], &want[k], sizeof got[k]) != 0) {
            app_verdict(run, false,
                        "row %zu column %zu is %.17g, sequentially %.17g", i,
                        2 * k + (i + c) % 2, got[k], want[k]);
            return;
        }
}

/* Rank 0 compares the whole grid with a sequential run, bit for bit. */
static void
grid_verify(struct app_run *run, const struct grid *g)
{
    struct grid want;

    if (!run->verify || run->rank != 0)
        return;
    sequential_run(run, &want);
    for (size_t i = 0; i < (size_t)rows && !run->failed; i++)
        for (int c = RED; c <= BLACK && !run->failed; c++)
            row_compare(run, (enum colour)c, i, grid_row(g, (enum colour)c, i),
                        grid_row(&want, (enum colour)c, i));
    free(want.point[RED]);
    free(want.point[BLACK]);
}

/* What a run needs to go on. */
static struct {
    double *point[2];
    long    done; /* iterations */
} own;

static void
sor_run(struct app_run *run)
{
    struct grid g = grid_shape(0);
    size_t      m = (size_t)rows, from, to;
    bool        again = app_saved(run, &own, sizeof own, "sor");

    for (int c = RED; c <= BLACK; c++) {
        if (!again)
            own.point[c] =
                app_alloc(run, m * g.width, sizeof(double), hearth_block());
        g.point[c] = own.point[c];
    }
    app_home_rows(run, g.point[RED], m, g.width * sizeof(double), &from, &to);
    if (!again)
        rows_start(&g, from, to);
    from = from > 1 ? from : 1;
    to = to < m - 1 ? to : m - 1;

    app_start(run);
    while (own.done < iterations) {
        edges_relax(&g, RED, from, to);
        inside_relax(&g, from, to);
        hearth_barrier(); /* the neighbours' red edges are there */
        edges_relax(&g, BLACK, from, to);
        hearth_barrier(); /* and their black ones */
        app_progress(run, "iteration", ++own.done, iterations);
        app_checkpoint(run, own.done, iterations);
    }
    app_stop(run);

    grid_verify(run, &g);
    app_barrier(run);
    hearth_free(g.point[BLACK]);
    hearth_free(g.point[RED]);
}

/*
 * The plain MPI version: the band and a ghost row on either side.  The edges
 * are relaxed first, so that the exchange of red rows is under way while the
 * inside is computed.
 */
struct exchange {
    MPI_Request request[4];
};

static void
exchange_init(struct exchange *x, const struct app_run *run,
              const struct grid *g, enum colour c, size_t from, size_t to)
{
    int above = run->rank > 0 ? run->rank - 1 : MPI_PROC_NULL;
    int below = run->rank + 1 < run->ranks ? run->rank + 1 : MPI_PROC_NULL;
    int n = (int)g->width;

    MPI_Recv_init(grid_row(g, c, from - 1), n, MPI_DOUBLE, above, c,
                  MPI_COMM_WORLD, &x->request[0]);
    MPI_Recv_init(grid_row(g, c, to), n, MPI_DOUBLE, below, c, MPI_COMM_WORLD,
                  &x->request[1]);
    MPI_Send_init(grid_row(g, c, from), n, MPI_DOUBLE, above, c,
                  MPI_COMM_WORLD, &x->request[2]);
    MPI_Send_init(grid_row(g, c, to - 1), n, MPI_DOUBLE, below, c,
                  MPI_COMM_WORLD, &x->request[3]);
}

static void
exchange_free(struct exchange *x)
{
    for (int i = 0; i < 4; i++)
        MPI_Request_free(&x->request[i]);
}

static void
mpi_iterate(struct app_run *run, const struct grid *g, size_t from, size_t to)
{
    struct exchange red, black;

    exchange_init(&red, run, g, RED, from, to);
    exchange_init(&black, run, g, BLACK, from, to);
    app_start(run);
    for (long n = 0; n < iterations; n++) {
        edges_relax(g, RED, from, to);
        MPI_Startall(4, red.request);
        inside_relax(g, from, to);
        MPI_Waitall(4, red.request, MPI_STATUSES_IGNORE);
        edges_relax(g, BLACK, from, to);
        MPI_Startall(4, black.request);
        MPI_Waitall(4, black.request, MPI_STATUSES_IGNORE);
        app_progress(run, "iteration", n + 1, iterations);
    }
    app_stop(run);
    exchange_free(&red);
    exchange_free(&black);
}

/* First row of a rank's band: the rows within the boundary, shared out. */
static size_t
band_first(int rank, int ranks)
{
    return 1 + app_part((size_t)rows - 2, rank, ranks);
}

/* Bring the bands, without the boundary rows, to the whole grid on rank 0. */
static void
bands_gather(const struct app_run *run, const struct grid *g,
             const struct grid *whole, enum colour c)
{
    size_t       from = band_first(run->rank, run->ranks);
    size_t       to = band_first(run->rank + 1, run->ranks);
    int         *count = app_private(run, (size_t)run->ranks, sizeof *count);
    int         *place = app_private(run, (size_t)run->ranks, sizeof *place);
    MPI_Datatype row;

    for (int r = 0; r < run->ranks; r++) {
        place[r] = (int)band_first(r, run->ranks);
        count[r] = (int)band_first(r + 1, run->ranks) - place[r];
    }
    MPI_Type_contiguous((int)g->width, MPI_DOUBLE, &row);
    MPI_Type_commit(&row);
    MPI_Gatherv(grid_row(g, c, from), (int)(to - from), row, whole->point[c],
                count, place, row, 0, MPI_COMM_WORLD);
    MPI_Type_free(&row);
    free(count);
    free(place);
}

static void
mpi_verify(struct app_run *run, const struct grid *g)
{
    struct grid whole = grid_shape(0);
    size_t      points = run->rank == 0 ? (size_t)rows * whole.width : 0;

    for (int c = RED; c <= BLACK; c++)
        whole.point[c] = app_private(run, points, sizeof(double));
    if (run->rank == 0) {
        rows_start(&whole, 0, 1);
        rows_start(&whole, (size_t)rows - 1, (size_t)rows);
    }
    for (int c = RED; c <= BLACK; c++)
        bands_gather(run, g, &whole, (enum colour)c);
    grid_verify(run, &whole);
    free(whole.point[RED]);
    free(whole.point[BLACK]);
}

static void
sor_run_mpi(struct app_run *run)
{
    size_t      from = band_first(run->rank, run->ranks);
    size_t      to = band_first(run->rank + 1, run->ranks);
    struct grid g = grid_shape(from - 1);

    for (int c = RED; c <= BLACK; c++)
        g.point[c] =
            app_private(run, (to - from + 2) * g.width, sizeof(double));
    rows_start(&g, from - 1, to + 1);
    mpi_iterate(run, &g, from, to);
    if (run->verify)
        mpi_verify(run, &g);
    free(g.point[RED]);
    free(g.point[BLACK]);
}

static const char *
sor_check(const struct app_run *run)
{
    if (run->mpi && run->ranks > rows - 2)
        return "--mpi needs a row within the boundary for every rank";
    return NULL;
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "sor",
        .about = "Red-black SOR for Laplace's equation on a grid.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = sor_check,
        .run = sor_run,
        .run_mpi = sor_run_mpi,
        .saves = true,
    };

    return app_main(&app, argc, argv);
}
