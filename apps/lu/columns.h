/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The matrix as block columns: what is done with one of them, wherever it
 * lies.
 */
#ifndef APPS_LU_COLUMNS_H
#define APPS_LU_COLUMNS_H

#include <stddef.h>

/*
 * Where blocks lie: those of a column one after the other, column by column.
 * An order that is not a multiple of the block is filled up with a unit
 * matrix, which changes neither L nor U.
 */
struct layout {
    size_t n;      /* order of the matrix, without filling */
    size_t b;      /* order of a block */
    size_t blocks; /* in a row or column */
    size_t stride; /* doubles from a block column to the next */
};

/* page: doubles in a page; block columns begin at pages. */
struct layout layout_make(size_t n, size_t b, size_t page);

/* Fill block column j. */
void column_start(const struct layout *l, double *column, size_t j);

/* Finish column k, up to date with all columns before it. */
void column_factor(const struct layout *l, double *column, size_t k);

/* Bring a later column up to date with column k, given from its block k. */
void column_update(const struct layout *l, double *column, const double *panel,
                   size_t k);

/* Copy block column j to where it is in a plain matrix, column by column. */
void column_copy(const struct layout *l, double *plain, const double *column,
                 size_t j);

#endif
