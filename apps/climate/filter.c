/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "filter.h"
#include "grid.h"

/* The factors of a transform's size, fours before twos; 0 if it has others. */
static size_t
radices_find(size_t n, size_t *radix)
{
    static const size_t tried[] = { 4, 2, 3 };
    size_t              count = 0;

    for (size_t i = 0; i < sizeof tried / sizeof tried[0]; i++)
        for (; n % tried[i] == 0; n /= tried[i]) {
            if (count == CLIMATE_RADICES)
                return 0;
            radix[count++] = tried[i];
        }
    return n == 1 ? count : 0;
}

bool
climate_filter_can(size_t columns)
{
    size_t radix[CLIMATE_RADICES];

    return radices_find(columns, radix) > 0;
}

void
climate_filter_init(struct climate_filter *f, const struct app_run *run,
                    size_t columns, size_t levels)
{
    f->columns = columns;
    f->levels = levels;
    f->half = (levels + 1) / 2;
    f->lanes = levels + f->half;
    f->radices = radices_find(columns, f->radix);
    f->cosine = app_private(run, columns, sizeof *f->cosine);
    f->sine = app_private(run, columns, sizeof *f->sine);
    f->part = app_private(run, columns, sizeof *f->part);
    for (size_t i = 0; i < columns; i++) {
        const double step = APP_PI / (double)columns;
        const size_t wave = i < columns - i ? i : columns - i;

        f->cosine[i] = cos(2 * step * (double)i);
        f->sine[i] = -sin(2 * step * (double)i);
        f->part[i] = i > 0 ? 1 / sin(step * (double)wave) : HUGE_VAL;
    }
    for (int i = 0; i < 2; i++) {
        f->re[i] = app_private(run, columns * f->lanes, sizeof(double));
        f->im[i] = app_private(run, columns * f->lanes, sizeof(double));
    }
}

void
climate_filter_free(struct climate_filter *f)
{
    for (int i = 0; i < 2; i++) {
        free(f->im[i]);
        free(f->re[i]);
    }
    free(f->part);
    free(f->sine);
    free(f->cosine);
}

/* Complex numbers, real and imaginary parts apart. */
struct pair {
    double *re, *im;
};

/*
 * One butterfly of a pass: `count` numbers side by side, the r inputs `from`
 * apart and the r outputs `count` apart; wr and wi are what outputs 1 to 3
 * are turned by.
 */
struct turn {
    size_t count, from;
    double wr[4], wi[4];
};

static void
butterfly_2(const struct turn *t, struct pair x, struct pair y)
{
    const size_t n = t->count, d = t->from;
    const double wr = t->wr[1], wi = t->wi[1];

#pragma omp simd
    for (size_t q = 0; q < n; q++) {
        double r = x.re[q] - x.re[q + d], i = x.im[q] - x.im[q + d];

        y.re[q] = x.re[q] + x.re[q + d];
        y.im[q] = x.im[q] + x.im[q + d];
        y.re[q + n] = r * wr - i * wi;
        y.im[q + n] = r * wi + i * wr;
    }
}

static void
butterfly_3(const struct turn *t, struct pair x, struct pair y)
{
    const size_t n = t->count, d = t->from;
    const double s = 0.86602540378443864676; /* sqrt(3) / 2 */
    const double wr1 = t->wr[1], wi1 = t->wi[1];
    const double wr2 = t->wr[2], wi2 = t->wi[2];

#pragma omp simd
    for (size_t q = 0; q < n; q++) {
        double sr = x.re[q + d] + x.re[q + 2 * d];
        double si = x.im[q + d] + x.im[q + 2 * d];
        double dr = s * (x.re[q + d] - x.re[q + 2 * d]);
        double di = s * (x.im[q + d] - x.im[q + 2 * d]);
        double mr = x.re[q] - 0.5 * sr, mi = x.im[q] - 0.5 * si;

        y.re[q] = x.re[q] + sr;
        y.im[q] = x.im[q] + si;
        y.re[q + n] = (mr + di) * wr1 - (mi - dr) * wi1;
        y.im[q + n] = (mr + di) * wi1 + (mi - dr) * wr1;
        y.re[q + 2 * n] = (mr - di) * wr2 - (mi + dr) * wi2;
        y.im[q + 2 * n] = (mr - di) * wi2 + (mi + dr) * wr2;
    }
}

static void
butterfly_4(const struct turn *t, struct pair x, struct pair y)
{
    const size_t n = t->count, d = t->from;
    const double wr1 = t->wr[1], wi1 = t->wi[1];
    const double wr2 = t->wr[2], wi2 = t->wi[2];
    const double wr3 = t->wr[3], wi3 = t->wi[3];

#pragma omp simd
    for (size_t q = 0; q < n; q++) {
        double ar = x.re[q] + x.re[q + 2 * d];
        double ai = x.im[q] + x.im[q + 2 * d];
        double br = x.re[q] - x.re[q + 2 * d];
        double bi = x.im[q] - x.im[q + 2 * d];
        double cr = x.re[q + d] + x.re[q + 3 * d];
        double ci = x.im[q + d] + x.im[q + 3 * d];
        double dr = x.re[q + d] - x.re[q + 3 * d];
        double di = x.im[q + d] - x.im[q + 3 * d];

        y.re[q] = ar + cr;
        y.im[q] = ai + ci;
        y.re[q + n] = (br + di) * wr1 - (bi - dr) * wi1;
        y.im[q + n] = (br + di) * wi1 + (bi - dr) * wr1;
        y.re[q + 2 * n] = (ar - cr) * wr2 - (ai - ci) * wi2;
        y.im[q + 2 * n] = (ar - cr) * wi2 + (ai - ci) * wr2;
        y.re[q + 3 * n] = (br - di) * wr3 - (bi + dr) * wi3;
        y.im[q + 3 * n] = (br - di) * wi3 + (bi + dr) * wr3;
    }
}

/*
 * One pass of the transform after Stockham (Cochran et al., What is the fast
 * Fourier transform?, Proc. IEEE 55, 1967), which needs no sorting: `done`
 * points of it are done, and r times as many afterwards.
 */
static void
pass_run(const struct climate_filter *f, size_t r, size_t done, struct pair x,
         struct pair y)
{
    const size_t left = f->columns / done / r;
    struct turn  t = { .count = done * f->lanes, .wr = { 1 } };

    t.from = left * t.count;
    for (size_t p = 0; p < left; p++) {
        for (size_t u = 1; u < r; u++) {
            t.wr[u] = f->cosine[p * u * done];
            t.wi[u] = f->sine[p * u * done];
        }
        (r == 4 ? butterfly_4 : r == 3 ? butterfly_3 : butterfly_2)(&t, x, y);
        x.re += t.count;
        x.im += t.count;
        y.re += r * t.count;
        y.im += r * t.count;
    }
}

/* Transform buffer `from`; the number of the one that has the result. */
static int
transform_run(const struct climate_filter *f, int from, bool back)
{
    size_t done = 1;

    for (size_t i = 0; i < f->radices; i++) {
        struct pair x = { f->re[from], f->im[from] };
        struct pair y = { f->re[!from], f->im[!from] };

        if (back) { /* the same with real and imaginary parts exchanged */
            x = (struct pair){ f->im[from], f->re[from] };
            y = (struct pair){ f->im[!from], f->re[!from] };
        }
        pass_run(f, f->radix[i], done, x, y);
        done *= f->radix[i];
        from = !from;
    }
    return from;
}

static void
lanes_scale(const struct climate_filter *f, int at, double ratio,
            double ratio_v)
{
    const size_t levels = f->levels, lanes = f->lanes;
    const double n = (double)f->columns;

    for (size_t m = 0; m < f->columns; m++) {
        const double keep = fmin(1, ratio * f->part[m]) / n;
        const double keep_v = fmin(1, ratio_v * f->part[m]) / n;
        double *restrict re = f->re[at] + m * lanes;
        double *restrict im = f->im[at] + m * lanes;

        for (size_t k = 0; k < levels; k++) {
            re[k] *= keep;
            im[k] *= keep;
        }
        for (size_t k = levels; k < lanes; k++) {
            re[k] *= keep_v;
            im[k] *= keep_v;
        }
    }
}

/*
 * The filter is real and even, so that two real rows can be the real and the
 * imaginary part of one: u and h; and of v, which has a latitude of its own,
 * the upper half of the levels and the lower one.  With an odd number of
 * levels the one in the middle is in both; either result does.
 */
static void
lanes_pack(const struct climate_filter *f, const double *u, const double *h,
           const double *v)
{
    const size_t levels = f->levels, low = levels - f->half;

    for (size_t i = 0; i < f->columns; i++) {
        double *re = f->re[0] + i * f->lanes, *im = f->im[0] + i * f->lanes;

        memcpy(re, u + i * levels, levels * sizeof *re);
        memcpy(im, h + i * levels, levels * sizeof *im);
        memcpy(re + levels, v + i * levels, f->half * sizeof *re);
        memcpy(im + levels, v + i * levels + low, f->half * sizeof *im);
    }
}

void
climate_filter_rows(struct climate_filter *f, double *u, double *h,
                    double ratio, double *v, double ratio_v)
{
    const size_t levels = f->levels, low = levels - f->half;
    int          at;

    lanes_pack(f, u, h, v);
    at = transform_run(f, 0, false);
    lanes_scale(f, at, ratio, ratio_v);
    at = transform_run(f, at, true);
    for (size_t i = 0; i < f->columns; i++) {
        double *re = f->re[at] + i * f->lanes, *im = f->im[at] + i * f->lanes;

        if (ratio < 1) {
            memcpy(u + i * levels, re, levels * sizeof *re);
            memcpy(h + i * levels, im, levels * sizeof *im);
        }
        if (ratio_v < 1) {
            memcpy(v + i * levels, re + levels, f->half * sizeof *re);
            memcpy(v + i * levels + low, im + levels, f->half * sizeof *im);
        }
    }
}
