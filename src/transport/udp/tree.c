/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tree.h"

#include "base/option.h"
#include "world.h"

enum { FAN = 8 };

/* In a tree of n, of the one with number i. */
static struct hearthi_udp_tree
tree_of(int i, int n)
{
    int left = n - (i * FAN + 1);

    return (struct hearthi_udp_tree){
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

    while (hearthi_world.node_of[r] != node)
        r++;
    return r;
}

struct hearthi_udp_tree
hearthi_udp_tree(void)
{
    const struct hearthi_world *w = &hearthi_world;
    struct hearthi_udp_tree     t;

    if (hearthi_opt.udp_local != HEARTHI_LOCAL_SHM)
        return tree_of(w->rank, w->size);
    if (w->node_rank > 0)
        return (struct hearthi_udp_tree){ .parent = w->node_member[0] };
    t = tree_of(w->node, w->nodes);
    t.parent = leader_of(t.parent);
    t.children += w->node_size - 1;
    return t;
}
