/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The equations of hearth-climate.
 *
 * Each level is a layer of thickness h and wind (u, v):
 *
 *   dh/dt = -div(h u, h v)
 *   du/dt =  q h v - d(K + M)/dx        q = (f + curl(u, v)) / h
 *   dv/dt = -q h u - d(K + M)/dy        K = (u^2 + v^2) / 2
 *
 *   M = g (h + mean of h in the column) / 2
 *
 * M stands in the place of the hydrostatic pressure: every layer feels the
 * whole column, and the waves in which all layers move together are the
 * fastest ones, but those that differ from layer to layer do not become
 * slower than the wind, where schemes like this one are unstable without
 * diffusion (Hollingsworth, Kallberg, Renner, Burridge: An internal symmetric
 * computational instability, Q. J. R. Met. Soc. 109, 1983).
 *
 * Fluxes that leave one cell enter another, which keeps the mass of each
 * layer; K and the triads of q keep the energy (Arakawa and Lamb, Monthly
 * Weather Review 109, 1981; in this form, Burridge and Haseler, ECMWF
 * Technical Report 4, 1977).  The triads' weights differ from those next to
 * the poles, where half of what turns a wind to the north would be missing.
 */
#ifndef APPS_CLIMATE_CORE_H
#define APPS_CLIMATE_CORE_H

#include "filter.h"
#include "grid.h"

/* Rows north and south of a band that its tendencies need. */
enum { CLIMATE_SOUTH = 1, CLIMATE_NORTH = 2 };

/* What a rank works with: three rows of each number between the fields. */
struct climate_core {
    const struct climate_grid *grid;
    struct climate_filter      filter;
    double                    *east[3], *north[3];   /* fluxes of mass */
    double                    *twist[3];             /* q */
    double                    *energy[3];            /* K + M */
    double                    *rate[CLIMATE_FIELDS]; /* d/dt in one row */
};

void climate_core_init(struct climate_core *c, const struct app_run *run,
                       const struct climate_grid *g);
void climate_core_free(struct climate_core *c);

/*
 * Rows [from, to): target = base + seconds * the filtered tendency of
 * `source`.  Target may be base.
 */
void climate_core_advance(struct climate_core *c, double *target,
                          const double *base, const double *source,
                          double seconds, size_t from, size_t to);

#endif
