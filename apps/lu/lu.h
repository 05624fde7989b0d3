/* SPDX-License-Identifier: BSD-2-Clause */
/* What the versions of LU share: the matrix, and the test of its factors. */
#ifndef APPS_LU_LU_H
#define APPS_LU_LU_H

#include "common.h"

/* Element (i, j) of the matrix of order n, and of the unit matrix that fills
 * it up to whole blocks. */
double lu_element(size_t n, size_t i, size_t j);

/* On one rank: norm(A - L U) / norm(A) / n in the one-norm is below 1e-15.
 * lu has the factors of a matrix of order n, column after column. */
void lu_verify(struct app_run *run, size_t n, const double *lu);

/* The whole run with --layout rows: an order, and that of a block. */
void lu_rows_run(struct app_run *run, size_t n, size_t block);

#endif
