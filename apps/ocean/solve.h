/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Helmholtz's equation on a plane, by multigrid:
 *
 *   (x_north + x_south + x_east + x_west - 4 x) / d^2 - k x = b
 *
 * Red-black Gauss-Seidel on planes of n, n/2, ... 2 points, and between them
 * as it goes (Brandt, Multi-level adaptive solutions to boundary-value
 * problems, Math. Comp. 31, 1977, cycle C): as long as sweeps still reduce
 * the residual they go on; when they do so too slowly, the next coarser plane
 * computes a correction.
 */
#ifndef APPS_OCEAN_SOLVE_H
#define APPS_OCEAN_SOLVE_H

#include "grid.h"

enum { OCEAN_LEVELS = 16 }; /* 2^16 points a row and fewer */

/*
 * The planes end where one is rank 0's alone, for which and for all coarser
 * ones rank 0 has another solver.
 */
struct ocean_solver {
    struct ocean_team *team;
    size_t             levels;
    size_t             finer;    /* levels that another solver has above */
    double             distance; /* d, on the finest plane */
    struct ocean_plane plane[OCEAN_LEVELS];
    struct ocean_grid  rest[OCEAN_LEVELS];               /* b - A x */
    struct ocean_grid  x[OCEAN_LEVELS], b[OCEAN_LEVELS]; /* from 1 on */
    long                 sweeps; /* done so far; rank 0 knows of all */
    struct ocean_solver *alone;  /* rank 0's, from its first plane on */
};

void ocean_solver_init(struct ocean_solver *s, struct ocean_team *t, size_t n,
                       double distance);
void ocean_solver_free(struct ocean_solver *s);

/*
 * Improve x until no point's residual is more than `tolerance`; x on the coast
 * stays as it is.  Collective.
 */
void ocean_solve(struct ocean_solver *s, const struct ocean_grid *x,
                 const struct ocean_grid *b, double k, double tolerance);

#endif
