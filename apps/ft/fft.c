/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Stockham's algorithm, which leaves results in order without a permutation
 * (see Van Loan, Computational Frameworks for the Fast Fourier Transform,
 * 1992, section 1.7), in passes of radix 4 and a last one of radix 2 where n
 * is no power of 4.  Some transforms go side by side, as in the NAS report:
 * every loop is along them, and vectorises.  Of columns there are more, for
 * longer pieces of the rows that they are in.
 */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "fft.h"

enum { TILE = 4, PAD = 40, ROWS = FFT_ROWS, COLUMNS = FFT_COLUMNS };

/* Some transforms in split form: point k of number i at k * count + i. */
struct lines {
    double *re, *im;
};

struct fft
fft_make(const struct app_run *run, size_t n)
{
    const double turn = 2 * APP_PI;
    struct fft   f = { .n = n };

    f.root_re = app_private(run, n, sizeof *f.root_re);
    f.root_im = app_private(run, n, sizeof *f.root_im);
    f.room = app_private(run, 4 * (n * COLUMNS + PAD), sizeof *f.room);
    for (size_t k = 0; k < n; k++) {
        f.root_re[k] = cos(turn * (double)k / (double)n);
        f.root_im[k] = -sin(turn * (double)k / (double)n);
    }
    return f;
}

void
fft_free(struct fft *f)
{
    free(f->room);
    free(f->root_im);
    free(f->root_re);
}

/* One of two places for lines.  The pads keep their four parts from the same
 * sets of the cache. */
static struct lines
lines_place(const struct fft *f, size_t count, size_t which)
{
    const size_t part = f->n * count + PAD;
    double      *first = f->room + 2 * which * part;

    return (struct lines){ first, first + part };
}

/* Going backward is going forward with real and imaginary parts exchanged. */
static struct lines
lines_turn(struct lines l, enum direction direction)
{
    return direction == FORWARD ? l : (struct lines){ l.im, l.re };
}

/*
 * Pass of radix 4: `width` numbers that belong together are a vector, and
 * there are n of them.  Vectors p, p + n/4, p + n/2 and p + 3n/4 become the
 * four from 4 p on.
 */
static void
pass_four(const struct fft *f, struct lines to, struct lines from, size_t n,
          size_t width)
{
    const size_t m = n / 4 * width;

    for (size_t p = 0; p < n / 4; p++) {
        const size_t r = p * (f->n / n);
        const double re1 = f->root_re[r], im1 = f->root_im[r];
        const double re2 = f->root_re[2 * r], im2 = f->root_im[2 * r];
        const double re3 = f->root_re[3 * r], im3 = f->root_im[3 * r];
        const double *restrict re = from.re + p * width;
        const double *restrict im = from.im + p * width;
        double *restrict out_re = to.re + 4 * p * width;
        double *restrict out_im = to.im + 4 * p * width;

#pragma omp simd
        for (size_t i = 0; i < width; i++) {
            double sum_re = re[i] + re[i + 2 * m];
            double sum_im = im[i] + im[i + 2 * m];
            double less_re = re[i] - re[i + 2 * m];
            double less_im = im[i] - im[i + 2 * m];
            double odd_re = re[i + m] + re[i + 3 * m];
            double odd_im = im[i + m] + im[i + 3 * m];
            double turn_re = im[i + m] - im[i + 3 * m]; /* times -i */
            double turn_im = re[i + 3 * m] - re[i + m];
            double a_re = less_re + turn_re, a_im = less_im + turn_im;
            double b_re = sum_re - odd_re, b_im = sum_im - odd_im;
            double c_re = less_re - turn_re, c_im = less_im - turn_im;

            out_re[i] = sum_re + odd_re;
            out_im[i] = sum_im + odd_im;
            out_re[i + width] = re1 * a_re - im1 * a_im;
            out_im[i + width] = re1 * a_im + im1 * a_re;
            out_re[i + 2 * width] = re2 * b_re - im2 * b_im;
            out_im[i + 2 * width] = re2 * b_im + im2 * b_re;
            out_re[i + 3 * width] = re3 * c_re - im3 * c_im;
            out_im[i + 3 * width] = re3 * c_im + im3 * c_re;
        }
    }
}

/* Last pass, of radix 2. */
static void
pass_two(struct lines to, struct lines from, size_t width)
{
#pragma omp simd
    for (size_t i = 0; i < width; i++) {
        to.re[i] = from.re[i] + from.re[i + width];
        to.im[i] = from.im[i] + from.im[i + width];
        to.re[i + width] = from.re[i] - from.re[i + width];
        to.im[i + width] = from.im[i] - from.im[i + width];
    }
}

/* Transform what is in place 0; where the result is. */
static struct lines
lines_transform(const struct fft *f, size_t count)
{
    struct lines from = lines_place(f, count, 0);
    struct lines to = lines_place(f, count, 1), swap;
    size_t       n = f->n, width = count;

    for (; n > 1; swap = from, from = to, to = swap) {
        if (n >= 4)
            pass_four(f, to, from, n, width);
        else
            pass_two(to, from, width);
        width *= n >= 4 ? 4 : 2;
        n /= n >= 4 ? 4 : 2;
    }
    return from;
}

void
fft_columns(const struct fft *f, enum direction direction,
            struct cell *const *to, struct cell *const *from, size_t columns)
{
    for (size_t c = 0; c < columns; c += COLUMNS) {
        struct lines l = lines_turn(lines_place(f, COLUMNS, 0), direction);

        for (size_t k = 0; k < f->n; k++)
#pragma omp simd
            for (size_t i = 0; i < COLUMNS; i++) {
                l.re[k * COLUMNS + i] = from[k][c + i].re;
                l.im[k * COLUMNS + i] = from[k][c + i].im;
            }
        l = lines_turn(lines_transform(f, COLUMNS), direction);
        for (size_t k = 0; k < f->n; k++)
#pragma omp simd
            for (size_t i = 0; i < COLUMNS; i++) {
                to[k][c + i].re = l.re[k * COLUMNS + i];
                to[k][c + i].im = l.im[k * COLUMNS + i];
            }
    }
}

/* Rows become lines, and lines rows, by tiles of so many points. */
static void
lines_fill(const struct fft *f, struct lines l, const struct cell *rows)
{
    for (size_t k = 0; k < f->n; k += TILE)
        for (size_t i = 0; i < ROWS; i++)
            for (size_t t = k; t < k + TILE; t++) {
                l.re[t * ROWS + i] = rows[i * f->n + t].re;
                l.im[t * ROWS + i] = rows[i * f->n + t].im;
            }
}

static void
lines_empty(const struct fft *f, struct lines l, struct cell *rows)
{
    for (size_t k = 0; k < f->n; k += TILE)
        for (size_t i = 0; i < ROWS; i++)
            for (size_t t = k; t < k + TILE; t++) {
                rows[i * f->n + t].re = l.re[t * ROWS + i];
                rows[i * f->n + t].im = l.im[t * ROWS + i];
            }
}

void
fft_rows(const struct fft *f, enum direction direction, struct cell *rows,
         size_t count)
{
    for (size_t i = 0; i < count; i += ROWS) {
        struct lines l = lines_turn(lines_place(f, ROWS, 0), direction);

        lines_fill(f, l, rows + i * f->n);
        l = lines_turn(lines_transform(f, ROWS), direction);
        lines_empty(f, l, rows + i * f->n);
    }
}
