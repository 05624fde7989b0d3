/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "mcs_nodes.h"

#include <string.h>

#include "base/assert.h"
#include "cluster.h"
#include "mcs_lock.h"
#include "node/lock_names.h"
#include "rma_object.h"

static char  *own;    /* this rank's places */
static size_t own_at; /* in everybody's window */

/* Of all objects only locks have some, and writers behind all. */
static size_t
places_at(int lock)
{
    HEARTHI_ASSERT(lock < HEARTH_LOCKS || lock >= HEARTHI_NAMING_AT);
    HEARTHI_ASSERT(lock >= 0 && lock <= hearthi_turns());
    int i =
        lock < HEARTH_LOCKS ? lock : lock - HEARTHI_NAMING_AT + HEARTH_LOCKS;

    return (size_t)i * sizeof(struct hearthi_mcs_nodes);
}

size_t
hearthi_mcs_nodes_bytes(void)
{
    return places_at(hearthi_turns());
}

/* Those of locks that have names are made ready when they get them. */
void
hearthi_mcs_nodes_open(char *base, size_t at)
{
    own = base;
    own_at = at;
    memset(base, 0, places_at(HEARTHI_SYNCS));
    memset(base + places_at(hearthi_syncs), 0,
           HEARTH_RWLOCKS * sizeof(struct hearthi_mcs_nodes));
}

struct hearthi_mcs_nodes *
hearthi_mcs_nodes_own(int lock)
{
    return (struct hearthi_mcs_nodes *)(void *)(own + places_at(lock));
}

uint64_t
hearthi_mcs_nodes_op(int lock, int rank, size_t word,
                     enum hearthi_fabric_op op, uint64_t value)
{
    return hearthi_fabric_sync_step(rank, own_at + places_at(lock) + word, op,
                                    value);
}

static size_t
word_of(int place)
{
    return offsetof(struct hearthi_mcs_nodes, word) +
           (size_t)(place % 2) * sizeof(uint64_t);
}

uint64_t
hearthi_mcs_node_op(int lock, int place, enum hearthi_fabric_op op,
                    uint64_t value)
{
    return hearthi_mcs_nodes_op(lock, hearthi_mcs_node_rank(place),
                                word_of(place), op, value);
}

/* By a Get: an atomic step that changes nothing may write back what it has
 * read, and the place's rank may have cleared it meanwhile by a store.  This
 * rank's own word is loaded with acquire, as if behind a Get that was waited
 * for. */
uint64_t
hearthi_mcs_node_look(int lock, int place)
{
    int      rank = hearthi_mcs_node_rank(place);
    uint64_t word;

    HEARTHI_ASSERT(rank >= 0 && rank < hearthi_cluster.size);
    if (rank == hearthi_cluster.rank)
        return __atomic_load_n(&hearthi_mcs_nodes_own(lock)->word[place % 2],
                               __ATOMIC_ACQUIRE);
    hearthi_fabric_sync_get(rank, own_at + places_at(lock) + word_of(place),
                            &word, sizeof word);
    hearthi_fabric_sync_wait(rank);
    return word;
}

uint64_t
hearthi_mcs_tail_op(int lock, enum hearthi_fabric_op op, uint64_t value)
{
    return hearthi_mcs_nodes_op(
        lock, hearthi_manager(lock, hearthi_cluster.size),
        offsetof(struct hearthi_mcs_nodes, tail), op, value);
}
