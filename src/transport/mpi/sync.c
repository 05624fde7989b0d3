/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks.
 */
#include "config.h"

#include "managed.h"
#include "queue.h"
#include "world.h"

/* What RMA wrote here, and what we wrote for RMA to read, is ordered as by
 * MPI_Win_sync: in the unified model that is a fence. */

bool
hearthi_mpi_acquire(int sync, bool try, struct hearthi_grant *g)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);

    struct hearthi_log log;

    if (!hearthi_queue_enter(sync, try))
        return false;
    if (hearthi_world.nodes > 1) {
        hearthi_grant_refresh(g);
        hearthi_log_get(sync, hearthi_serving_read(l->word), g, &log);
        l->log = log;
        g->again = l->last == hearthi_world.node_rank + 1;
        l->last = hearthi_world.node_rank + 1;
    }
    atomic_thread_fence(memory_order_acquire);
    return true;
}

void
hearthi_mpi_release(int sync, const struct hearthi_notice *n, size_t count)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_serving    s;

    atomic_thread_fence(memory_order_release);
    if (hearthi_world.nodes > 1) {
        s = hearthi_serving_read(l->word);
        hearthi_log_put(sync, &s, &l->log, n, count);
        l->word = hearthi_serving_make(s);
    }
    hearthi_queue_leave(sync);
}

bool
hearthi_mpi_keep(int lock)
{
    atomic_thread_fence(memory_order_release);
    return hearthi_queue_keep(lock);
}
