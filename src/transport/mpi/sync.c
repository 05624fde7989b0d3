/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks: inside a node by turns (node_lock.h), between nodes by a chain
 * (mcs_lock.h).
 *
 * A lock that a node has goes to ranks of the node that wait for it, as often
 * as the node has ranks: so between two turns of another node each of them may
 * have it once.  Then, or if none waits, it goes to other nodes.
 */
#include "config.h"

#include "cluster.h"
#include "mcs_lock.h"
#include "node/lock_delegation.h"
#include "node/lock_names.h"
#include "node/node_lock.h"
#include "progress.h"
#include "rma_object.h"

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
    if (hearthi_cluster.nodes == 1)
        return true;
    if (!between_nodes(lock, try, l)) {
        hearthi_node_lock_release(lock);
        return false;
    }
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

static void
holder_set(struct hearthi_node_lock *l, int node_rank)
{
    atomic_store_explicit(&l->holder, node_rank, memory_order_relaxed);
}

bool
hearthi_mpi_acquire(int sync, bool try, struct hearthi_grant *g)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_log        log;

    if (!hearthi_turn_take(sync, try))
        return false;
    if (hearthi_cluster.nodes > 1) {
        hearthi_grant_refresh(g);
        hearthi_log_get(sync, hearthi_serving_read(l->word), g, &log);
        l->log = log;
        g->again = l->last == hearthi_cluster.node_rank + 1;
        l->last = hearthi_cluster.node_rank + 1;
    }
    holder_set(l, hearthi_cluster.node_rank + 1);
    atomic_thread_fence(memory_order_acquire);
    return true;
}

void
hearthi_mpi_release(int sync, uint64_t epoch, const struct hearthi_notice *n,
                    size_t count)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_serving    s;

    atomic_thread_fence(memory_order_release);
    if (hearthi_cluster.nodes > 1) {
        s = hearthi_serving_read(l->word);
        hearthi_log_put(sync, &s, &l->log, epoch, n, count);
        l->word = hearthi_serving_make(s);
    }
    holder_set(l, 0);
    hearthi_turn_leave(sync);
}

/* A thread of Hearth's may give it at once, so what is to be done with the
 * lock comes before keep_begin: a thread that is late would name this rank
 * when the next one keeps it, and nobody could ask that for it.
 *
 * A guest does not keep: who waits behind its place rings that place's node.
 */
bool
hearthi_mpi_delegate(int lock)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(lock);
    int                       there = hearthi_mcs_node_rank(l->place);

    atomic_thread_fence(memory_order_release);
    if (!hearthi_help.listens || hearthi_node_lock_is_waited_for(lock) ||
        hearthi_cluster.node_of[there] != hearthi_cluster.node)
        return false;
    if (l->told != hearthi_cluster.rank + 1 &&
        !hearthi_mcs_lock_keep(lock, l->place))
        return false;
    l->told = hearthi_cluster.rank + 1;
    atomic_store(&l->keeper, hearthi_cluster.node_rank + 1);
    return hearthi_delegation_begin(lock);
}

/* Its node's memory tells who has one; and who waits behind it knows. */
void
hearthi_mpi_abandoned_locks(int rank, struct hearthi_abandoned_locks *lost)
{
    bool near = hearthi_cluster.node_of[rank] == hearthi_cluster.node;
    int  holder = hearthi_cluster.node_rank_of[rank] + 1;

    for (int i = 0; near && i < hearthi_syncs_top; i++)
        if (atomic_load_explicit(&hearthi_node_lock_of(i)->holder,
                                 memory_order_relaxed) == holder)
            hearthi_abandoned_locks_add(lost, hearthi_lock_names_key(i));
    if (hearthi_cluster.nodes > 1)
        hearthi_mcs_lock_lost(rank, lost);
}
