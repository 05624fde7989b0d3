/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The sphere of hearth-climate: where its points are, and how a state lies in
 * memory.
 *
 * Row j of the grid is the latitude -90 + 180 j / (rows - 1) degrees, so that
 * the first and the last one are the poles, each a single point that is
 * stored `columns` times.  The points are those of Arakawa's C grid: thickness
 * at (i, j), the wind to the east at (i + 1/2, j), the wind to the north at
 * (i, j + 1/2), vorticity at (i + 1/2, j + 1/2).
 *
 * A state is one array: row by row, in a row field by field, in a field column
 * by column with a copy of the last one before the first and of the first
 * one behind the last, in a column level by level from the top.
 */
#ifndef APPS_CLIMATE_GRID_H
#define APPS_CLIMATE_GRID_H

#include "common.h"

#define CLIMATE_RADIUS   6.37122e6 /* of the earth, m */
#define CLIMATE_ROTATION 7.292e-5  /* of the earth, 1/s */
#define CLIMATE_GRAVITY  9.80616   /* m/s^2 */

enum climate_field { CLIMATE_U, CLIMATE_V, CLIMATE_H, CLIMATE_FIELDS };

/* What the equations need to know of row j and of what is north of it. */
struct climate_row {
    double area;         /* of the cell of a thickness */
    double east;         /* 1 / distance of two columns; 0 at a pole */
    double flux;         /* half the length of a cell's northern edge */
    double around;       /* that of the parallel through the row */
    double curl;         /* 1 / area of the cell of a vorticity */
    double south, north; /* weights of two rows in the thickness there */
    double along;        /* weights in the kinetic energy: u^2 ... */
    double below, above; /* v^2 south of the row, and north of it */
    double turn_south, turn_north; /* cosine over that half a row away */
    double filter_h, filter_v;     /* cosine / that where the filter begins */
};

struct climate_grid {
    size_t              rows, columns, levels;
    size_t              width;    /* doubles of a field in a row */
    size_t              stride;   /* doubles from a row to the next one */
    double              meridian; /* distance of two rows */
    double             *coriolis; /* by row and column, at vorticities */
    struct climate_row *row;
};

/* Fill in all but the Coriolis parameter; rows are whole units of bytes. */
void climate_grid_init(struct climate_grid *g, const struct app_run *run,
                       size_t rows, size_t columns, size_t levels,
                       size_t unit);
void climate_grid_free(struct climate_grid *g);

double climate_latitude(const struct climate_grid *g, double row);
double climate_longitude(const struct climate_grid *g, double column);

/* The longest time step that is stable with winds and waves so fast. */
double climate_grid_limit(size_t rows, size_t columns, double speed);

/* Column 0 of a field in a row of a state. */
static inline double *
climate_at(const struct climate_grid *g, double *state, size_t row,
           enum climate_field field)
{
    return state + row * g->stride + (size_t)field * g->width + g->levels;
}

static inline const double *
climate_in(const struct climate_grid *g, const double *state, size_t row,
           enum climate_field field)
{
    return state + row * g->stride + (size_t)field * g->width + g->levels;
}

/* Copy the first and the last column to the other end; x is column 0. */
void climate_row_wrap(const struct climate_grid *g, double *x);

#endif
