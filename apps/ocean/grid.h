/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The grids of hearth-ocean and how the ranks divide them.
 *
 * A plane has (n + 2) x (n + 2) points, whose outermost ones are the coast.
 * It is cut into down x across parts, one for each rank, and lies in memory
 * in one of the two ways of SPLASH-2's Ocean:
 *
 * - rows: a two-dimensional array, row after row.  A part narrower than the
 *   plane is not contiguous, and its pages have points of other parts too.
 * - contiguous: each part by itself, in pages at home on its rank, with a
 *   margin of one point for copies of its neighbours' points.  Those are
 *   brought up to date where they will be needed (ocean_grid_refresh()).
 *
 * Nobody but a part's rank writes its points, and nobody else reads its
 * margin.
 */
#ifndef APPS_OCEAN_GRID_H
#define APPS_OCEAN_GRID_H

#include "common.h"

/* Point (i, j) is red when i + j is even. */
enum ocean_colour { OCEAN_RED, OCEAN_BLACK, OCEAN_ALL };

/* How ranks divide the planes. */
struct ocean_division {
    bool   contiguous; /* parts lie by themselves, or in rows */
    int    across;     /* parts side by side */
    size_t sole;       /* coarser planes of as many points a row, and fewer,
                        * are rank 0's alone */
};

/* Who computes: all ranks in shared memory, or one in its own. */
struct ocean_team {
    const struct app_run *run;
    bool                  shared, contiguous;
    int                   down, across;
    size_t                sole;
    double               *greatest; /* see ocean_team_max() */
    unsigned              turn;
};

struct ocean_plane {
    const struct ocean_team *team;
    size_t                   n;
    size_t                  *row, *column; /* where parts begin, and the end */
    size_t top, bottom, left, right;       /* this rank's part ... */
    size_t first_row, last_row, first_column, last_column; /* off the coast */
    size_t chunk; /* contiguous: doubles from a part to the next */
    bool   sole;  /* rows that rank 0 has; parts are what others bring it */
};

/* Where the points of one part are. */
struct ocean_view {
    double *margin; /* point (top - 1, left - 1) */
    size_t  top, left, pitch;
};

struct ocean_grid {
    const struct ocean_plane *plane;
    double                   *base;
    struct ocean_view         mine;
};

/* All ranks with such a division, or without one this rank alone. */
void ocean_team_init(struct ocean_team *t, const struct app_run *run,
                     const struct ocean_division *division);
void ocean_team_free(struct ocean_team *t);
void ocean_team_barrier(const struct ocean_team *t);

/* The greatest of all ranks' values, none of them negative.  Collective. */
double ocean_team_max(struct ocean_team *t, double value);

/* The finest plane, and the one of half as many points each way. */
void ocean_plane_init(struct ocean_plane *p, const struct ocean_team *t,
                      size_t n);
void ocean_plane_halve(struct ocean_plane       *coarse,
                       const struct ocean_plane *fine);
void ocean_plane_free(struct ocean_plane *p);

/* A grid of zeros; the points of an array of rows, seen as a grid. */
void ocean_grid_init(struct ocean_grid *g, const struct ocean_plane *p);
void ocean_grid_over(struct ocean_grid *g, const struct ocean_plane *p,
                     double *base);
void ocean_grid_free(struct ocean_grid *g);

/* Copy my margin's points of a colour from their owners; of a plane that is
 * rank 0's, have my part and what is next to it. */
void ocean_grid_refresh(const struct ocean_grid *g, enum ocean_colour c);

/* A point of any part, at its owner. */
double ocean_grid_point(const struct ocean_grid *g, size_t i, size_t j);

static inline double *
ocean_view_at(const struct ocean_view *v, size_t i, size_t j)
{
    return v->margin + (i + 1 - v->top) * v->pitch + (j + 1 - v->left);
}

/* Row i of my part or next to it, from the first column off the coast on. */
static inline double *
ocean_row(const struct ocean_grid *g, size_t i)
{
    return ocean_view_at(&g->mine, i, g->plane->first_column);
}

/* Columns of my part, off the coast. */
static inline size_t
ocean_width(const struct ocean_plane *p)
{
    return p->last_column - p->first_column;
}

#endif
