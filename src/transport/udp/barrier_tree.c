/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "barrier_notices.h"

#include "base/assert.h"
#include "base/option.h"
#include "cluster.h"

enum { FAN = 8 };

/* In a tree of n, of the one with number i. */
static struct hearthi_udp_barrier_tree
tree_of(int i, int n)
{
    int left = n - (i * FAN + 1);

    return (struct hearthi_udp_barrier_tree){
        .parent = i == 0 ? 0 : (i - 1) / FAN,
        .children = left < 0     ? 0
                    : left < FAN ? left
                                 : FAN,
    };
}

/* Nodes have the order of their first ranks. */
static int
leader_of(int node)
{
    int r = node;

    while (hearthi_cluster.node_of[r] != node)
        r++;
    return r;
}

struct hearthi_udp_barrier_tree
hearthi_udp_barrier_tree(void)
{
    const struct hearthi_cluster   *j = &hearthi_cluster;
    struct hearthi_udp_barrier_tree t;

    if (hearthi_opt.udp_local != HEARTHI_LOCAL_SHM)
        return tree_of(j->rank, j->size);
    if (j->node_rank > 0)
        return (struct hearthi_udp_barrier_tree){ .parent =
                                                      j->node_member[0] };
    t = tree_of(j->node, j->nodes);
    t.parent = leader_of(t.parent);
    t.children += j->node_size - 1;
    HEARTHI_ASSERT(t.parent >= 0 && t.parent <= j->rank);
    HEARTHI_ASSERT(t.children < j->size);
    return t;
}
