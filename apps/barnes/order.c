/* SPDX-License-Identifier: BSD-2-Clause */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "order.h"
#include "tree.h"

enum { DIGIT = 11, DIGITS = 1 << DIGIT }; /* bits that are sorted at a time */

void
order_open(struct order *o, const struct app_run *run, size_t n, int zones)
{
    o->n = n;
    o->zones = zones;
    o->key = app_private(run, n, sizeof *o->key);
    o->from = app_private(run, n, sizeof *o->from);
    o->other_key = app_private(run, n, sizeof *o->key);
    o->other_from = app_private(run, n, sizeof *o->from);
    o->zone = app_private(run, (size_t)zones + 1, sizeof *o->zone);
    for (int z = 0; z <= zones; z++)
        o->zone[z] = app_part(n, z, zones);
}

void
order_close(struct order *o)
{
    free(o->zone);
    free(o->other_from);
    free(o->other_key);
    free(o->from);
    free(o->key);
}

/* Spread the 21 lowest bits to every third place. */
static uint64_t
bits_spread(uint64_t x)
{
    x = (x | x << 32) & UINT64_C(0x001f00000000ffff);
    x = (x | x << 16) & UINT64_C(0x001f0000ff0000ff);
    x = (x | x << 8) & UINT64_C(0x100f00f00f00f00f);
    x = (x | x << 4) & UINT64_C(0x10c30c30c30c30c3);
    x = (x | x << 2) & UINT64_C(0x1249249249249249);
    return x;
}

uint64_t
order_key(const double x[3], double edge)
{
    const uint64_t cubes = UINT64_C(1) << TREE_LEVELS;
    uint64_t       key = 0;

    for (int d = 0; d < 3; d++) {
        uint64_t at = (uint64_t)((x[d] / edge + 0.5) * (double)cubes);

        if (at >= cubes) /* by rounding */
            at = cubes - 1;
        key |= bits_spread(at) << (2 - d);
    }
    return key;
}

/* Sort by the digit from `shift` on; equal ones stay in their order. */
static void
digit_sort(struct order *o, int shift)
{
    size_t    place[DIGITS] = { 0 }, next = 0;
    uint64_t *key = o->other_key;
    uint32_t *from = o->other_from;

    for (size_t i = 0; i < o->n; i++)
        place[o->key[i] >> shift & (DIGITS - 1)]++;
    for (int d = 0; d < DIGITS; d++) {
        size_t count = place[d];

        place[d] = next;
        next += count;
    }
    for (size_t i = 0; i < o->n; i++) {
        size_t to = place[o->key[i] >> shift & (DIGITS - 1)]++;

        key[to] = o->key[i];
        from[to] = o->from[i];
    }
    o->other_key = o->key;
    o->other_from = o->from;
    o->key = key;
    o->from = from;
}

/* A zone begins where its part of the work does. */
static void
zones_cut(struct order *o, const struct entry *entry)
{
    int64_t work = 0, before = 0;
    int     zone = 0;

    for (size_t i = 0; i < o->n; i++)
        work += entry[i].work;
    for (size_t i = 0; i < o->n; i++) {
        while (zone < o->zones &&
               before >= (int64_t)app_part((size_t)work, zone, o->zones))
            o->zone[zone++] = i;
        before += entry[o->from[i]].work;
    }
    while (zone <= o->zones)
        o->zone[zone++] = o->n;
}

void
order_make(struct order *o, const struct entry *entry)
{
    for (size_t i = 0; i < o->n; i++) {
        o->key[i] = entry[i].key;
        o->from[i] = (uint32_t)i;
    }
    for (int shift = 0; shift < 3 * TREE_LEVELS; shift += DIGIT)
        digit_sort(o, shift);
    zones_cut(o, entry);
}
