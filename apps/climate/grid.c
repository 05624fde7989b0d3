/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <math.h>
#include <stdlib.h>
#include <string.h>

#include "grid.h"

/* The filter begins where columns are half as far apart as at the equator. */
#define FILTER_COSINE 0.5

double
climate_latitude(const struct climate_grid *g, double row)
{
    return APP_PI * (row / (double)(g->rows - 1) - 0.5);
}

double
climate_longitude(const struct climate_grid *g, double column)
{
    return 2 * APP_PI * column / (double)g->columns;
}

/* Cells are bounded by the parallels half way to the next rows. */
static void
row_measure(const struct climate_grid *g, size_t j, struct climate_row *r)
{
    const double a = CLIMATE_RADIUS, row = (double)j;
    const double dx = 2 * APP_PI / (double)g->columns;
    const double dy = APP_PI / (double)(g->rows - 1);
    const bool   pole = j == 0 || j == g->rows - 1;
    const double at = cos(climate_latitude(g, row));
    const double half = cos(climate_latitude(g, row + 0.5));
    const double before = cos(climate_latitude(g, row - 0.5));

    r->area = a * a * dx * (pole ? 1 - cos(dy / 2) : 2 * at * sin(dy / 2));
    r->east = pole ? 0 : 1 / (a * at * dx);
    r->around = pole ? 0 : a * at * dx;
    r->flux = j + 1 < g->rows ? a * half * dx / 2 : 0;
    r->along = pole ? 0 : a * a * at * dx * dy / (4 * r->area);
    r->below = j > 0 ? a * a * before * dx * dy / (4 * r->area) : 0;
    r->above = j + 1 < g->rows ? a * a * half * dx * dy / (4 * r->area) : 0;
    r->turn_south = pole ? 0 : at / before;
    r->turn_north = pole ? 0 : at / half;
    r->filter_h = pole ? 1 : at / FILTER_COSINE;
    r->filter_v = j + 1 < g->rows ? half / FILTER_COSINE : 1;
}

/* What lies between rows j and j + 1; a pole's cell has no other side. */
static void
between_measure(const struct climate_grid *g, size_t j, struct climate_row *r)
{
    const double low = climate_latitude(g, (double)j);
    const double high = climate_latitude(g, (double)j + 1);
    const double south = r[0].area * (j == 0 ? 1 : 0.5);
    const double north = r[1].area * (j + 2 == g->rows ? 1 : 0.5);

    r->curl = (double)g->columns / (2 * APP_PI * CLIMATE_RADIUS *
                                    CLIMATE_RADIUS * (sin(high) - sin(low)));
    r->south = south / (2 * (south + north));
    r->north = north / (2 * (south + north));
}

void
climate_grid_init(struct climate_grid *g, const struct app_run *run,
                  size_t rows, size_t columns, size_t levels, size_t unit)
{
    size_t bytes;

    g->rows = rows;
    g->columns = columns;
    g->levels = levels;
    g->width = (columns + 2) * levels;
    bytes = CLIMATE_FIELDS * g->width * sizeof(double);
    g->stride = (bytes + unit - 1) / unit * unit / sizeof(double);
    g->meridian = CLIMATE_RADIUS * APP_PI / (double)(rows - 1);
    g->coriolis = app_private(run, rows * columns, sizeof *g->coriolis);
    g->row = app_private(run, rows, sizeof *g->row);
    for (size_t j = 0; j < rows; j++)
        row_measure(g, j, &g->row[j]);
    for (size_t j = 0; j + 1 < rows; j++)
        between_measure(g, j, &g->row[j]);
}

void
climate_grid_free(struct climate_grid *g)
{
    free(g->row);
    free(g->coriolis);
}

/*
 * The third-order Runge-Kutta scheme is stable up to a frequency of sqrt(3) /
 * step, and the shortest waves of the C grid have one of 2 speed / distance
 * in each direction; the filter slows down all that would have a higher one.
 */
double
climate_grid_limit(size_t rows, size_t columns, double speed)
{
    const double east =
        CLIMATE_RADIUS * FILTER_COSINE * 2 * APP_PI / (double)columns;
    const double north = CLIMATE_RADIUS * APP_PI / (double)(rows - 1);

    return sqrt(3) / (2 * speed * hypot(1 / east, 1 / north));
}

void
climate_row_wrap(const struct climate_grid *g, double *x)
{
    const size_t levels = g->levels, row = g->columns * levels;

    memcpy(x - levels, x + row - levels, levels * sizeof *x);
    memcpy(x + row, x, levels * sizeof *x);
}
