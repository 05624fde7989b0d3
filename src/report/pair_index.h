/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pairs of numbers, each of which gets the next index: so what ranks tell of
 * one thing is put together without looking through all of them.
 */
#ifndef HEARTHI_PAIR_INDEX_H
#define HEARTHI_PAIR_INDEX_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hearthi_pair_slot {
    uint64_t a, b;
    size_t   i; /* + 1 */
};

/* slot is from malloc(3), for the caller to free. */
struct hearthi_pair_index {
    struct hearthi_pair_slot *slot;
    size_t                    slots, n;
};

/* For so many at most; false: no memory. */
bool hearthi_pair_index_open(struct hearthi_pair_index *x, size_t most);

/* That of a pair, which is n for one that was not there. */
size_t hearthi_pair_index_of(struct hearthi_pair_index *x, uint64_t a,
                             uint64_t b);

#endif
