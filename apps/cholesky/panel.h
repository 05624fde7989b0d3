/* SPDX-License-Identifier: BSD-2-Clause */
/* The arithmetic: panels, row after row, of which the first `width` are the
 * diagonal block, whose upper part is not used. */
#ifndef APPS_CHOLESKY_PANEL_H
#define APPS_CHOLESKY_PANEL_H

#include "plan.h"

/* A panel's own entries of the matrix, and zeros. */
void panel_start(const struct plan *p, const struct panel *q, double *value);

/* Make it a part of the factor, when all has been subtracted. */
void panel_factor(const struct panel *q, double *value);

/*
 * What panel q, now of the factor, takes from the columns that its rows
 * [from, to) are: out, its rows from `from` on, to - from numbers each.
 */
void panel_product(const struct panel *q, const double *value, int32_t from,
                   int32_t to, double *out);

/* Subtract that from the panel which has these columns. */
void panel_subtract(const struct panel *target, double *value,
                    const struct panel *q, int32_t from, int32_t to,
                    const double *product);

#endif
