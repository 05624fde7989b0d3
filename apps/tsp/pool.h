/* SPDX-License-Identifier: BSD-2-Clause */
/* Partial tours, the most promising one first.  Callers hold the lock. */
#ifndef APPS_TSP_POOL_H
#define APPS_TSP_POOL_H

#include "tsplib.h"

enum { POOL_SIZE = 16384 };

/* A tour, or the beginning of one. */
struct tour {
    int32_t length;
    int32_t bound; /* no tour that begins so is shorter, */
    int32_t order; /* nor than this, for the pool */
    int32_t count; /* of cities */
    uint8_t city[TSP_CITIES];
};

struct pool {
    int32_t     count;
    struct tour heap[POOL_SIZE]; /* [i] comes before [2 i + 1], [2 i + 2] */
};

/* There must be room, or a tour. */
void        pool_push(struct pool *p, const struct tour *t);
struct tour pool_pop(struct pool *p);

#endif
