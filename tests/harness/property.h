/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Property tests: many random cases from one seed, which is printed as a TAP
 * comment.  MPI_TEST_SEED=... runs the same cases again.
 */
#ifndef HEARTH_PROPERTY_H
#define HEARTH_PROPERTY_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#include "base/hash.h"

static uint64_t property_seed;

/* First of all in main(): the tests are forked from it. */
static inline void
property_start(void)
{
    const char *text = getenv("MPI_TEST_SEED");

    property_seed = text != NULL ? strtoull(text, NULL, 0)
                                 : (uint64_t)time(NULL) % 1000000;
    printf("# MPI_TEST_SEED=%llu\n", (unsigned long long)property_seed);
    fflush(stdout);
}

/* The state from which case number i draws. */
static inline uint64_t
case_start(int i)
{
    uint64_t s = property_seed * 1000003 + (uint64_t)i;

    return hearthi_random(&s);
}

/* One of 0 .. n - 1. */
static inline size_t
below(uint64_t *state, size_t n)
{
    return (size_t)(hearthi_random(state) % n);
}

#endif
