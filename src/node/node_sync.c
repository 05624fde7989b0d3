/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks, flags and condition variables of a job that is one node: turns, a
 * value and two counts in the node's memory.  Nothing is published, since
 * nothing is cached.
 */
#include "config.h"

#include "base/assert.h"
#include "cluster.h"
#include "node.h"
#include "relax.h"

/* ---- locks ---- */

/* The two fences pair by way of the turn's word `serving`, whose own steps are
 * seq_cst (node_lock.c). */
bool
hearthi_node_acquire(int sync, bool try)
{
    if (!hearthi_node_lock_acquire(sync, try))
        return false;
    HEARTHI_ASSERT(hearthi_node_lock_of(sync)->holder == 0);
    hearthi_node_holder_set(sync, hearthi_cluster.node_rank + 1);
    atomic_thread_fence(memory_order_acquire);
    return true;
}

void
hearthi_node_release(int sync)
{
    HEARTHI_ASSERT(hearthi_node_lock_of(sync)->holder ==
                   hearthi_cluster.node_rank + 1);
    atomic_thread_fence(memory_order_release);
    hearthi_node_holder_set(sync, 0);
    hearthi_node_lock_release(sync);
}

/* Relaxed, as hearthi_node_holder_set(). */
void
hearthi_node_abandoned_locks(int rank, struct hearthi_abandoned_locks *lost)
{
    int holder = hearthi_cluster.node_rank_of[rank] + 1;

    if (hearthi_cluster.node_of[rank] != hearthi_cluster.node)
        return;
    for (int i = 0; i < hearthi_syncs_top; i++)
        if (atomic_load_explicit(&hearthi_node_lock_of(i)->holder,
                                 memory_order_relaxed) == holder)
            hearthi_abandoned_locks_add(lost, hearthi_lock_names_key(i));
}

/* ---- flags ---- */

/* By turns, so that of two that change it at once the one that was later has
 * said the last word.  The fence, and the release of the value, pair with the
 * acquire of hearthi_node_flag_wait(). */
void
hearthi_node_flag_change(int sync, bool set)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);

    atomic_thread_fence(memory_order_release);
    hearthi_node_lock_acquire(sync, false);
    atomic_store_explicit(&l->value, set, memory_order_release);
    if (set)
        hearthi_event_raise(hearthi_node_lock_event(sync, 0));
    hearthi_node_lock_release(sync);
}

void
hearthi_node_flag_wait(int sync)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_event     *e = hearthi_node_lock_event(sync, 0);
    unsigned                  turn = 0;
    uint32_t                  seen;

    while (seen = hearthi_event_value(e),
           !atomic_load_explicit(&l->value, memory_order_acquire))
        hearthi_crowd_wait(e, seen, &turn);
}

/* ---- condition variables ---- */

uint64_t
hearthi_node_cond_enter(int sync)
{
    return atomic_fetch_add(&hearthi_node_lock_of(sync)->next, 1);
}

void
hearthi_node_cond_wait(int sync, uint64_t place)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_event     *e = hearthi_node_lock_event(sync, 0);
    unsigned                  turn = 0;
    uint32_t                  seen;

    while (seen = hearthi_event_value(e), atomic_load(&l->serving) <= place)
        hearthi_crowd_wait(e, seen, &turn);
}

void
hearthi_node_cond_wake(int sync, bool all)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    uint64_t                  woken = atomic_load(&l->serving);

    while (!atomic_compare_exchange_weak(
        &l->serving, &woken,
        hearthi_cond_woken_next(atomic_load(&l->next), woken, all)))
        ;
    hearthi_event_raise(hearthi_node_lock_event(sync, 0));
}
