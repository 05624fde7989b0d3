/* SPDX-License-Identifier: BSD-2-Clause */
/* Plummer's model of a cluster: where bodies begin. */
#ifndef APPS_BARNES_PLUMMER_H
#define APPS_BARNES_PLUMMER_H

#include "common.h"

struct body {
    double x[3], mass, v[3];
};

/* Body i of so many, which have mass 1 together. */
struct body plummer_body(size_t i, size_t bodies);

#endif
