/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>

#include "case.h"

/* The case: a turn in 12 days, and the height that goes with it. */
#define WIND   (2 * APP_PI * CLIMATE_RADIUS / (12 * 86400.0))
#define HEIGHT (2.94e4 / CLIMATE_GRAVITY)
#define SPIN   (CLIMATE_RADIUS * CLIMATE_ROTATION)
#define SLOPE  ((SPIN * WIND + WIND * WIND / 2) / CLIMATE_GRAVITY)

double
climate_case_speed(void)
{
    return WIND + sqrt(CLIMATE_GRAVITY * HEIGHT);
}

/* Thickness of a layer, with respect to that of the case. */
static double
layer_part(const struct climate_grid *g, size_t level)
{
    return 1 - 0.3 * (double)level / (double)g->levels;
}

/* The wind that balances what presses on a layer. */
static double
layer_wind(const struct climate_grid *g, size_t level)
{
    double part = 0;

    for (size_t k = 0; k < g->levels; k++)
        part += layer_part(g, k) / (double)g->levels;
    part = (part + layer_part(g, level)) / 2;
    return sqrt(SPIN * SPIN + 2 * CLIMATE_GRAVITY * SLOPE * part) - SPIN;
}

/* Sine of the latitude with respect to the axis, at (i, j). */
static double
axis_sine(const struct climate_grid *g, double angle, double i, double j)
{
    const double lean = angle * APP_PI / 180;
    const double y = climate_latitude(g, j);

    return sin(y) * cos(lean) -
           cos(climate_longitude(g, i)) * cos(y) * sin(lean);
}

void
climate_case_turn(struct climate_grid *g, double angle)
{
    for (size_t j = 0; j < g->rows; j++)
        for (size_t i = 0; i < g->columns; i++)
            g->coriolis[j * g->columns + i] =
                2 * CLIMATE_ROTATION *
                axis_sine(g, angle, (double)i + 0.5, (double)j + 0.5);
}

static void
row_fill(const struct climate_grid *g, double *state, double angle, size_t j)
{
    const double lean = angle * APP_PI / 180, row = (double)j;
    const double y = climate_latitude(g, row);
    const bool   south = j == 0, north = j == g->rows - 1;
    double      *u = climate_at(g, state, j, CLIMATE_U);
    double      *v = climate_at(g, state, j, CLIMATE_V);
    double      *h = climate_at(g, state, j, CLIMATE_H);

    for (size_t i = 0; i < g->columns; i++) {
        const double x = climate_longitude(g, (double)i);
        const double between = climate_longitude(g, (double)i + 0.5);
        const double sine =
            axis_sine(g, angle, south || north ? 0 : (double)i, row);

        for (size_t k = 0; k < g->levels; k++) {
            const double wind = layer_wind(g, k);
            const size_t e = i * g->levels + k;

            h[e] = layer_part(g, k) * (HEIGHT - SLOPE * sine * sine);
            if (!south && !north)
                u[e] = wind * (cos(y) * cos(lean) +
                               cos(between) * sin(y) * sin(lean));
            if (!north)
                v[e] = -wind * sin(x) * sin(lean);
        }
    }
    climate_row_wrap(g, u);
    climate_row_wrap(g, v);
    climate_row_wrap(g, h);
}

void
climate_case_fill(const struct climate_grid *g, double *state, double angle,
                  size_t from, size_t to)
{
    for (size_t j = from; j < to; j++)
        row_fill(g, state, angle, j);
}

double
climate_case_mass(const struct climate_grid *g, const double *state,
                  size_t level)
{
    long double mass = 0;

    for (size_t j = 0; j < g->rows; j++) {
        const double *h = climate_in(g, state, j, CLIMATE_H);
        long double   row = 0;

        for (size_t i = 0; i < g->columns; i++)
            row += h[i * g->levels + level];
        mass += row * g->row[j].area;
    }
    return (double)mass;
}

static struct climate_norms
layer_norms(const struct climate_grid *g, const double *state,
            const double *solution, size_t level)
{
    struct climate_norms error = { 0, 0, 0 }, whole = { 0, 0, 0 };

    for (size_t j = 0; j < g->rows; j++) {
        const double *h = climate_in(g, state, j, CLIMATE_H);
        const double *s = climate_in(g, solution, j, CLIMATE_H);

        for (size_t e = level; e < g->columns * g->levels; e += g->levels) {
            const double wrong = fabs(h[e] - s[e]);

            error.l1 += g->row[j].area * wrong;
            error.l2 += g->row[j].area * wrong * wrong;
            error.most = app_worse(error.most, wrong);
            whole.l1 += g->row[j].area * s[e];
            whole.l2 += g->row[j].area * s[e] * s[e];
            whole.most = fmax(whole.most, s[e]);
        }
    }
    error.l1 /= whole.l1;
    error.l2 = sqrt(error.l2 / whole.l2);
    error.most /= whole.most;
    return error;
}

struct climate_norms
climate_case_norms(const struct climate_grid *g, const double *state,
                   const double *solution)
{
    struct climate_norms worst = { 0, 0, 0 };

    for (size_t k = 0; k < g->levels; k++) {
        struct climate_norms n = layer_norms(g, state, solution, k);

        worst.l1 = app_worse(worst.l1, n.l1);
        worst.l2 = app_worse(worst.l2, n.l2);
        worst.most = app_worse(worst.most, n.most);
    }
    return worst;
}
