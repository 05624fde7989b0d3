/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A lock or flag inside the node, and how a lock that a rank keeps
 * (lock_delegation.h) is wanted from it.
 */
#ifndef HEARTHI_NODE_LOCK_H
#define HEARTHI_NODE_LOCK_H

#include "transport/mpi/mpi.h"

struct hearthi_node_lock *hearthi_node_lock_of(int sync);

/* Wait for the turn in the node; with `try`, false instead of waiting. */
bool hearthi_node_lock_acquire(int sync, bool try);
void hearthi_node_lock_release(int sync);
bool hearthi_node_lock_is_waited_for(int sync);

/* Now and then, since a datagram may be lost: zeros at first, or when to
 * begin. */
struct hearthi_want {
    uint64_t at, again;
};

void hearthi_want_from(struct hearthi_want *w, int rank, int lock);

/* For a try that found a lock kept by a rank, or by none (-1): want it for as
 * long as it is idle there.  False if a thread of the rank is inside. */
bool hearthi_want_idle(int rank, int lock);

#endif
