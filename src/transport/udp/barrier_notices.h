/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a barrier gathers at a node of its tree (below), what its
 * parent is told of it, and what the ranks here are to know of what the parent
 * has brought.
 *
 * Between nodes each has its leader for a writer, or a rank that speaks for
 * itself that rank, so that a node that gets the barrier's notices finds its
 * own among them.
 */
#ifndef HEARTHI_BARRIER_NOTICES_H
#define HEARTHI_BARRIER_NOTICES_H

#include <stdbool.h>
#include <stddef.h>

#include "notice/coalesce.h"

/* Where a rank has a leader only `list` is used, and of `gather` how much the
 * rank tells its leader. */
struct hearthi_udp_barrier_notices {
    struct hearthi_gathered gather; /* for the next barrier, of nodes */
    struct hearthi_gathered ours;   /* for it, of each rank of this node */
    struct hearthi_gathered news;   /* that the last one brought, of nodes */
    struct hearthi_gathered list;   /* of it what this node is to know */
};

extern struct hearthi_udp_barrier_notices hearthi_udp_barrier_notices;

void hearthi_udp_barrier_notices_open(bool led);
void hearthi_udp_barrier_notices_close(void);

/* A rank, this one or a child in the tree, tells the next barrier. */
void hearthi_udp_barrier_notices_add(int from, const void *notice, size_t n,
                                     bool invalidate_all);

/* A rank that has a leader leaves what it tells where the leader finds it, and
 * sends only how many runs they are. */
void hearthi_udp_barrier_notices_leave(const struct hearthi_notice *own,
                                       size_t                       n);
void hearthi_udp_barrier_notices_fetch(int from, size_t n,
                                       bool invalidate_all);

/* All have told: what the parent is to be told is in `gather`. */
void hearthi_udp_barrier_notices_join(void);

/* What the barrier brought is in `gather`, in its place: make the list. */
void hearthi_udp_barrier_notices_list(void);

/* It is the barrier's notices now, and `gather` is for the next barrier. */
void hearthi_udp_barrier_notices_turn(void);

/* ---- barrier_tree.c ---- */

/* The tree of a barrier: of nodes, in which a node has up to eight children,
 * so that up to nine nodes are a root and its leaves.  A node's first rank,
 * its leader, speaks for it; to the leader the other ranks of the node are
 * leaves, too.  Where ranks of a node are told to use datagrams each is a node
 * here. */

struct hearthi_udp_barrier_tree {
    int parent; /* of this rank; itself at the root, which is rank 0 */
    int children;
};

struct hearthi_udp_barrier_tree hearthi_udp_barrier_tree(void);

#endif
