/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Hash functions and random numbers.
 *
 * FNV-1a with 64 bits (Fowler, Noll and Vo), to compare what ranks were given:
 * it is no defence against a person who wants two to be the same.
 */
#ifndef HEARTHI_HASH_H
#define HEARTHI_HASH_H

#include <stddef.h>
#include <stdint.h>
#include <string.h>

#define HEARTHI_HASH UINT64_C(0xcbf29ce484222325) /* of nothing */

static inline uint64_t
hearthi_hash(uint64_t hash, const void *at, size_t bytes)
{
    const unsigned char *c = at;

    for (size_t i = 0; i < bytes; i++)
        hash = (hash ^ c[i]) * UINT64_C(0x100000001b3);
    return hash;
}

static inline uint64_t
hearthi_hash_text(uint64_t hash, const char *text)
{
    return hearthi_hash(hash, text, strlen(text));
}

/* A random number, by splitmix64, which leaves the program's own rand() alone;
 * any state will do to begin with. */
static inline uint64_t
hearthi_random(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

#endif
