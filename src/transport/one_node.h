/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a transport does in a job that is one node: all of it is the node
 * layer's, whichever transport it is.
 */
#ifndef HEARTHI_ONE_NODE_H
#define HEARTHI_ONE_NODE_H

#include "transport.h"

bool hearthi_one_node_acquire(int sync, bool try, struct hearthi_grant *g);
void hearthi_one_node_release(int sync, uint64_t epoch,
                              const struct hearthi_notice *n, size_t count);
bool hearthi_one_node_delegate(int lock);
void hearthi_one_node_barrier(const struct hearthi_notice *own, size_t n,
                              bool                            invalidate_all,
                              struct hearthi_barrier_notices *news);
void hearthi_one_node_flag_set(int sync, const struct hearthi_notice *n,
                               size_t count);
void hearthi_one_node_flag_wait(int sync, struct hearthi_grant *g);
void hearthi_one_node_flag_reset(int sync);
bool hearthi_one_node_flag_is_set(int sync);

/* In a table of operations. */
#define HEARTHI_ONE_NODE_OPS                          \
    .sync.acquire = hearthi_one_node_acquire,         \
    .sync.release = hearthi_one_node_release,         \
    .sync.delegate = hearthi_one_node_delegate,       \
    .collective.barrier = hearthi_one_node_barrier,   \
    .sync.flag_set = hearthi_one_node_flag_set,       \
    .sync.flag_wait = hearthi_one_node_flag_wait,     \
    .sync.flag_reset = hearthi_one_node_flag_reset,   \
    .sync.flag_is_set = hearthi_one_node_flag_is_set, \
    .sync.cond_enter = hearthi_node_cond_enter,       \
    .sync.cond_wait = hearthi_node_cond_wait,         \
    .sync.cond_wake = hearthi_node_cond_wake,         \
    .sync.abandoned_locks = hearthi_node_abandoned_locks

#endif
