/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The queue of a lock or flag: inside the node, and between nodes.
 */
#ifndef HEARTHI_TRANSPORT_MPI_QUEUE_H
#define HEARTHI_TRANSPORT_MPI_QUEUE_H

#include "mpi.h"

struct hearthi_node_lock *hearthi_node_lock_of(int sync);

/* Wait for the turn; with `try`, false instead of waiting.  Between nodes the
 * serving word is in the node's lock then. */
bool hearthi_queue_enter(int sync, bool try);

/* Pass it on: to a rank of the node if no other node waits. */
void hearthi_queue_leave(int sync);

/* Pass it on to other nodes in any case. */
void hearthi_queue_yield(int sync);

#endif
