/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The places of locks (mcs_lock.h) in the window, and what the word of one
 * says.
 */
#ifndef HEARTHI_MCS_NODES_H
#define HEARTHI_MCS_NODES_H

#include <stddef.h>
#include <stdint.h>

#include "fabric.h"

/* A name may be added to any of the first three: TAKEN is the sum for REST. */
enum hearthi_item {
    HEARTHI_REST,
    HEARTHI_EMPTY,
    HEARTHI_KEPT,
    HEARTHI_TAKEN = 4,
    HEARTHI_NAME
};

/* Bits.  A sum of a token and a name does not reach the item; the rank that
 * keeps a lock, and a name, have bits of their own. */
enum { HEARTHI_ITEM_AT = 61, HEARTHI_NAME_AT = 31, HEARTHI_RANK_BITS = 29 };

#define HEARTHI_ITEM_VALUE  ((UINT64_C(1) << HEARTHI_ITEM_AT) - 1)
#define HEARTHI_ITEM_KEEPER ((UINT64_C(1) << HEARTHI_RANK_BITS) - 1)

struct hearthi_mcs_nodes { /* of a rank and lock */
    uint64_t word[2], grant;
    uint64_t tail; /* of the lock: at its manager only */
};

/* The bytes that a rank's places take in its window, from `at` on, which is
 * `base` here. */
size_t hearthi_mcs_nodes_bytes(void);
void   hearthi_mcs_nodes_open(char *base, size_t at);

struct hearthi_mcs_nodes *hearthi_mcs_nodes_own(int lock);

/* A step on a word of a rank's, which lies so far behind its places; on that
 * of a place; and on the one of the manager, by which the last place is named.
 */
uint64_t hearthi_mcs_nodes_op(int lock, int rank, size_t word,
                              enum hearthi_fabric_op op, uint64_t value);
uint64_t hearthi_mcs_node_op(int lock, int place, enum hearthi_fabric_op op,
                             uint64_t value);
uint64_t hearthi_mcs_tail_op(int lock, enum hearthi_fabric_op op,
                             uint64_t value);

/* The word of a place, only read; of one of this rank's without a message. */
uint64_t hearthi_mcs_node_look(int lock, int place);

static inline uint64_t
hearthi_item_make(enum hearthi_item item, uint64_t value)
{
    return (uint64_t)item << HEARTHI_ITEM_AT | value;
}

static inline enum hearthi_item
hearthi_item_of(uint64_t word)
{
    enum hearthi_item item = (enum hearthi_item)(word >> HEARTHI_ITEM_AT);

    return item > HEARTHI_TAKEN ? HEARTHI_NAME : item;
}

#endif
