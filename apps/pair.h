/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Two doubles at once where the machine can; GCC and Clang split it where it
 * cannot.  At -O2 neither would see it in a loop over a tile.
 */
#ifndef HEARTH_PAIR_H
#define HEARTH_PAIR_H

typedef double pair __attribute__((vector_size(16), aligned(8)));

/* Loops over a tile, which is kept in registers. */
#define UNROLL _Pragma("GCC unroll 4")

static inline pair
pair_load(const double *p)
{
    return *(const pair *)p;
}

static inline void
pair_store(double *p, pair value)
{
    *(pair *)p = value;
}

#endif
