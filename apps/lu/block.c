/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each operation is written once for any n and inlined twice, for n = 8, the
 * papers' size, and for the rest: with so small a block the compiler has to
 * know the trip counts.
 */
#include <config.h>

#include "block.h"
#include "pair.h"

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

enum { PAPER = 8, TILE = 4 };

/* y -= factor * x, n elements: an update of one column, or row. */
INLINE void
column_subtract(double *restrict y, const double *restrict x, double factor,
                size_t n)
{
#pragma omp simd
    for (size_t i = 0; i < n; i++)
        y[i] -= factor * x[i];
}

INLINE void
factor_any(double *a, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double *pivot = a + k * n;

        for (size_t i = k + 1; i < n; i++)
            pivot[i] /= pivot[k];
        for (size_t j = k + 1; j < n; j++)
            column_subtract(a + j * n + k + 1, pivot + k + 1, a[j * n + k],
                            n - k - 1);
    }
}

INLINE void
divide_any(double *a, const double *u, size_t n)
{
    for (size_t k = 0; k < n; k++) {
        double *x = a + k * n;

#pragma omp simd
        for (size_t i = 0; i < n; i++)
            x[i] /= u[k * n + k];
        for (size_t j = k + 1; j < n; j++)
            column_subtract(a + j * n, x, u[j * n + k], n);
    }
}

INLINE void
solve_any(double *a, const double *l, size_t n)
{
    for (size_t j = 0; j < n; j++)
        for (size_t k = 0; k < n; k++)
            column_subtract(a + j * n + k + 1, l + k * n + k + 1, a[j * n + k],
                            n - k - 1);
}

/*
 * The kernel: a tile of C in registers, four rows of A, four columns of B;
 * stride: from a column to the next.
 */
INLINE void
tile_subtract(double *c, const double *a, const double *b, size_t n,
              size_t stride)
{
    pair top[TILE], bottom[TILE];

    UNROLL
    for (size_t j = 0; j < TILE; j++) {
        top[j] = pair_load(c + j * stride);
        bottom[j] = pair_load(c + j * stride + 2);
    }
    for (size_t k = 0; k < n; k++) {
        pair a_top = pair_load(a + k * stride);
        pair a_bottom = pair_load(a + k * stride + 2);

        UNROLL
        for (size_t j = 0; j < TILE; j++) {
            top[j] -= a_top * b[j * stride + k];
            bottom[j] -= a_bottom * b[j * stride + k];
        }
    }
    UNROLL
    for (size_t j = 0; j < TILE; j++) {
        pair_store(c + j * stride, top[j]);
        pair_store(c + j * stride + 2, bottom[j]);
    }
}

/* What tiles do not cover when n is not a multiple of 4: rows from `row` of
 * the columns [from, to). */
INLINE void
edge_subtract(double *c, const double *a, const double *b, size_t n,
              size_t stride, size_t row, size_t from, size_t to)
{
    for (size_t j = from; j < to; j++)
        for (size_t k = 0; k < n; k++)
            column_subtract(c + j * stride + row, a + k * stride + row,
                            b[j * stride + k], n - row);
}

INLINE void
subtract_any(double *c, const double *a, const double *b, size_t n,
             size_t stride)
{
    const size_t even = n - n % TILE;

    for (size_t j = 0; j < even; j += TILE)
        for (size_t i = 0; i < even; i += TILE)
            tile_subtract(c + j * stride + i, a + i, b + j * stride, n,
                          stride);
    if (even == n)
        return;
    edge_subtract(c, a, b, n, stride, even, 0, even);
    edge_subtract(c, a, b, n, stride, 0, even, n);
}

void
block_factor(double *a, size_t n)
{
    if (n == PAPER)
        factor_any(a, PAPER);
    else
        factor_any(a, n);
}

void
block_divide(double *a, const double *u, size_t n)
{
    if (n == PAPER)
        divide_any(a, u, PAPER);
    else
        divide_any(a, u, n);
}

void
block_solve(double *a, const double *l, size_t n)
{
    if (n == PAPER)
        solve_any(a, l, PAPER);
    else
        solve_any(a, l, n);
}

void
block_subtract(double *c, const double *a, const double *b, size_t n)
{
    if (n == PAPER)
        subtract_any(c, a, b, PAPER, PAPER);
    else
        subtract_any(c, a, b, n, n);
}

INLINE void
rows_factor_any(double *a, size_t n, size_t stride)
{
    for (size_t k = 0; k < n; k++) {
        const double *pivot = a + k * stride;

        for (size_t i = k + 1; i < n; i++) {
            double *row = a + i * stride;

            row[k] /= pivot[k];
            column_subtract(row + k + 1, pivot + k + 1, row[k], n - k - 1);
        }
    }
}

INLINE void
rows_divide_any(double *a, const double *u, size_t n, size_t stride)
{
    for (size_t k = 0; k < n; k++)
        for (size_t i = 0; i < n; i++) {
            double *row = a + i * stride;

            row[k] /= u[k * stride + k];
            column_subtract(row + k + 1, u + k * stride + k + 1, row[k],
                            n - k - 1);
        }
}

INLINE void
rows_solve_any(double *a, const double *l, size_t n, size_t stride)
{
    for (size_t i = 1; i < n; i++)
        for (size_t k = 0; k < i; k++)
            column_subtract(a + i * stride, a + k * stride, l[i * stride + k],
                            n);
}

void
rows_factor(double *a, size_t n, size_t stride)
{
    if (n == PAPER)
        rows_factor_any(a, PAPER, stride);
    else
        rows_factor_any(a, n, stride);
}

void
rows_divide(double *a, const double *u, size_t n, size_t stride)
{
    if (n == PAPER)
        rows_divide_any(a, u, PAPER, stride);
    else
        rows_divide_any(a, u, n, stride);
}

void
rows_solve(double *a, const double *l, size_t n, size_t stride)
{
    if (n == PAPER)
        rows_solve_any(a, l, PAPER, stride);
    else
        rows_solve_any(a, l, n, stride);
}

/* Columns of the transposed blocks: the product is C^T -= B^T A^T. */
void
rows_subtract(double *c, const double *a, const double *b, size_t n,
              size_t stride)
{
    if (n == PAPER)
        subtract_any(c, b, a, PAPER, stride);
    else
        subtract_any(c, b, a, n, stride);
}
