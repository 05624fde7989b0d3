/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "one_node.h"

#include "cluster.h"
#include "node/node.h"

/* A grant says nothing: no copy is anywhere. */
bool
hearthi_one_node_acquire(int sync, bool try, struct hearthi_grant *g)
{
    (void)g;
    return hearthi_node_acquire(sync, try);
}

void
hearthi_one_node_release(int sync, uint64_t epoch,
                         const struct hearthi_notice *n, size_t count)
{
    (void)epoch;
    (void)n;
    (void)count;
    hearthi_node_release(sync);
}

/* The turns in the node cost no more than a lock that stays. */
bool
hearthi_one_node_delegate(int lock)
{
    (void)lock;
    return false;
}

void
hearthi_one_node_barrier(const struct hearthi_notice *own, size_t n,
                         bool                            invalidate_all,
                         struct hearthi_barrier_notices *news)
{
    struct hearthi_node_area *node = hearthi_node.area;

    hearthi_node_barrier_arrive(own, n, invalidate_all, news->asks);
    if (hearthi_node_is_leader()) {
        node->news.asks = 0;
        for (int r = 0; r < hearthi_cluster.node_size; r++)
            node->news.asks |= node->of[r].asks;
    }
    hearthi_node_barrier_leave(news);
}

void
hearthi_one_node_flag_set(int sync, const struct hearthi_notice *n,
                          size_t count)
{
    (void)n;
    (void)count;
    hearthi_node_flag_change(sync, true);
}

void
hearthi_one_node_flag_wait(int sync, struct hearthi_grant *g)
{
    (void)g;
    hearthi_node_flag_wait(sync);
}

void
hearthi_one_node_flag_reset(int sync)
{
    hearthi_node_flag_change(sync, false);
}

bool
hearthi_one_node_flag_is_set(int sync)
{
    return atomic_load(&hearthi_node_lock_of(sync)->value);
}
