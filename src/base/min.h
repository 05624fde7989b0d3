/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTHI_MIN_H
#define HEARTHI_MIN_H

#include <stdint.h>

static inline uint64_t
hearthi_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#endif
