/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "pair_index.h"

#include <stdlib.h>

bool
hearthi_pair_index_open(struct hearthi_pair_index *x, size_t most)
{
    x->n = 0;
    x->slots = 16;
    while (x->slots < 2 * most)
        x->slots *= 2;
    x->slot = calloc(x->slots, sizeof *x->slot);
    return x->slot != NULL;
}

size_t
hearthi_pair_index_of(struct hearthi_pair_index *x, uint64_t a, uint64_t b)
{
    uint64_t h =
        (a * UINT64_C(0x9e3779b97f4a7c15)) ^ (b * UINT64_C(0xc2b2ae3d));
    size_t i = (size_t)(h >> 20) & (x->slots - 1);

    while (x->slot[i].i != 0 && (x->slot[i].a != a || x->slot[i].b != b))
        i = (i + 1) & (x->slots - 1);
    if (x->slot[i].i == 0) {
        x->slot[i].a = a;
        x->slot[i].b = b;
        x->slot[i].i = ++x->n;
    }
    return x->slot[i].i - 1;
}
