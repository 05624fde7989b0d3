/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The node's part of a barrier: each rank deposits what it has written in the
 * node's memory; the leader reads all deposits, and puts there what the
 * barrier brought, which each rank then finds.
 */
#include "config.h"

#include <string.h>

#include "cluster.h"
#include "node.h"
#include "relax.h"

bool
hearthi_node_is_leader(void)
{
    return hearthi_cluster.node_rank == 0;
}

/* The acquire pairs with the two releases below: what was deposited, and the
 * barrier's notices, come before. */
static void
generation_wait(const struct hearthi_deposit *d)
{
    unsigned turn = 0;

    while (atomic_load_explicit(&d->generation, memory_order_acquire) !=
           hearthi_node.barriers)
        hearthi_relax(&turn);
}

static void
deposit(struct hearthi_deposit *mine, const struct hearthi_notice *own,
        size_t n, bool invalidate_all)
{
    invalidate_all |= n > HEARTHI_NOTICES_OF_ONE;
    mine->invalidate_all = invalidate_all;
    mine->n = invalidate_all ? 0 : (uint32_t)n;
    if (mine->n > 0)
        memcpy(hearthi_node.deposited[hearthi_cluster.node_rank], own,
               n * sizeof *own);
}

/* The deposit of the last barrier may be overwritten: the leader read it
 * before this rank left that barrier.  The barrier's notices may be
 * overwritten by the leader from here on: every rank of the node has arrived,
 * so has read the last ones. */
void
hearthi_node_barrier_arrive(const struct hearthi_notice *own, size_t n,
                            bool invalidate_all, unsigned asks)
{
    struct hearthi_deposit *of = hearthi_node.area->of;
    struct hearthi_deposit *mine = &of[hearthi_cluster.node_rank];

    hearthi_node.barriers++;
    deposit(mine, own, n, invalidate_all);
    mine->asks = asks;
    atomic_store_explicit(&mine->generation, hearthi_node.barriers,
                          memory_order_release);
    for (int r = 1; hearthi_node_is_leader() && r < hearthi_cluster.node_size;
         r++)
        generation_wait(&of[r]);
}

/* The fence is for the leader, which does not wait here: what other nodes have
 * put into home memory is seen behind it (mpi/barrier.c). */
void
hearthi_node_barrier_leave(struct hearthi_barrier_notices *news)
{
    struct hearthi_deposit *all = &hearthi_node.area->news;

    if (hearthi_node_is_leader())
        atomic_store_explicit(&all->generation, hearthi_node.barriers,
                              memory_order_release);
    else
        generation_wait(all);
    atomic_thread_fence(memory_order_acquire);
    news->notice = hearthi_node.news;
    news->n = all->n;
    news->invalidate_all = all->invalidate_all != 0;
    news->asks = all->asks;
}
