/* SPDX-License-Identifier: BSD-2-Clause */
#ifndef HEARTHI_MIN_H
#define HEARTHI_MIN_H

#include <stddef.h>
#include <stdint.h>

static inline uint64_t
hearthi_min(uint64_t a, uint64_t b)
{
    return a < b ? a : b;
}

static inline size_t
hearthi_round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

#endif
