/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * In all loops over a row, e is column i and level k at i * levels + k, and
 * `w` further is the next column.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "core.h"

void
climate_core_init(struct climate_core *c, const struct app_run *run,
                  const struct climate_grid *g)
{
    c->grid = g;
    climate_filter_init(&c->filter, run, g->columns, g->levels);
    for (int i = 0; i < 3; i++) {
        c->east[i] = app_private(run, g->width, sizeof(double));
        c->north[i] = app_private(run, g->width, sizeof(double));
        c->twist[i] = app_private(run, g->width, sizeof(double));
        c->energy[i] = app_private(run, g->width, sizeof(double));
        c->rate[i] = app_private(run, g->width, sizeof(double));
    }
}

void
climate_core_free(struct climate_core *c)
{
    for (int i = 0; i < 3; i++) {
        free(c->rate[i]);
        free(c->energy[i]);
        free(c->twist[i]);
        free(c->north[i]);
        free(c->east[i]);
    }
    climate_filter_free(&c->filter);
}

/* Column 0 of row j; row -1 is the last one of the three. */
static double *
kept_row(const struct climate_core *c, double *const kept[3], size_t j)
{
    return kept[(j + 3) % 3] + c->grid->levels;
}

/* The mass that row j's winds carry, to the east and to the north. */
static void
fluxes_find(const struct climate_core *c, const double *state, size_t j)
{
    const struct climate_grid *g = c->grid;
    const size_t               w = g->levels, n = g->columns * w;
    const double along = g->meridian / 2, across = g->row[j].flux;
    const double *restrict u = climate_in(g, state, j, CLIMATE_U) - w;
    const double *restrict v = climate_in(g, state, j, CLIMATE_V) - w;
    const double *restrict h = climate_in(g, state, j, CLIMATE_H) - w;
    const double *restrict up = climate_in(g, state, j + 1, CLIMATE_H) - w;
    double *restrict east = kept_row(c, c->east, j) - w;
    double *restrict north = kept_row(c, c->north, j) - w;

#pragma omp simd
    for (size_t e = 0; e < n + w; e++)
        east[e] = along * u[e] * (h[e] + h[e + w]);
#pragma omp simd
    for (size_t e = 0; e < n + 2 * w; e++)
        north[e] = across * v[e] * (h[e] + up[e]);
}

/* q, north of row j. */
static void
twist_find(const struct climate_core *c, const double *state, size_t j)
{
    const struct climate_grid *g = c->grid;
    const struct climate_row  *r = &g->row[j];
    const size_t               w = g->levels;
    const double               low = r[0].around, high = r[1].around;
    const double *restrict u = climate_in(g, state, j, CLIMATE_U);
    const double *restrict v = climate_in(g, state, j, CLIMATE_V);
    const double *restrict h = climate_in(g, state, j, CLIMATE_H);
    const double *restrict above = climate_in(g, state, j + 1, CLIMATE_U);
    const double *restrict up = climate_in(g, state, j + 1, CLIMATE_H);
    double *restrict twist = kept_row(c, c->twist, j);
    const double *f = g->coriolis + j * g->columns;

    for (size_t i = 0; i < g->columns; i++) {
        const double coriolis = f[i];

#pragma omp simd
        for (size_t e = i * w; e < (i + 1) * w; e++) {
            double curl = r->curl * (g->meridian * (v[e + w] - v[e]) -
                                     (high * above[e] - low * u[e]));

            twist[e] = (coriolis + curl) / (r->south * (h[e] + h[e + w]) +
                                            r->north * (up[e] + up[e + w]));
        }
    }
    climate_row_wrap(g, twist);
}

/* M in columns of `levels` layers. */
static void
pressure_find(const struct climate_grid *g, const double *restrict h,
              double *restrict m)
{
    const size_t levels = g->levels;
    const double half = CLIMATE_GRAVITY / 2;

    for (size_t i = 0; i <= g->columns; i++) {
        double all = 0;

        for (size_t k = 0; k < levels; k++)
            all += h[k];
        all *= half / (double)levels;
        for (size_t k = 0; k < levels; k++)
            m[k] = all + half * h[k];
        h += levels;
        m += levels;
    }
}

/* At a pole the winds from all sides meet: the mean, everywhere the same. */
static void
pole_mean(const struct climate_grid *g, double *x)
{
    const size_t w = g->levels;

    for (size_t i = 1; i < g->columns; i++)
        for (size_t k = 0; k < w; k++)
            x[k] += x[i * w + k];
    for (size_t k = 0; k < w; k++)
        x[k] /= (double)g->columns;
    for (size_t i = 1; i <= g->columns; i++)
        memcpy(x + i * w, x, w * sizeof *x);
}

/* K + M at row j. */
static void
energy_find(const struct climate_core *c, const double *state, size_t j)
{
    const struct climate_grid *g = c->grid;
    const struct climate_row  *r = &g->row[j];
    const size_t               w = g->levels, n = (g->columns + 1) * w;
    const double along = r->along, below = r->below, above = r->above;
    const double *restrict u = climate_in(g, state, j, CLIMATE_U) - w;
    const double *restrict v = climate_in(g, state, j, CLIMATE_V);
    const double *restrict s =
        climate_in(g, state, j > 0 ? j - 1 : 0, CLIMATE_V);
    double *restrict energy = kept_row(c, c->energy, j);

    pressure_find(g, climate_in(g, state, j, CLIMATE_H), energy);
#pragma omp simd
    for (size_t e = 0; e < n; e++)
        energy[e] += along * (u[e] * u[e] + u[e + w] * u[e + w]) +
                     (below * (s[e] * s[e]) + above * (v[e] * v[e]));
    if (j == 0 || j == g->rows - 1)
        pole_mean(g, energy);
}

/* Row j where nothing flows: beyond a pole, or at the northern one. */
static void
row_clear(const struct climate_core *c, size_t j)
{
    memset(c->east[j % 3], 0, c->grid->width * sizeof(double));
    memset(c->north[j % 3], 0, c->grid->width * sizeof(double));
    memset(c->twist[j % 3], 0, c->grid->width * sizeof(double));
}

/* All that is between the fields, at row j and north of it. */
static void
row_prepare(const struct climate_core *c, const double *state, size_t j)
{
    if (j >= c->grid->rows)
        return;
    if (j + 1 < c->grid->rows) {
        fluxes_find(c, state, j);
        twist_find(c, state, j);
    } else {
        row_clear(c, j);
    }
    energy_find(c, state, j);
}

static void
thickness_rate(const struct climate_core *c, size_t j)
{
    const struct climate_grid *g = c->grid;
    const size_t               w = g->levels, n = g->columns * w;
    const double               per = -1 / g->row[j].area;
    const double *restrict east = kept_row(c, c->east, j) - w;
    const double *restrict north = kept_row(c, c->north, j);
    const double *restrict south = kept_row(c, c->north, j + 2);
    double *restrict rate = c->rate[CLIMATE_H];

#pragma omp simd
    for (size_t e = 0; e < n; e++)
        rate[e] = per * ((east[e + w] - east[e]) + (north[e] - south[e]));
    if (j == 0 || j == g->rows - 1)
        pole_mean(g, rate);
}

static void
east_rate(const struct climate_core *c, size_t j)
{
    const struct climate_grid *g = c->grid;
    const size_t               w = g->levels, n = g->columns * w;
    const double               per = g->row[j].east;
    const double               upper = per / 12 * g->row[j].turn_north;
    const double               lower = per / 12 * g->row[j].turn_south;
    const double *restrict energy = kept_row(c, c->energy, j);
    const double *restrict north = kept_row(c, c->north, j);
    const double *restrict south = kept_row(c, c->north, j + 2);
    const double *restrict q = kept_row(c, c->twist, j) - w;
    const double *restrict p = kept_row(c, c->twist, j + 2) - w;
    double *restrict rate = c->rate[CLIMATE_U];

#pragma omp simd
    for (size_t e = 0; e < n; e++) {
        double both = q[e + w] + p[e + w];
        double turn = upper * (north[e] * (both + q[e]) +
                               north[e + w] * (both + q[e + 2 * w])) +
                      lower * (south[e] * (both + p[e]) +
                               south[e + w] * (both + p[e + 2 * w]));

        rate[e] = turn - per * (energy[e + w] - energy[e]);
    }
}

static void
north_rate(const struct climate_core *c, size_t j)
{
    const struct climate_grid *g = c->grid;
    const size_t               w = g->levels, n = g->columns * w;
    const double               per = 1 / g->meridian;
    const double               upper = per / 12 * g->row[j + 1].turn_south;
    const double               lower = per / 12 * g->row[j].turn_north;
    const double *restrict energy = kept_row(c, c->energy, j);
    const double *restrict up = kept_row(c, c->energy, j + 1);
    const double *restrict east = kept_row(c, c->east, j) - w;
    const double *restrict above = kept_row(c, c->east, j + 1) - w;
    const double *restrict q = kept_row(c, c->twist, j) - w;
    const double *restrict high = kept_row(c, c->twist, j + 1) - w;
    const double *restrict low = kept_row(c, c->twist, j + 2) - w;
    double *restrict rate = c->rate[CLIMATE_V];

#pragma omp simd
    for (size_t e = 0; e < n; e++) {
        double both = q[e] + q[e + w];
        double turn = upper * (above[e] * (both + high[e]) +
                               above[e + w] * (both + high[e + w])) +
                      lower * (east[e] * (both + low[e]) +
                               east[e + w] * (both + low[e + w]));

        rate[e] = -turn - per * (up[e] - energy[e]);
    }
}

/* The tendency of row j, with nothing in it that is too fast. */
static void
rates_find(struct climate_core *c, size_t j)
{
    const struct climate_grid *g = c->grid;
    const struct climate_row  *r = &g->row[j];

    thickness_rate(c, j);
    east_rate(c, j);
    if (j + 1 < g->rows)
        north_rate(c, j);
    else
        memset(c->rate[CLIMATE_V], 0, g->columns * g->levels * sizeof(double));
    if (r->filter_h < 1 || r->filter_v < 1)
        climate_filter_rows(&c->filter, c->rate[CLIMATE_U], c->rate[CLIMATE_H],
                            r->filter_h, c->rate[CLIMATE_V], r->filter_v);
}

void
climate_core_advance(struct climate_core *c, double *target,
                     const double *base, const double *source, double seconds,
                     size_t from, size_t to)
{
    const struct climate_grid *g = c->grid;

    if (from >= to)
        return;
    if (from == 0) {
        row_clear(c, 2);
    } else { /* its energy would need one more row */
        fluxes_find(c, source, from - 1);
        twist_find(c, source, from - 1);
    }
    row_prepare(c, source, from);
    for (size_t j = from; j < to; j++) {
        row_prepare(c, source, j + 1);
        rates_find(c, j);
        for (int f = CLIMATE_U; f < CLIMATE_FIELDS; f++) {
            const double *rate = c->rate[f];
            const double *x = climate_in(g, base, j, (enum climate_field)f);
            double       *y = climate_at(g, target, j, (enum climate_field)f);

#pragma omp simd
            for (size_t e = 0; e < g->columns * g->levels; e++)
                y[e] = x[e] + seconds * rate[e];
            climate_row_wrap(g, y);
        }
    }
}
