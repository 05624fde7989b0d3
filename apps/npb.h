/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * What the NAS Parallel Benchmarks have in common (Bailey et al., The NAS
 * Parallel Benchmarks, report RNR-94-007, 1994, and NAS-95-020, 1995).
 */
#ifndef APPS_NPB_H
#define APPS_NPB_H

#include <stdint.h>

#include "common.h"

/* The classes, by which an application's table of problems is indexed. */
enum npb_class { NPB_S, NPB_W, NPB_A, NPB_CLASSES };

/* The row of the option table for a text that is one of their names. */
#define NPB_OPTION(variable)                              \
    APP_TEXT('c', "class", (variable), "S|W|A", "S", "size of the problem")

static inline enum npb_class
npb_class(const char *name)
{
    return name[0] == 'S' ? NPB_S : name[0] == 'W' ? NPB_W : NPB_A;
}

/*
 * The pseudo-random numbers: x' = 5^13 x mod 2^46, and x / 2^46 is in (0, 1).
 * 2^46 divides 2^64, so plain 64-bit products do.
 */
#define NPB_FACTOR UINT64_C(1220703125) /* 5^13 */
#define NPB_MASK   ((UINT64_C(1) << 46) - 1)

/* The number after x. */
static inline uint64_t
npb_next(uint64_t x)
{
    return x * NPB_FACTOR & NPB_MASK;
}

/* The number n steps after x. */
static inline uint64_t
npb_jump(uint64_t x, uint64_t n)
{
    for (uint64_t factor = NPB_FACTOR; n != 0; n >>= 1) {
        if (n & 1)
            x *= factor;
        factor *= factor;
    }
    return x & NPB_MASK;
}

#endif
