/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Random numbers that leave the program's own rand() alone.
 */
#ifndef HEARTHI_RANDOM_H
#define HEARTHI_RANDOM_H

#include <stdint.h>

/* splitmix64; any state will do to begin with. */
static inline uint64_t
hearthi_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
