/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <stdlib.h>

#include "heat.h"
#include "npb.h"

enum { SAMPLES = 1024 };

static size_t
larger(size_t a, size_t b)
{
    return a > b ? a : b;
}

void
heat_init(struct heat *h)
{
    const struct problem *p = h->problem;
    const size_t          most = larger(p->nx, larger(p->ny, p->nz));

    h->fft_x = fft_make(h->run, p->nx);
    h->fft_y = fft_make(h->run, p->ny);
    h->fft_z = fft_make(h->run, p->nz);
    h->plane = app_private(h->run, p->nz * p->nx, sizeof *h->plane);
    h->from = app_private(h->run, most, sizeof *h->from);
    h->to = app_private(h->run, most, sizeof *h->to);
    for (int d = 0; d < 3; d++)
        h->decay[d] = app_private(h->run, most, sizeof *h->decay[d]);
}

void
heat_free(struct heat *h)
{
    for (int d = 0; d < 3; d++)
        free(h->decay[d]);
    free(h->to);
    free(h->from);
    free(h->plane);
    fft_free(&h->fft_z);
    fft_free(&h->fft_y);
    fft_free(&h->fft_x);
}

static struct cell *
field_plane(const struct heat *h, size_t z)
{
    return h->field + (z - h->z.from) * h->problem->ny * h->problem->nx;
}

static struct cell *
spectrum_plane(const struct heat *h, size_t y)
{
    return h->spectrum + (y - h->y.from) * h->problem->nz * h->problem->nx;
}

/* Cell i of all has the numbers 2 i and 2 i + 1 of NPB's sequence. */
void
heat_start(struct heat *h)
{
    const size_t area = h->problem->ny * h->problem->nx;
    uint64_t     x = npb_jump(314159265, 2 * area * h->z.from);

    for (size_t i = 0; i < (h->z.to - h->z.from) * area; i++) {
        h->field[i].re = (double)(x = npb_next(x)) * 0x1p-46;
        h->field[i].im = (double)(x = npb_next(x)) * 0x1p-46;
    }
}

/* Along x and y in my planes z, then along z in my planes y. */
static void
heat_forward(struct heat *h)
{
    const struct problem  *p = h->problem;
    const struct crossing *c = h->crossing;

    for (size_t z = h->z.from; z < h->z.to; z++) {
        fft_rows(&h->fft_x, FORWARD, field_plane(h, z), p->ny);
        for (size_t y = 0; y < p->ny; y++) {
            h->from[y] = field_plane(h, z) + y * p->nx;
            h->to[y] = c->put(h, FORWARD, y, z);
        }
        fft_columns(&h->fft_y, FORWARD, h->to, h->from, p->nx);
    }
    c->start(h, FORWARD);
    for (size_t y = h->y.from; y < h->y.to; y++) {
        for (size_t z = 0; z < p->nz; z++) {
            h->from[z] = c->get(h, FORWARD, y, z);
            h->to[z] = spectrum_plane(h, y) + z * p->nx;
        }
        fft_columns(&h->fft_z, FORWARD, h->to, h->from, p->nx);
    }
    c->end(h);
}

/* What is left of wave k of n after a time, for one direction. */
static void
decay_fill(double *decay, size_t n, int time)
{
    const double alpha = 1e-6;

    for (size_t k = 0; k < n; k++) {
        double waves = k < n / 2 ? (double)k : (double)k - (double)n;

        decay[k] = exp(-4 * alpha * APP_PI * APP_PI * waves * waves * time);
    }
}

/* A plane y of the transform at the time of decay[]. */
static void
plane_decay(struct heat *h, size_t y)
{
    const struct problem *p = h->problem;
    const struct cell    *from = spectrum_plane(h, y);
    const double         *decay = h->decay[0];
    struct cell          *to = h->plane;

    for (size_t z = 0; z < p->nz; z++, from += p->nx, to += p->nx) {
        const double outer = h->decay[1][y] * h->decay[2][z];

        for (size_t x = 0; x < p->nx; x++) {
            to[x].re = from[x].re * (outer * decay[x]);
            to[x].im = from[x].im * (outer * decay[x]);
        }
    }
}

/* Back again: along z in my planes y, along y and x in my planes z. */
static void
heat_backward(struct heat *h)
{
    const struct problem  *p = h->problem;
    const struct crossing *c = h->crossing;

    for (size_t y = h->y.from; y < h->y.to; y++) {
        plane_decay(h, y);
        for (size_t z = 0; z < p->nz; z++) {
            h->from[z] = h->plane + z * p->nx;
            h->to[z] = c->put(h, BACKWARD, y, z);
        }
        fft_columns(&h->fft_z, BACKWARD, h->to, h->from, p->nx);
    }
    c->start(h, BACKWARD);
    for (size_t z = h->z.from; z < h->z.to; z++) {
        for (size_t y = 0; y < p->ny; y++) {
            h->from[y] = c->get(h, BACKWARD, y, z);
            h->to[y] = field_plane(h, z) + y * p->nx;
        }
        fft_columns(&h->fft_y, BACKWARD, h->to, h->from, p->nx);
        fft_rows(&h->fft_x, BACKWARD, field_plane(h, z), p->ny);
    }
    c->end(h);
}

/* Each plane's part of the checksum; not normalised. */
static void
planes_sum(struct heat *h, struct cell *sums)
{
    const struct problem *p = h->problem;

    for (size_t j = 1; j <= SAMPLES; j++) {
        const size_t x = j % p->nx, y = 3 * j % p->ny, z = 5 * j % p->nz;

        if (z >= h->z.from && z < h->z.to) {
            const struct cell *cell = field_plane(h, z) + y * p->nx + x;

            sums[z].re += cell->re;
            sums[z].im += cell->im;
        }
    }
}

void
heat_run(struct heat *h)
{
    const struct problem *p = h->problem;

    app_start(h->run);
    heat_forward(h);
    for (int step = 1; step <= FT_STEPS; step++) {
        decay_fill(h->decay[0], p->nx, step);
        decay_fill(h->decay[1], p->ny, step);
        decay_fill(h->decay[2], p->nz, step);
        heat_backward(h);
        planes_sum(h, h->sums + (size_t)(step - 1) * p->nz);
        app_progress(h->run, "step", step, FT_STEPS);
    }
    app_stop(h->run);
}

/* The sum over all planes, in one order for any ranks. */
static struct cell
step_sum(const struct heat *h, int step)
{
    const struct problem *p = h->problem;
    const struct cell    *sums = h->sums + (size_t)(step - 1) * p->nz;
    const double          cells = (double)(p->nx * p->ny * p->nz);
    struct cell           sum = { 0, 0 };

    for (size_t z = 0; z < p->nz; z++) {
        sum.re += sums[z].re;
        sum.im += sums[z].im;
    }
    return (struct cell){ sum.re / cells, sum.im / cells };
}

void
heat_report(const struct heat *h)
{
    const struct problem *p = h->problem;
    struct cell           sum = { 0, 0 };

    if (h->run->rank != 0)
        return;
    for (int step = 1; step <= FT_STEPS; step++) {
        const struct cell *want = &p->want[step - 1];

        sum = step_sum(h, step);
        if (h->run->verify)
            app_verdict(h->run,
                        hypot(sum.re - want->re, sum.im - want->im) <=
                            1e-12 * hypot(want->re, want->im),
                        "checksum %d is (%.13g, %.13g), not (%.13g, %.13g)",
                        step, sum.re, sum.im, want->re, want->im);
    }
    app_field(h->run, "cells=%zux%zux%zu checksum=%.12e,%.12e", p->nx, p->ny,
              p->nz, sum.re, sum.im);
}
