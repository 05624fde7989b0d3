/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks: inside a node by turns (node/node_lock.c), between nodes by an MCS
 * queue (mcs_lock.h).
 *
 * A lock that a node has goes to ranks of the node that wait for it, as often
 * as the node has ranks: so between two turns of another node each of them may
 * have it once.  Then, or if none waits, it goes to other nodes.
 */
#include "config.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/min.h"
#include "cluster.h"
#include "fabric.h"
#include "mcs_lock.h"
#include "node/lock_delegation.h"
#include "node/lock_names.h"
#include "node/node.h"
#include "node/relax.h"
#include "progress.h"
#include "rma_object.h"
#include "space/segment.h"

/* ---- the keeper ---- */

/* In nanoseconds. */
enum { WANT_AGAIN = 200000, WANT_MOST = 100000000 };

static bool
is_near(int rank)
{
    return hearthi_cluster.node_of[rank] == hearthi_cluster.node;
}

void
hearthi_want_from(struct hearthi_want *w, int rank, int lock)
{
    uint64_t now;

    HEARTHI_ASSERT(rank >= 0 && rank < hearthi_cluster.size);
    HEARTHI_ASSERT(lock < hearthi_syncs);
    if (is_near(rank)) {
        hearthi_delegation_want_of(hearthi_cluster.node_rank_of[rank], lock);
        return;
    }
    now = hearthi_now();
    if (now < w->at)
        return;
    hearthi_doorbell_want(rank, lock);
    w->again =
        w->again == 0 ? WANT_AGAIN : hearthi_min(2 * w->again, WANT_MOST);
    w->at = now + w->again;
}

static unsigned
far_byte(int rank, int lock)
{
    size_t  at = hearthi_segments.keep_at + hearthi_delegation_byte_at(lock);
    uint8_t byte;

    hearthi_fabric_home_read(rank, at, &byte, sizeof byte);
    return byte;
}

bool
hearthi_want_idle(int rank, int lock)
{
    struct hearthi_want w = { 0 };
    unsigned            turn = 0, byte;

    if (is_near(rank))
        return hearthi_delegation_want_idle(hearthi_cluster.node_rank_of[rank],
                                            lock);
    while (byte = far_byte(rank, lock), hearthi_delegation_is_idle(byte)) {
        hearthi_want_from(&w, rank, lock);
        hearthi_relax(&turn);
    }
    return !(byte & HEARTHI_DELEGATION_USED);
}

/* ---- the turn ---- */

static bool
between_nodes(int lock, bool try, struct hearthi_node_lock *l)
{
    if (l->ours && !l->rests)
        return true;
    if (l->ours && hearthi_mcs_lock_take(lock, l->place, &l->word))
        return true;
    l->ours = false;
    l->last = 0;
    l->place = try ? hearthi_mcs_lock_try(lock, &l->word)
                   : hearthi_mcs_lock_wait(lock, &l->word);
    return l->place >= 0;
}

bool
hearthi_turn_take(int lock, bool try)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(lock);

    if (!hearthi_node_lock_acquire(lock, try))
        return false;
    HEARTHI_ASSERT(l->holder == 0);
    if (hearthi_cluster.nodes == 1)
        return true;
    if (!between_nodes(lock, try, l)) {
        hearthi_node_lock_release(lock);
        return false;
    }
    HEARTHI_ASSERT(hearthi_mcs_node_rank(l->place) < hearthi_cluster.size);
    l->ours = true;
    l->rests = false;
    return true;
}

static bool
stays_in_node(int lock, struct hearthi_node_lock *l)
{
    return hearthi_node_lock_is_waited_for(lock) &&
           (++l->row < hearthi_cluster.node_size ||
            (hearthi_mcs_node_rank(l->place) == hearthi_cluster.rank &&
             !hearthi_mcs_lock_is_wanted(lock, l->place)));
}

void
hearthi_turn_leave(int lock)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(lock);

    HEARTHI_ASSERT(l->holder == 0 && l->serving < l->next);
    HEARTHI_ASSERT(hearthi_cluster.nodes == 1 || (l->ours && !l->rests));
    if (hearthi_cluster.nodes > 1 && !stays_in_node(lock, l)) {
        l->row = 0;
        l->told = 0;
        l->rests = hearthi_mcs_lock_leave(lock, l->place, l->word);
        l->ours = l->rests;
    }
    hearthi_node_lock_release(lock);
}

/* ---- locks ---- */

/* What RMA wrote here, and what we wrote for RMA to read, is ordered as by
 * MPI_Win_sync: in the unified model that is a fence. */

bool
hearthi_mpi_acquire(int sync, bool try, struct hearthi_grant *g)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_log        log;

    if (!hearthi_turn_take(sync, try))
        return false;
    hearthi_grant_refresh(g);
    hearthi_log_get(sync, hearthi_serving_read(l->word), g, &log);
    l->log = log;
    g->again = l->last == hearthi_cluster.node_rank + 1;
    l->last = hearthi_cluster.node_rank + 1;
    HEARTHI_ASSERT(l->holder == 0);
    hearthi_node_holder_set(sync, hearthi_cluster.node_rank + 1);
    atomic_thread_fence(memory_order_acquire);
    return true;
}

void
hearthi_mpi_release(int sync, uint64_t epoch, const struct hearthi_notice *n,
                    size_t count)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_serving    s;

    HEARTHI_ASSERT(l->holder == hearthi_cluster.node_rank + 1);
    HEARTHI_ASSERT(l->ours && !l->rests);
    atomic_thread_fence(memory_order_release);
    s = hearthi_serving_read(l->word);
    hearthi_log_put(sync, &s, &l->log, epoch, n, count);
    l->word = hearthi_serving_make(s);
    hearthi_node_holder_set(sync, 0);
    hearthi_turn_leave(sync);
}

/* A thread of Hearth's may give it at once, so what is to be done with the
 * lock comes before hearthi_delegation_begin(): a thread that is late would name this rank
 * when the next one keeps it, and no rank could ask that one for it.
 *
 * A guest does not keep: the rank that waits behind its place rings that
 * place's node.
 */
bool
hearthi_mpi_delegate(int lock)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(lock);
    int                       there = hearthi_mcs_node_rank(l->place);
    uint64_t                  mine;

    HEARTHI_ASSERT(l->holder == hearthi_cluster.node_rank + 1);
    HEARTHI_ASSERT(l->ours && !l->rests);
    atomic_thread_fence(memory_order_release);
    if (!hearthi_help.listens || hearthi_node_lock_is_waited_for(lock) ||
        hearthi_cluster.node_of[there] != hearthi_cluster.node)
        return false;
    if (l->told != hearthi_cluster.rank + 1 &&
        !hearthi_mcs_lock_keep(lock, l->place))
        return false;
    l->told = hearthi_cluster.rank + 1;
    atomic_store(&l->keeper, hearthi_cluster.node_rank + 1);
    mine = atomic_load(&l->serving);
    if (!hearthi_delegation_begin(lock))
        return false;
    hearthi_node_lock_kept(lock, mine);
    return true;
}

/* Its node's memory tells which rank has one; and the rank that waits behind
 * it knows. */
void
hearthi_mpi_abandoned_locks(int rank, struct hearthi_abandoned_locks *lost)
{
    hearthi_node_abandoned_locks(rank, lost);
    hearthi_mcs_lock_lost(rank, lost);
}
