/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * C += A B for row-major matrices of doubles on one rank.
 *
 * Every element of C is summed in the order of the textbook's triple loop
 * (c += a[i][k] * b[k][j] for rising k, each product rounded), however the
 * matrices are cut into parts, so results can be compared bit for bit.
 */
#ifndef APPS_MM_GEMM_H
#define APPS_MM_GEMM_H

#include "common.h"

/* A matrix, or a part of one: row i begins at `at + i * stride`. */
struct matrix {
    double *at;
    size_t  rows, columns, stride;
};

/* Room for the packed parts of A and B; made by gemm_open().  If poll is set
 * it is called now and then, so that messages can move meanwhile. */
struct gemm {
    double *a, *b;
    void (*poll)(void *argument);
    void *argument;
};

struct gemm gemm_open(const struct app_run *run);
void        gemm_close(struct gemm *work);

/* Sizes must agree; C must not overlap A or B. */
void gemm_add(const struct gemm *work, const struct matrix *c,
              const struct matrix *a, const struct matrix *b);

/* The part of a matrix that begins at (i, j). */
struct matrix matrix_part(const struct matrix *m, size_t i, size_t j,
                          size_t rows, size_t columns);

#endif
