/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * LU on a plain matrix: row after row, so that a block is a piece of as many
 * rows as it has.
 *
 * Source: LU of SPLASH-2 with non-contiguous blocks (Woo et al., The SPLASH-2
 * Programs, ISCA 1995), which the papers on HLRC measure: blocks are dealt to
 * a grid of ranks, and a step has two barriers: after the block on the
 * diagonal, and after the rest of its row and column.
 *
 * Sharing: a page holds pieces of the blocks of all ranks in a row of the
 * grid, which store to it in one interval, each to its own words: two ranks
 * if there are four of them, but one if there are two.  A block row is at home
 * on one of them.
 *
 * Limit: the diffs.  Each page of what is left of the matrix is brought home
 * by each of its writers but the one at home, and fetched again by it, in
 * each step: from four ranks on, a run on several nodes is mostly that.
 * Large blocks (-b) make fewer steps.
 */
#include <config.h>

#include <stdlib.h>

#include <hearth/hearth.h>

#include "block.h"
#include "lu.h"

/* The matrix, filled up to whole blocks, and my place in the grid: block
 * (i, j) is mine if i and j are, modulo the rows and columns of the grid. */
struct plain {
    double *at;
    size_t  n, b, blocks; /* order without filling; of a block; blocks a row */
    size_t  stride;       /* doubles in a row */
    size_t  grid_rows, grid_columns;
    size_t  row, column; /* mine */
};

/* A grid that is as nearly square as the number of ranks allows, and if not,
 * high: then fewer ranks share a page. */
static void
grid_make(struct plain *p, const struct app_run *run)
{
    const size_t ranks = (size_t)run->ranks;

    p->grid_columns = 1;
    for (size_t c = 2; c * c <= ranks; c++)
        if (ranks % c == 0)
            p->grid_columns = c;
    p->grid_rows = ranks / p->grid_columns;
    p->row = (size_t)run->rank % p->grid_rows;
    p->column = (size_t)run->rank / p->grid_rows;
}

/* The home of block row i is rank i modulo all, as far as its pages allow:
 * one of those that store to it, as the grid is numbered by columns. */
static struct plain
plain_make(const struct app_run *run, size_t n, size_t b)
{
    const size_t blocks = (n + b - 1) / b, stride = blocks * b;
    const size_t bytes = b * stride * sizeof(double);
    const size_t page = app_page_size(run);
    struct plain p = { NULL, n, b, blocks, stride, 0, 0, 0, 0 };

    p.at = app_alloc(run, stride * stride, sizeof *p.at,
                     hearth_cyclic((bytes + page - 1) / page));
    grid_make(&p, run);
    return p;
}

static double *
block_at(const struct plain *p, size_t i, size_t j)
{
    return p->at + i * p->b * p->stride + j * p->b;
}

/* The first number from `from` on that is `mine` modulo `all`. */
static size_t
mine_from(size_t from, size_t mine, size_t all)
{
    return from + (mine + all - from % all) % all;
}

static bool
is_mine(size_t i, size_t mine, size_t all)
{
    return i % all == mine;
}

static void
block_start(const struct plain *p, size_t i, size_t j)
{
    double *block = block_at(p, i, j);

    for (size_t k = 0; k < p->b; k++)
        for (size_t l = 0; l < p->b; l++)
            block[k * p->stride + l] =
                lu_element(p->n, i * p->b + k, j * p->b + l);
}

static void
plain_start(const struct plain *p)
{
    for (size_t i = p->row; i < p->blocks; i += p->grid_rows)
        for (size_t j = p->column; j < p->blocks; j += p->grid_columns)
            block_start(p, i, j);
}

/* Fetch block row i from block (i, k) on; its pages are at one home. */
static void
row_prefetch(const struct plain *p, size_t i, size_t k)
{
    hearth_prefetch(block_at(p, i, k),
                    (p->b * p->stride - k * p->b) * sizeof *p->at);
}

/* The rest of row and column k, by the block on the diagonal. */
static void
perimeter_run(const struct plain *p, size_t k)
{
    const double *diagonal = block_at(p, k, k);

    if (is_mine(k, p->row, p->grid_rows)) {
        row_prefetch(p, k, k);
        for (size_t j = mine_from(k + 1, p->column, p->grid_columns);
             j < p->blocks; j += p->grid_columns)
            rows_solve(block_at(p, k, j), diagonal, p->b, p->stride);
    }
    if (is_mine(k, p->column, p->grid_columns))
        for (size_t i = mine_from(k + 1, p->row, p->grid_rows); i < p->blocks;
             i += p->grid_rows) {
            row_prefetch(p, i, k);
            rows_divide(block_at(p, i, k), diagonal, p->b, p->stride);
        }
}

/* My blocks below and right of the one on the diagonal. */
static void
interior_run(const struct plain *p, size_t k)
{
    row_prefetch(p, k, k);
    for (size_t i = mine_from(k + 1, p->row, p->grid_rows); i < p->blocks;
         i += p->grid_rows) {
        row_prefetch(p, i, k);
        for (size_t j = mine_from(k + 1, p->column, p->grid_columns);
             j < p->blocks; j += p->grid_columns)
            rows_subtract(block_at(p, i, j), block_at(p, i, k),
                          block_at(p, k, j), p->b, p->stride);
    }
}

static void
steps_run(struct app_run *run, const struct plain *p)
{
    for (size_t k = 0; k < p->blocks; k++) {
        if (is_mine(k, p->row, p->grid_rows) &&
            is_mine(k, p->column, p->grid_columns))
            rows_factor(block_at(p, k, k), p->b, p->stride);
        hearth_barrier(); /* the block on the diagonal is finished */
        perimeter_run(p, k);
        hearth_barrier(); /* and the rest of its row and column */
        interior_run(p, k);
        app_progress(run, "block row", (long)k, (long)p->blocks);
    }
}

/* Rank 0 verifies a copy, column by column. */
static void
plain_verify(struct app_run *run, const struct plain *p)
{
    double *copy = app_private(run, p->n * p->n, sizeof *copy);

    for (size_t i = 0; i < p->n; i++)
        for (size_t j = 0; j < p->n; j++)
            copy[j * p->n + i] = p->at[i * p->stride + j];
    lu_verify(run, p->n, copy);
    free(copy);
}

void
lu_rows_run(struct app_run *run, size_t n, size_t block)
{
    struct plain p = plain_make(run, n, block);

    plain_start(&p);
    app_start(run);
    steps_run(run, &p);
    app_stop(run);
    if (run->verify && run->rank == 0)
        plain_verify(run, &p);
    app_barrier(run);
    hearth_free(p.at);
}
