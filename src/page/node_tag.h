/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The word that a node has for each page (node_cache.h): what the copy is, its
 * number, and whose it is.  For node_cache.c and fetch_coalesce.c.
 */
#ifndef HEARTHI_NODE_TAG_H
#define HEARTHI_NODE_TAG_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include "cluster.h"

/* On its way, and waited for by a thread of its rank, or by none yet; a first
 * copy, a later one, and one that was written. */
enum hearthi_node_tag_kind { UNDER_WAY, AHEAD, FIRST, LATER, WRITTEN };

/* Whose it is from 1 on.  In 51 bits a node can draw 60 million numbers a
 * second for a year. */
enum {
    HEARTHI_KIND_BITS = 3,
    HEARTHI_OWNER_BITS = 10,
    HEARTHI_OWNER_SHIFT = 64 - HEARTHI_OWNER_BITS,
    HEARTHI_OWNERS_MOST = (1 << HEARTHI_OWNER_BITS) - 1
};

struct hearthi_node_tags {
    _Atomic uint64_t *counter; /* the node's numbers */
    _Atomic uint64_t *passed;  /* of each rank, at every line */
    _Atomic uint64_t *word;    /* of each page */
    _Atomic uint32_t *moved;   /* of each page, rank after rank */
    uint64_t          passes;  /* barriers that this rank has passed */
    uint64_t          since;   /* 0, or a copy's number must be above it */
    uint64_t          arrived; /* the same, at the barrier begun last */
    uint64_t          late;    /* no fetch of up to here is waited for */
    uint64_t          took;    /* ns that a fetch takes, lately */
};
extern struct hearthi_node_tags hearthi_node_tags;

static inline uint64_t
hearthi_node_tag_of(enum hearthi_node_tag_kind kind, uint64_t number)
{
    HEARTHI_ASSERT(number >> (64 - HEARTHI_OWNER_BITS - HEARTHI_KIND_BITS) ==
                   0);
    HEARTHI_ASSERT(hearthi_cluster.node_rank < HEARTHI_OWNERS_MOST);
    return (uint64_t)(hearthi_cluster.node_rank + 1) << HEARTHI_OWNER_SHIFT |
           number << HEARTHI_KIND_BITS | kind;
}

/* -1: no rank's. */
static inline int
hearthi_node_tag_owner(uint64_t word)
{
    return (int)(word >> HEARTHI_OWNER_SHIFT) - 1;
}

static inline enum hearthi_node_tag_kind
hearthi_node_tag_kind(uint64_t word)
{
    return (enum hearthi_node_tag_kind)(word & ((1 << HEARTHI_KIND_BITS) - 1));
}

static inline uint64_t
hearthi_node_tag_number(uint64_t word)
{
    return word << HEARTHI_OWNER_BITS >>
           (HEARTHI_OWNER_BITS + HEARTHI_KIND_BITS);
}

static inline bool
hearthi_node_tag_is_mine(uint64_t word)
{
    return hearthi_node_tag_owner(word) == hearthi_cluster.node_rank;
}

/* Has a rank lent the page, to those for which it is new enough? */
static inline bool
hearthi_node_tag_lends(uint64_t word)
{
    return word != 0 && hearthi_node_tag_kind(word) >= FIRST;
}

/* Is what another rank has, or is fetching, new enough for this one? */
bool hearthi_node_tag_is_new(uint64_t word);

/* Has another rank what will do here? */
static inline bool
hearthi_node_tag_is_lent(uint64_t word)
{
    return hearthi_node_tag_lends(word) && !hearthi_node_tag_is_mine(word) &&
           hearthi_node_tag_is_new(word);
}

#endif
