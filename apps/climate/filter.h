/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The polar filter of hearth-climate: waves along a parallel that are too
 * short for the time step are weakened, by Fourier transforms.
 *
 * Component m of a row keeps the part min(1, ratio / sin(pi m / columns)) of
 * itself, where ratio is the cosine of the latitude over that where the
 * filter begins: so that no wave there is faster than on that parallel
 * (Arakawa and Lamb, Methods in Computational Physics 17, 1977).  The mean of
 * a row, and with it the mass, does not change.
 */
#ifndef APPS_CLIMATE_FILTER_H
#define APPS_CLIMATE_FILTER_H

#include "common.h"

enum { CLIMATE_RADICES = 32 };

/* Lanes are transformed side by side; see climate_filter_rows(). */
struct climate_filter {
    size_t  columns, levels, half, lanes;
    size_t  radix[CLIMATE_RADICES], radices;
    double *cosine, *sine; /* of 2 pi i / columns */
    double *part;          /* 1 / sin(pi m / columns) */
    double *re[2], *im[2]; /* columns x lanes each */
};

/* Transforms are of 2^a 3^b points only. */
bool climate_filter_can(size_t columns);

void climate_filter_init(struct climate_filter *f, const struct app_run *run,
                         size_t columns, size_t levels);
void climate_filter_free(struct climate_filter *f);

/*
 * Filter a row of two fields with one ratio, and one of a third field with
 * another, all of columns x levels numbers; what has a ratio of 1 or more
 * stays as it is.
 */
void climate_filter_rows(struct climate_filter *f, double *u, double *h,
                         double ratio, double *v, double ratio_v);

#endif
