/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The blocking is that of Goto and van de Geijn (Anatomy of high-performance
 * matrix multiplication, ACM TOMS 34, 2008): a part of B is packed so that it
 * stays in the last-level cache, a part of A so that it stays in the second
 * level, and a kernel holds a tile of C in registers while it walks along
 * both.  Tiles at the edges are filled up with zeros, so one kernel does all
 * the arithmetic.
 *
 * Unlike theirs, the kernel adds to what is in C already and not to zero:
 * that keeps the textbook's order of summation, for nothing.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "gemm.h"
#include "pair.h"

enum {
    TILE = 4,    /* rows and columns of C in registers */
    A_ROWS = 64, /* rows of A that are packed at a time */
    DEPTH = 256, /* columns of A, rows of B */
    B_COLUMNS = 2048
};

/* The kernel: C (4 x 4) += A (4 x depth, packed) * B (depth x 4, packed). */
static void
tile_add(double *c, size_t stride, const double *a, const double *b,
         size_t depth)
{
    pair left[TILE], right[TILE];

    UNROLL
    for (int i = 0; i < TILE; i++) {
        left[i] = pair_load(c + (size_t)i * stride);
        right[i] = pair_load(c + (size_t)i * stride + 2);
    }
    for (size_t k = 0; k < depth; k++, a += TILE, b += TILE) {
        pair b_left = pair_load(b), b_right = pair_load(b + 2);

        UNROLL
        for (int i = 0; i < TILE; i++) {
            left[i] += a[i] * b_left;
            right[i] += a[i] * b_right;
        }
    }
    UNROLL
    for (int i = 0; i < TILE; i++) {
        pair_store(c + (size_t)i * stride, left[i]);
        pair_store(c + (size_t)i * stride + 2, right[i]);
    }
}

/* A tile that sticks out of C is computed beside it. */
static void
edge_add(const struct matrix *c, const double *a, const double *b,
         size_t depth)
{
    double tile[TILE * TILE] = { 0 };

    for (size_t i = 0; i < c->rows; i++)
        memcpy(&tile[i * TILE], c->at + i * c->stride,
               c->columns * sizeof(double));
    tile_add(tile, TILE, a, b, depth);
    for (size_t i = 0; i < c->rows; i++)
        memcpy(c->at + i * c->stride, &tile[i * TILE],
               c->columns * sizeof(double));
}

static size_t
least(size_t a, size_t b)
{
    return a < b ? a : b;
}

struct matrix
matrix_part(const struct matrix *m, size_t i, size_t j, size_t rows,
            size_t columns)
{
    struct matrix part = { m->at + i * m->stride + j, rows, columns,
                           m->stride };

    return part;
}

/* Strips of four rows, each stored column after column. */
static void
a_pack(double *to, const struct matrix *a)
{
    for (size_t i = 0; i < a->rows; i += TILE) {
        size_t rows = least(TILE, a->rows - i);

        for (size_t k = 0; k < a->columns; k++, to += TILE)
            for (size_t r = 0; r < TILE; r++)
                to[r] = r < rows ? a->at[(i + r) * a->stride + k] : 0;
    }
}

/* Strips of four columns, each stored row after row.  It reads B in the order
 * of its addresses: on a DSM this is where B comes in. */
static void
b_pack(double *to, const struct matrix *b)
{
    const size_t strip = TILE * b->rows;

    for (size_t k = 0; k < b->rows; k++) {
        const double *row = b->at + k * b->stride;
        size_t        j = 0;

        for (; j + TILE <= b->columns; j += TILE)
            memcpy(&to[j / TILE * strip + k * TILE], &row[j],
                   TILE * sizeof(double));
        for (size_t r = 0; j < b->columns && r < TILE; r++)
            to[j / TILE * strip + k * TILE + r] =
                j + r < b->columns ? row[j + r] : 0;
    }
}

/* C += the packed A * the packed B. */
static void
packed_add(const struct gemm *work, const struct matrix *c, size_t depth)
{
    for (size_t j = 0; j < c->columns; j += TILE)
        for (size_t i = 0; i < c->rows; i += TILE) {
            struct matrix tile = matrix_part(c, i, j, least(TILE, c->rows - i),
                                             least(TILE, c->columns - j));
            const double *a = work->a + i * depth, *b = work->b + j * depth;

            if (tile.rows == TILE && tile.columns == TILE)
                tile_add(tile.at, tile.stride, a, b, depth);
            else
                edge_add(&tile, a, b, depth);
        }
}

/* The same with a B that fits the room for it. */
static void
part_add(const struct gemm *work, const struct matrix *c,
         const struct matrix *a, const struct matrix *b)
{
    b_pack(work->b, b);
    for (size_t i = 0; i < c->rows; i += A_ROWS) {
        size_t        rows = least(A_ROWS, c->rows - i);
        struct matrix a_rows = matrix_part(a, i, 0, rows, a->columns);
        struct matrix c_rows = matrix_part(c, i, 0, rows, c->columns);

        a_pack(work->a, &a_rows);
        packed_add(work, &c_rows, a->columns);
        if (work->poll != NULL)
            work->poll(work->argument);
    }
}

void
gemm_add(const struct gemm *work, const struct matrix *c,
         const struct matrix *a, const struct matrix *b)
{
    for (size_t k = 0; k < b->rows; k += DEPTH) {
        size_t        depth = least(DEPTH, b->rows - k);
        struct matrix a_part = matrix_part(a, 0, k, a->rows, depth);

        for (size_t j = 0; j < b->columns; j += B_COLUMNS) {
            size_t        columns = least(B_COLUMNS, b->columns - j);
            struct matrix b_part = matrix_part(b, k, j, depth, columns);
            struct matrix c_part = matrix_part(c, 0, j, c->rows, columns);

            part_add(work, &c_part, &a_part, &b_part);
        }
    }
}

struct gemm
gemm_open(const struct app_run *run)
{
    struct gemm work = {
        .a = app_private(run, (size_t)A_ROWS * DEPTH, sizeof(double)),
        .b = app_private(run, (size_t)B_COLUMNS * DEPTH, sizeof(double)),
    };

    return work;
}

void
gemm_close(struct gemm *work)
{
    free(work->a);
    free(work->b);
}
