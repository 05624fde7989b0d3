/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Blocked dense LU factorisation without pivoting.
 *
 * Problem: A = L U for a matrix of random elements in [-1, 1), its diagonal
 * raised by its order so that it is dominant and pivoting is not needed.
 *
 * Source: LU of SPLASH-2, contiguous blocks (Woo et al., The SPLASH-2
 * Programs, ISCA 1995), as in the papers on JIAJIA and Mocha: right-looking,
 * a barrier a step.
 *
 * Sharing: the blocks of a block column lie one after the other, column by
 * column, and a column is dealt to the ranks in turn with whole pages, so
 * that the layout makes its owner its home.  (SPLASH-2 deals single blocks;
 * of the papers' 512-byte blocks eight share a page, and the page would have
 * as many writers.)  Ranks store only to their own columns.  In step k all of
 * them read what is left of column k, which lies in one piece, was finished
 * before the barrier and never changes again: each page crosses to each node
 * once.
 *
 * Limit: with blocks of 8 the step's arithmetic is short (1024: half a
 * millisecond on two ranks), so the barrier, the fetch of column k and the
 * uneven share of columns show.  The owner of column k + 1 brings it up to
 * date and factors it first, within step k, so nobody waits for that.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include <hearth/hearth.h>

#include "block.h"
#include "common.h"

static long size, block;

static const struct app_option options[] = {
    APP_NUMBER('n', "size", &size, 1024, 512, 1, 1 << 16,
               "rows and columns of the matrix"),
    APP_NUMBER('b', "block", &block, 8, 8, 1, 1024,
               "rows and columns of a block"),
};

/*
 * Where blocks lie.  An order that is not a multiple of the block is filled
 * up with a unit matrix, which changes neither L nor U.
 */
struct layout {
    size_t b;      /* order of a block */
    size_t blocks; /* in a row or column */
    size_t stride; /* doubles from a block column to the next */
};

/* page: doubles in a page; block columns begin at pages. */
static struct layout
layout_make(size_t page)
{
    size_t        b = (size_t)block;
    size_t        blocks = ((size_t)size + b - 1) / b;
    size_t        pages = (blocks * b * b + page - 1) / page;
    struct layout l = { b, blocks, pages * page };

    return l;
}

static double
element(size_t i, size_t j)
{
    size_t n = (size_t)size;

    if (i >= n || j >= n)
        return i == j;
    return 2 * app_random(i * n + j) - 1 + (i == j ? (double)n : 0);
}

/* Fill block column j. */
static void
column_start(const struct layout *l, double *column, size_t j)
{
    const size_t b = l->b;

    for (size_t i = 0; i < l->blocks * b; i++)
        for (size_t k = 0; k < b; k++)
            column[i / b * b * b + k * b + i % b] = element(i, j * b + k);
}

/* Finish column k, up to date with all columns before it. */
static void
column_factor(const struct layout *l, double *column, size_t k)
{
    const size_t area = l->b * l->b;

    block_factor(column + k * area, l->b);
    for (size_t i = k + 1; i < l->blocks; i++)
        block_divide(column + i * area, column + k * area, l->b);
}

/* Bring a later column up to date with column k, given from its block k. */
static void
column_update(const struct layout *l, double *column, const double *panel,
              size_t k)
{
    const size_t area = l->b * l->b;
    double      *u = column + k * area;

    block_solve(u, panel, l->b);
    for (size_t i = k + 1; i < l->blocks; i++)
        block_subtract(column + i * area, panel + (i - k) * area, u, l->b);
}

/* Element (i, j) of the factored matrix. */
static double
factor_element(const struct layout *l, const double *lu, size_t i, size_t j)
{
    const size_t b = l->b;

    return lu[j / b * l->stride + i / b * b * b + j % b * b + i % b];
}

/*
 * A residual column, A e_j - L (U e_j), by plain loops that share no code
 * with the factorisation.  row is scratch for U e_j.
 */
static void
residual_column(const struct layout *l, const double *lu, size_t j,
                double *residual)
{
    const size_t b = l->b;

    for (size_t i = 0; i < (size_t)size; i++)
        residual[i] = element(i, j);
    for (size_t k = 0; k <= j; k++) {
        const double *column = lu + k / b * l->stride + k % b * b;
        const double  u = factor_element(l, lu, k, j);

        residual[k] -= u; /* L's diagonal of ones */
        for (size_t i = k + 1; i < (size_t)size;) {
            size_t        end = i / b * b + b;
            const double *in = column + i / b * b * b;

            for (end = end < (size_t)size ? end : (size_t)size; i < end; i++)
                residual[i] -= in[i % b] * u;
        }
    }
}

static double
column_norm(const double *x)
{
    double sum = 0;

    for (size_t i = 0; i < (size_t)size; i++)
        sum += fabs(x[i]);
    return sum;
}

/* The larger one; a NaN stays, unlike with fmax(). */
static double
norm_max(double norm, double other)
{
    return isnan(norm) || other <= norm ? norm : other;
}

/* Rank 0: norm(A - L U) / norm(A) / n in the one-norm, below 1e-15. */
static void
factors_verify(struct app_run *run, const struct layout *l, const double *lu)
{
    size_t  n = (size_t)size;
    double *x = app_private(run, n, sizeof *x);
    double  a_norm = 0, norm = 0;

    for (size_t j = 0; j < n && !run->failed; j++) {
        for (size_t i = 0; i < n; i++)
            if (!isfinite(factor_element(l, lu, i, j))) {
                app_verdict(run, false, "row %zu column %zu is not finite", i,
                            j);
                norm = NAN;
                break;
            }
        for (size_t i = 0; i < n; i++)
            x[i] = element(i, j);
        a_norm = norm_max(a_norm, column_norm(x));
        residual_column(l, lu, j, x);
        norm = norm_max(norm, column_norm(x));
    }
    norm = norm / a_norm / (double)n;
    if (!run->failed)
        app_verdict(run, norm < 1e-15,
                    "norm(A - LU) / norm(A) / n is %.3e, not below 1e-15",
                    norm);
    app_field(run, "residual=%.3e", norm);
    free(x);
}

static void
steps_run(struct app_run *run, const struct layout *l, double *lu)
{
    const size_t area = l->b * l->b, ranks = (size_t)run->ranks;
    const size_t me = (size_t)run->rank;

    if (me == 0)
        column_factor(l, lu, 0);
    for (size_t k = 0; k + 1 < l->blocks; k++) {
        const double *panel = lu + k * l->stride + k * area;

        hearth_barrier(); /* column k is finished */
        hearth_prefetch(panel, (l->blocks - k) * area * sizeof *panel);
        for (size_t j = k + 1 + (me + ranks - (k + 1) % ranks) % ranks;
             j < l->blocks; j += ranks) {
            double *column = lu + j * l->stride;

            column_update(l, column, panel, k);
            if (j == k + 1)
                column_factor(l, column, j);
        }
        app_progress(run, "block column", (long)k, (long)l->blocks);
    }
}

static void
lu_run(struct app_run *run)
{
    size_t        page = app_page_size(run);
    struct layout l = layout_make(page / sizeof(double));
    double       *lu = hearth_alloc(l.blocks * l.stride, sizeof *lu,
                                    hearth_cyclic(l.stride * sizeof *lu / page));

    for (size_t j = (size_t)run->rank; j < l.blocks; j += (size_t)run->ranks)
        column_start(&l, lu + j * l.stride, j);
    app_start(run);
    steps_run(run, &l, lu);
    app_stop(run);
    if (run->verify && run->rank == 0)
        factors_verify(run, &l, lu);
    app_barrier(run);
    hearth_free(lu);
}

/*
 * The plain MPI version: the same columns on the same ranks.  Column k + 1 is
 * broadcast as soon as it is factored, and travels while the rest of step k
 * is computed.
 */
struct panel {
    double     *room[2]; /* for the columns of others, by turns */
    double     *at;      /* block k of column k */
    MPI_Request request;
};

/* Start to broadcast the finished part of column k; own: my columns. */
static void
panel_start(struct panel *p, const struct app_run *run, const struct layout *l,
            double *own, size_t k)
{
    const size_t area = l->b * l->b;
    int          owner = (int)(k % (size_t)run->ranks);

    p->at = p->room[k % 2];
    if (owner == run->rank)
        p->at = own + k / (size_t)run->ranks * l->stride + k * area;
    MPI_Ibcast(p->at, (int)((l->blocks - k) * area), MPI_DOUBLE, owner,
               MPI_COMM_WORLD, &p->request);
}

static void
mpi_steps_run(struct app_run *run, const struct layout *l, double *own,
              struct panel *p)
{
    const size_t ranks = (size_t)run->ranks, me = (size_t)run->rank;
    int          done;

    if (me == 0)
        column_factor(l, own, 0);
    panel_start(p, run, l, own, 0);
    for (size_t k = 0; k + 1 < l->blocks; k++) {
        size_t        j = k + 1 + (me + ranks - (k + 1) % ranks) % ranks;
        const double *panel;

        MPI_Wait(&p->request, MPI_STATUS_IGNORE);
        panel = p->at;
        if (j == k + 1) {
            column_update(l, own + j / ranks * l->stride, panel, k);
            column_factor(l, own + j / ranks * l->stride, j);
            j += ranks;
        }
        panel_start(p, run, l, own, k + 1);
        for (; j < l->blocks; j += ranks) {
            column_update(l, own + j / ranks * l->stride, panel, k);
            MPI_Test(&p->request, &done, MPI_STATUS_IGNORE);
        }
        app_progress(run, "block column", (long)k, (long)l->blocks);
    }
    MPI_Wait(&p->request, MPI_STATUS_IGNORE);
}

/* Bring all columns to rank 0 and verify there. */
static void
mpi_verify(struct app_run *run, const struct layout *l, double *own)
{
    double *all = app_private(run, run->rank == 0 ? l->blocks * l->stride : 0,
                              sizeof *all);

    for (size_t j = 0; j < l->blocks; j++) {
        int     owner = (int)(j % (size_t)run->ranks);
        double *from = own + j / (size_t)run->ranks * l->stride;
        double *to = all + j * l->stride;

        if (owner == 0 && run->rank == 0)
            memcpy(to, from, l->stride * sizeof *to);
        else if (run->rank == 0)
            MPI_Recv(to, (int)l->stride, MPI_DOUBLE, owner, 0, MPI_COMM_WORLD,
                     MPI_STATUS_IGNORE);
        else if (owner == run->rank)
            MPI_Send(from, (int)l->stride, MPI_DOUBLE, 0, 0, MPI_COMM_WORLD);
    }
    if (run->rank == 0)
        factors_verify(run, l, all);
    free(all);
}

static void
lu_run_mpi(struct app_run *run)
{
    const size_t  ranks = (size_t)run->ranks, me = (size_t)run->rank;
    struct layout l = layout_make(1);
    double *own = app_private(run, (l.blocks + ranks - 1) / ranks * l.stride,
                              sizeof *own);
    struct panel p = { .request = MPI_REQUEST_NULL };

    for (int i = 0; i < 2; i++)
        p.room[i] = app_private(run, l.stride, sizeof *own);
    for (size_t j = me; j < l.blocks; j += ranks)
        column_start(&l, own + j / ranks * l.stride, j);
    app_start(run);
    mpi_steps_run(run, &l, own, &p);
    app_stop(run);
    if (run->verify)
        mpi_verify(run, &l, own);
    free(p.room[0]);
    free(p.room[1]);
    free(own);
}

static const char *
lu_check(const struct app_run *run)
{
    (void)run;
    if (block > size)
        return "--block is larger than --size";
    return NULL;
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "lu",
        .about = "Blocked dense LU factorisation without pivoting.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = lu_check,
        .run = lu_run,
        .run_mpi = lu_run_mpi,
    };

    return app_main(&app, argc, argv);
}
