/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arithmetic of FT on one rank: complex Fourier transforms of n points,
 * n a power of two, many at a time and not normalised.
 */
#ifndef APPS_FT_FFT_H
#define APPS_FT_FFT_H

#include "common.h"

enum { FFT_ROWS = 16, FFT_COLUMNS = 64 }; /* transforms side by side */

struct cell {
    double re, im;
};

/* FORWARD: to[j] = sum of from[k] e^(-2 pi i j k / n); BACKWARD: +2 pi. */
enum direction { FORWARD, BACKWARD };

/* For one n: roots of unity and room for some lines, split in real and
 * imaginary parts. */
struct fft {
    size_t  n;
    double *root_re, *root_im; /* e^(-2 pi i k / n) */
    double *room;
};

struct fft fft_make(const struct app_run *run, size_t n);
void       fft_free(struct fft *f);

/* Transform columns: from[k] and to[k] are row k, of so many columns, a
 * multiple of FFT_COLUMNS.  In place, too. */
void fft_columns(const struct fft *f, enum direction direction,
                 struct cell *const *to, struct cell *const *from,
                 size_t columns);

/* Transform rows in place: a multiple of FFT_ROWS, without gaps. */
void fft_rows(const struct fft *f, enum direction direction, struct cell *rows,
              size_t count);

#endif
