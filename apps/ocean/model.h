/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The equations of hearth-ocean: two layers of water on a beta plane, the
 * upper one driven by wind (Holland, The role of mesoscale eddies in the
 * general circulation of the ocean: numerical experiments using a wind-driven
 * quasi-geostrophic model, J. Phys. Oceanogr. 8, 1978).
 *
 * With the stream functions p and q of the layers, the depths H and D, the
 * Coriolis parameter f, J(a, b) = a_x b_y - a_y b_x:
 *
 *   F = J(f + lap p, p) + wind / H - A lap lap lap p
 *   G = J(f + lap q, q)            - A lap lap lap q - e lap q
 *   k = f^2 (H + D) / (gravity' H D)
 *
 *   lap a - k a = F - G - k J(p, q)     a = d(p - q)/dt, the same on all of
 *                                       the coast and nothing in the mean
 *   lap b       = H F + D G             b = d(H p + D q)/dt, 0 on the coast
 *
 * Jacobians are Arakawa's (J. Comput. Phys. 1, 1966); in time, leapfrog steps
 * with Asselin's filter (Monthly Weather Review 100, 1972), friction from the
 * step before.  The constants have the size of Holland's.
 */
#ifndef APPS_OCEAN_MODEL_H
#define APPS_OCEAN_MODEL_H

#include "solve.h"

enum { OCEAN_UPPER, OCEAN_LOWER, OCEAN_LAYERS };

struct ocean_model {
    struct ocean_team   team;
    struct ocean_solver solver;
    double              distance, seconds; /* of points, of steps */
    double              friction;          /* A */
    double              coupling;          /* k */
    double              accuracy;          /* of a solution */
    struct ocean_grid   now[OCEAN_LAYERS], before[OCEAN_LAYERS]; /* p, q */
    struct ocean_grid   twist[OCEAN_LAYERS];                     /* lap now */
    struct ocean_grid   old[OCEAN_LAYERS];  /* lap before */
    struct ocean_grid   bend[OCEAN_LAYERS]; /* lap lap before */
    struct ocean_grid   right[2];           /* right sides: of a, of b */
    struct ocean_grid   change[2];          /* a with 0 on the coast; b */
    struct ocean_grid   shore;              /* as a, but 1 on the coast */
    double             *sums;               /* see points_sum() */
    size_t              pieces;             /* in a row; they begin at ... */
    size_t             *piece;
    double              shore_sum;
};

/*
 * Start it on all ranks, or without a division for one rank alone; this one
 * adds up in the same order as the model `like`.
 */
void ocean_model_init(struct ocean_model *m, const struct app_run *run,
                      const struct ocean_division *division, size_t n,
                      double accuracy, const struct ocean_model *like);
void ocean_model_free(struct ocean_model *m);

/* One time step.  Collective. */
void ocean_model_step(struct ocean_model *m);

#endif
