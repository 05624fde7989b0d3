/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Each operation is written once for any n and inlined twice, for n = 8, the
 * papers' size, and for the rest: with so small a block the compiler has to
 * know the trip counts.
 */
#include <config.h>

#include "block.h"

#if defined(__GNUC__)
#define INLINE static inline __attribute__((always_inline))
#else
#define INLINE static inline
#endif

enum { PAPER = 8, TILE = 4 };

/* See gemm.c. */
typedef double pair __attribute__((vector_size(16), aligned(8)));

#define UNROLL _Pragma("GCC unroll 4")

INLINE pair
pair_load(const double *p)
{
    return *(const pair *)p;
}

INLINE void
pair_store(double *p, pair value)
{
    *(pair *)p = value;
}

/* y -= factor * x, n elements: an update of one column. */
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

/* The kernel: a tile of C in registers, four rows of A, four columns of B. */
INLINE void
tile_subtract(double *c, const double *a, const double *b, size_t n)
{
    pair top[TILE], bottom[TILE];

    UNROLL
    for (size_t j = 0; j < TILE; j++) {
        top[j] = pair_load(c + j * n);
        bottom[j] = pair_load(c + j * n + 2);
    }
    for (size_t k = 0; k < n; k++) {
        pair a_top = pair_load(a + k * n), a_bottom = pair_load(a + k * n + 2);

        UNROLL
        for (size_t j = 0; j < TILE; j++) {
            top[j] -= a_top * b[j * n + k];
            bottom[j] -= a_bottom * b[j * n + k];
        }
    }
    UNROLL
    for (size_t j = 0; j < TILE; j++) {
        pair_store(c + j * n, top[j]);
        pair_store(c + j * n + 2, bottom[j]);
    }
}

/* What tiles do not cover when n is not a multiple of 4: rows from `row` of
 * the columns [from, to). */
INLINE void
edge_subtract(double *c, const double *a, const double *b, size_t n,
              size_t row, size_t from, size_t to)
{
    for (size_t j = from; j < to; j++)
        for (size_t k = 0; k < n; k++)
            column_subtract(c + j * n + row, a + k * n + row, b[j * n + k],
                            n - row);
}

INLINE void
subtract_any(double *c, const double *a, const double *b, size_t n)
{
    const size_t even = n - n % TILE;

    for (size_t j = 0; j < even; j += TILE)
        for (size_t i = 0; i < even; i += TILE)
            tile_subtract(c + j * n + i, a + i, b + j * n, n);
    if (even == n)
        return;
    edge_subtract(c, a, b, n, even, 0, even);
    edge_subtract(c, a, b, n, 0, even, n);
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
        subtract_any(c, a, b, PAPER);
    else
        subtract_any(c, a, b, n);
}
