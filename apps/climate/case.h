/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Case 2 of Williamson, Drake, Hack, Jakob, Swarztrauber: A standard test set
 * for numerical approximations to the shallow water equations in spherical
 * geometry, J. Comput. Phys. 102, 1992: a wind that blows steadily around an
 * axis, in balance with the pressure, here in every layer.
 *
 * The top layer is as thick as the fluid of the case, the others are thinner,
 * and each has the wind that balances what presses on it.  So the state is a
 * solution of the equations that does not change in time, and what changes is
 * error.
 */
#ifndef APPS_CLIMATE_CASE_H
#define APPS_CLIMATE_CASE_H

#include "grid.h"

/* The speed of the fastest waves, m/s. */
double climate_case_speed(void);

/* Fill in the Coriolis parameter; the axis leans by `angle` degrees. */
void climate_case_turn(struct climate_grid *g, double angle);

/* The solution, in rows [from, to) of a state. */
void climate_case_fill(const struct climate_grid *g, double *state,
                       double angle, size_t from, size_t to);

/* Mass of a layer. */
double climate_case_mass(const struct climate_grid *g, const double *state,
                         size_t level);

/* Normalised errors of the thickness, as the paper defines them, in the layer
 * where they are greatest. */
struct climate_norms {
    double l1, l2, most;
};

struct climate_norms climate_case_norms(const struct climate_grid *g,
                                        const double              *state,
                                        const double              *solution);

#endif
