/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Symmetric matrices from files: in the coordinate format of Matrix Market
 * (Boisvert, Pozo, Remington: The Matrix Market exchange formats: initial
 * design, NISTIR 5935, 1996), or assembled ones in that of Harwell and Boeing
 * (Duff, Grimes, Lewis: Users' guide for the Harwell-Boeing sparse matrix
 * collection, 1992), as which the input files of SPLASH-2 come.  Both are a
 * few lines of text and then numbers, read here: a library for them would
 * bring arithmetic that is not used.
 *
 * A pattern has no numbers: it gets -1 beside the diagonal and on it one more
 * than makes up for that, so that it is positive definite.
 */
#ifndef APPS_CHOLESKY_MATRIX_H
#define APPS_CHOLESKY_MATRIX_H

#include <stdio.h>

#include "common.h"

enum { MATRIX_ROWS = 1 << 24, MATRIX_ENTRIES = 1 << 29 };

/* All entries, also of the upper triangle, row by row; in a row they ascend.
 * The diagonal is apart. */
struct matrix {
    int32_t  n;
    int32_t *start; /* of each row in the two below, and the end */
    int32_t *column;
    double  *value;
    double  *diagonal;
};

/* As it is read: each entry of one triangle once, from 0 on. */
struct entries {
    int32_t  n;
    int32_t  count, room;
    int32_t *row, *column;
    double  *value; /* of a pattern 0 */
    bool     pattern;
};

/* Rank 0: NULL, or what is wrong; the text is valid until the next call. */
const char *matrix_read(struct matrix *m, const char *path);

/* Each rank gets what rank 0 has read.  Collective. */
void matrix_share(struct matrix *m, const struct app_run *run);
void matrix_free(struct matrix *m);

/* 0 if there is none. */
double matrix_entry(const struct matrix *m, int32_t i, int32_t j);

/* ---- for the two formats ---- */

/* Prepare for entries of n rows; NULL, or what is wrong. */
const char *entries_open(struct entries *e, const char *path, long rows,
                         long columns, long entries);

/* Rows and columns count from 1. */
const char *entries_add(struct entries *e, const char *path, long row,
                        long column, double value);

/* From the first line on, which is `line`, or without it. */
const char *matrix_market_read(struct entries *e, FILE *file, const char *path,
                               char *line);
const char *harwell_boeing_read(struct entries *e, FILE *file,
                                const char *path);

#endif
