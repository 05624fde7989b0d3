/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The arithmetic of MG on one rank: operators on periodic cubes of n x n x n
 * points, of which a rank computes planes [from, to).
 */
#ifndef APPS_MG_GRID_H
#define APPS_MG_GRID_H

#include <stdbool.h>
#include <stddef.h>

enum { MG_MOST = 256 }; /* points in each direction, at most */

struct grid {
    size_t   n;        /* points in each direction; a power of two */
    size_t   from, to; /* the planes of this rank */
    double  *base;     /* the memory */
    double **plane; /* plane[k], k = -1 .. n, as far as needed: row after row;
                       -1 and n are n - 1 and 0, or copies of them */
};

static inline size_t
grid_plane_bytes(const struct grid *g)
{
    return g->n * g->n * sizeof(double);
}

/* All of a rank's planes = 0. */
void grid_zero(const struct grid *g);

/* r = v - A u.  Reads a plane of u on either side. */
void grid_residual(const struct grid *r, const struct grid *v,
                   const struct grid *u);

/* u += C r.  Reads a plane of r on either side. */
void grid_smooth(const struct grid *u, const struct grid *r);

/* coarse = P fine.  Reads fine planes [2 from, 2 to + 1). */
void grid_restrict(const struct grid *coarse, const struct grid *fine);

/* fine = Q coarse, or fine += Q coarse.  Reads coarse planes (from - 1) / 2,
 * rounded down, to (to - 1) / 2. */
void grid_prolong(const struct grid *fine, const struct grid *coarse,
                  bool add);

/* square[k] = sum of the squares in plane k, for this rank's planes. */
void grid_square(const struct grid *g, double *square);

#endif
