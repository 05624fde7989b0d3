/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The queue of a lock or flag: inside the node, and between nodes.
 */
#ifndef HEARTHI_TRANSPORT_MPI_QUEUE_H
#define HEARTHI_TRANSPORT_MPI_QUEUE_H

#include "mpi.h"

/* A wait that looks at its manager's words: the longer it has lasted, the
 * fewer, so that it is late by a small part of what it took, and a crowd does
 * not load the manager.  Zeros at first.  `before` says how many others come
 * before, at least 1. */
struct hearthi_patience {
    uint64_t begin;
    unsigned turn;
};

void hearthi_patience_pause(struct hearthi_patience *p, unsigned before);

struct hearthi_node_lock *hearthi_node_lock_of(int sync);

/* Wait for the turn; with `try`, false instead of waiting.  Between nodes the
 * serving word is in the node's lock then. */
bool hearthi_queue_enter(int sync, bool try);

/* Pass it on: to a rank of the node if no other node waits. */
void hearthi_queue_leave(int sync);

/* Let it stay at this rank (transport.h, keep). */
bool hearthi_queue_keep(int lock);

/* Pass it on to other nodes in any case. */
void hearthi_queue_yield(int sync);

#endif
