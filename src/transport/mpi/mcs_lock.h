/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The MCS queue of a lock between nodes: which rank is next.
 *
 * A *place* is where a lock is held, rests or is waited for: each rank has two
 * for each lock, and they are numbered 2 * rank and 2 * rank + 1.  The *token*
 * that comes with the lock says what its log is (rma_object.h).  The callers
 * of a node take turns.  The writers of a reader-writer lock have an MCS
 * queue, too, by a number of its own (mpi.h), and its token says nothing.
 */
#ifndef HEARTHI_MCS_LOCK_H
#define HEARTHI_MCS_LOCK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/lock_key.h"

/* With this rank's places at `at` of its window, which is `base` here. */
void hearthi_mcs_lock_open(char *base, size_t at);
void hearthi_mcs_lock_close(void);

/* A lock that gets a name, before any rank uses it: it rests. */
void hearthi_mcs_lock_begin(int lock);

static inline int
hearthi_mcs_node_rank(int place)
{
    return place / 2;
}

/* Wait in the queue: the place where this rank has the lock then. */
int hearthi_mcs_lock_wait(int lock, uint64_t *token);

/* Take the lock if it rests at this place; the queue may be elsewhere. */
bool hearthi_mcs_lock_take(int lock, int place, uint64_t *token);

/* Take it if it rests anywhere, or is kept and no thread is inside: where it
 * is held then, or -1. */
int hearthi_mcs_lock_try(int lock, uint64_t *token);

/* Is it known, without a message, that a rank waits behind this place? */
bool hearthi_mcs_lock_is_wanted(int lock, int place);

/* Add the locks for which threads of this rank wait behind a rank, which has
 * them or waits for them. */
void hearthi_mcs_lock_lost(int rank, struct hearthi_abandoned_locks *lost);

/* Let this rank keep the lock; false if another node waits. */
bool hearthi_mcs_lock_keep(int lock, int place);

/* Give it to the rank that waits behind this place, or let it rest there:
 * true. */
bool hearthi_mcs_lock_leave(int lock, int place, uint64_t token);

/* ---- a lock that a rank keeps (sync.c) ---- */

/* Now and then, since a datagram may be lost: zeros at first, or when to
 * begin. */
struct hearthi_want {
    uint64_t at, again;
};

void hearthi_want_from(struct hearthi_want *w, int rank, int lock);

/* For a try that found a lock kept by a rank: want it for as long as it is
 * idle there.  False if a thread of the rank is inside. */
bool hearthi_want_idle(int rank, int lock);

#endif
