/* SPDX-License-Identifier: BSD-2-Clause */
/* Between a plane of the multigrid solver and the next coarser one. */
#ifndef APPS_OCEAN_TRANSFER_H
#define APPS_OCEAN_TRANSFER_H

#include "solve.h"

/* The mean of four points of what is left on the finer plane is the right side
 * of the plane of this level; its x begins at 0. */
void ocean_restrict(const struct ocean_solver *s, size_t level);

/* Add the correction of a coarser plane, bilinearly, to x.  Beyond the coast
 * it is so many times as much, and negative. */
void ocean_correct(const struct ocean_grid *x, const struct ocean_grid *coarse,
                   double beyond);

#endif
