/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTHI_BASE_LEAST_H
#define HEARTHI_BASE_LEAST_H

#include <stdint.h>

static inline uint64_t
hearthi_least(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

#endif
