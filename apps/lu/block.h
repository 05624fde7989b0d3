/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arithmetic of blocked LU on one rank: square blocks of n x n doubles,
 * each contiguous and stored column after column unless said otherwise.
 */
#ifndef APPS_LU_BLOCK_H
#define APPS_LU_BLOCK_H

#include <stddef.h>

/* A = L U in place, without pivoting; L's diagonal of ones is not stored. */
void block_factor(double *a, size_t n);

/* A = A U^-1, U the upper triangle of a factored block. */
void block_divide(double *a, const double *u, size_t n);

/* A = L^-1 A, L the unit lower triangle of a factored block. */
void block_solve(double *a, const double *l, size_t n);

/* C -= A B: nearly all the work. */
void block_subtract(double *c, const double *a, const double *b, size_t n);

/*
 * The same for blocks within a matrix that is stored row after row; stride:
 * doubles from a row to the next.
 */
void rows_factor(double *a, size_t n, size_t stride);
void rows_divide(double *a, const double *u, size_t n, size_t stride);
void rows_solve(double *a, const double *l, size_t n, size_t stride);
void rows_subtract(double *c, const double *a, const double *b, size_t n,
                   size_t stride);

#endif
