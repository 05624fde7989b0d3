/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The tree of a barrier: of nodes, in which a node has up to eight children,
 * so that up to nine nodes are a root and its leaves.  A node's first rank,
 * its leader, speaks for it; to the leader the other ranks of the node are
 * leaves, too.  Where ranks of a node are told to use datagrams each is a node
 * here.
 */
#ifndef HEARTHI_BARRIER_TREE_H
#define HEARTHI_BARRIER_TREE_H

struct hearthi_udp_barrier_tree {
    int parent; /* of this rank; itself at the root, which is rank 0 */
    int children;
};

struct hearthi_udp_barrier_tree hearthi_udp_barrier_tree(void);

#endif
