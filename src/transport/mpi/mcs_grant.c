/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "mcs_grant.h"

#include <stddef.h>

#include "base/assert.h"
#include "base/clock.h"
#include "cluster.h"
#include "mcs_nodes.h"
#include "node/event.h"
#include "node/lock_names.h"
#include "node/relax.h"
#include "progress.h"

#define GRANTED (UINT64_C(1) << 63)

/* In nanoseconds, for a rank that waits for what is not known to be kept. */
enum { WANT_LATE = 100000000 };

/* Threads of this rank that wait for a grant, of any lock, sleep here. */
static struct hearthi_event granted;

void
hearthi_mcs_granted(void)
{
    hearthi_event_raise(&granted);
}

void
hearthi_mcs_grant(int lock, uint64_t name, uint64_t token)
{
    int rank = (int)((name & HEARTHI_ITEM_VALUE) >> HEARTHI_NAME_AT);

    HEARTHI_ASSERT(hearthi_item_of(name) == HEARTHI_TAKEN ||
                   hearthi_item_of(name) == HEARTHI_NAME);
    HEARTHI_ASSERT(token <= HEARTHI_ITEM_VALUE);
    hearthi_mcs_nodes_op(lock, rank, offsetof(struct hearthi_mcs_nodes, grant),
                         HEARTHI_OP_SWAP, token | GRANTED);
    if (hearthi_help.crowds && rank != hearthi_cluster.rank)
        hearthi_doorbell_grant(rank, lock);
}

/* The callers of this node take turns, so no rank of it keeps the lock now;
 * and writers keep nothing. */
void
hearthi_mcs_ring(struct hearthi_want *want, int lock, int place)
{
    int rank = hearthi_mcs_node_rank(place);

    if (hearthi_help.listens && lock < hearthi_syncs &&
        hearthi_cluster.node_of[rank] != hearthi_cluster.node)
        hearthi_want_from(want, rank, lock);
}

/* With more ranks than cores a rank that looks at its word keeps a core from
 * the one that has the lock, and yields in vain as often as there are others
 * that wait: so it looks for some turns only. */
enum { LOOKS = 64 };

static void
grant_relax(unsigned *turn, uint32_t seen)
{
    if (*turn >= LOOKS && hearthi_help.crowds && hearthi_crowded() &&
        hearthi_relax_are_served())
        hearthi_crowd_sleep(&granted, seen);
    else
        hearthi_crowd_relax(turn, 0);
}

/* The value of the event is read before the word, and raised behind it: so no
 * grant comes in between that does not end the sleep.  The acquire pairs with
 * the swap of hearthi_mcs_grant(). */
uint64_t
hearthi_mcs_grant_wait(int lock, int before, bool kept)
{
    struct hearthi_want want = { 0 };
    unsigned            turn = 0;
    uint32_t            seen;
    uint64_t            got;

    if (!kept)
        want.at = hearthi_now() + WANT_LATE;
    while (seen = hearthi_event_value(&granted),
           got = __atomic_load_n(&hearthi_mcs_nodes_own(lock)->grant,
                                 __ATOMIC_ACQUIRE),
           got == 0) {
        hearthi_mcs_ring(&want, lock, before);
        grant_relax(&turn, seen);
    }
    HEARTHI_ASSERT(got & GRANTED);
    return got & ~GRANTED;
}
