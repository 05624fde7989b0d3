/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The order of bodies: by Morton's key, which interleaves the bits of the
 * coordinates.  All bodies of a cell follow each other in it.
 */
#ifndef APPS_BARNES_ORDER_H
#define APPS_BARNES_ORDER_H

#include "common.h"

/* What all ranks have to know of a body to order and to deal it. */
struct entry {
    uint64_t key;
    int64_t  work; /* that it was in the last step */
};

/* An order of n bodies, and the zones of so many ranks. */
struct order {
    size_t    n;
    int       zones;
    uint64_t *key;  /* of the bodies in order */
    uint32_t *from; /* and their numbers before */
    size_t   *zone; /* first body of each zone, and the end */
    uint64_t *other_key;
    uint32_t *other_from;
};

void order_open(struct order *o, const struct app_run *run, size_t n,
                int zones);
void order_close(struct order *o);

/* The key of a place in a cube about the origin with this edge. */
uint64_t order_key(const double x[3], double edge);

/* Order the bodies, those of equal keys as before, and cut them into zones of
 * equal work. */
void order_make(struct order *o, const struct entry *entry);

#endif
