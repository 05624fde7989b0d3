/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Delegated locks: what a rank's own threads, and the ranks that ask for a
 * lock, know of one that its rank has released and kept.
 *
 * A byte for each lock, in the rank's segment, where others may read it:
 *   AWAY          not kept; held or not by the transport's rules
 *   IDLE          kept, and no thread is inside
 *   USED          kept, and a thread of the rank is inside
 * A rank that wants it adds WANTED, which stays until the lock is away:
 *
 *   AWAY, WANTED  it will not be kept at the next release
 *
 *   IDLE, WANTED  no thread enters; the giver (coherence/lock_recall.c)
 *                 releases it, or the thread that was inside
 *
 *   USED, WANTED  the thread that is inside makes it IDLE, WANTED when it
 *                 leaves, and releases it
 *
 * Each step is one atomic step on the byte, so one of two that meet comes
 * first.  For the transport the rank holds a lock that it keeps, so there is
 * one at most; and the byte says AWAY no earlier than the transport has passed
 * the lock on: so a rank that has seen it IDLE and then sees it AWAY may take
 * a lock that is free.  Another thread of the rank may have it from the
 * transport by then: the byte is still IDLE, WANTED, which that thread can
 * neither take for its own section nor keep, so that only the thread that
 * gives says AWAY.
 *
 * Only processors of the node write it; ranks of others may read it.
 */
#ifndef HEARTHI_LOCK_DELEGATION_H
#define HEARTHI_LOCK_DELEGATION_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "event.h"
#include "hearth/hearth.h"
#include "relax.h"
#include "space/segment.h"

/* Of a rank, in its segment at keep_at: bits of those that are wanted and
 * idle, for the giver, and a bit for each word of them that is not 0; then the
 * bytes. */
struct hearthi_delegation {
    struct hearthi_event any;
    _Atomic uint64_t     wanted[];
};

/* The bytes that takes, and where a lock's byte lies in it. */
size_t hearthi_delegation_bytes(void);
size_t hearthi_delegation_byte_at(int lock);

enum hearthi_delegation_state {
    HEARTHI_DELEGATION_AWAY = 0,
    HEARTHI_DELEGATION_IDLE = 1,
    HEARTHI_DELEGATION_USED = 2,
    HEARTHI_DELEGATION_WANTED = 4
};

/* The bytes of this rank; NULL: none stays. */
extern _Atomic uint8_t *hearthi_delegation;

/* How often each lock was entered while it was kept, at any time; its
 * holder's.  In 64 bits it never comes back to what it was, also in a later
 * stay: a thread in a barrier may look at it, and then at the byte, just as a
 * stay begins (coherence/lock_recall.c). */
extern uint64_t *hearthi_delegation_uses;

/* Nothing stays before open; stop sends hearthi_delegation_wanted() home. */
void hearthi_delegation_open(void);
void hearthi_delegation_stop(void);
void hearthi_delegation_close(void);

/* A thread enters a lock that its rank keeps, and leaves it: false if that
 * must be done by the transport.  No lock is kept while a helper stays out of
 * MPI, so the first look at who serves others is enough.  The acquire of the
 * one pairs with the release of the other; a step that fails has nothing to
 * order. */
static inline bool
hearthi_delegation_enter(int lock)
{
    uint8_t idle = HEARTHI_DELEGATION_IDLE;

    if (hearthi_delegation == NULL ||
        !atomic_compare_exchange_strong_explicit(
            &hearthi_delegation[lock], &idle, HEARTHI_DELEGATION_USED,
            memory_order_acquire, memory_order_relaxed))
        return false;
    __atomic_store_n(&hearthi_delegation_uses[lock],
                     hearthi_delegation_uses[lock] + 1,
                     __ATOMIC_RELEASE); /* not before the byte */
    if (!hearthi_relaxing.may_sleep)
        hearthi_relax_serve();
    return true;
}

static inline bool
hearthi_delegation_leave(int lock)
{
    uint8_t used = HEARTHI_DELEGATION_USED;

    return hearthi_delegation != NULL &&
           atomic_compare_exchange_strong_explicit(
               &hearthi_delegation[lock], &used, HEARTHI_DELEGATION_IDLE,
               memory_order_release, memory_order_relaxed);
}

/* Is a thread inside one that was kept?  For that thread.  Relaxed, since the
 * step was its own. */
static inline bool
hearthi_delegation_is_used(int lock)
{
    return hearthi_delegation != NULL &&
           (atomic_load_explicit(&hearthi_delegation[lock],
                                 memory_order_relaxed) &
            HEARTHI_DELEGATION_USED);
}

/* What the byte says now.  The acquire pairs with the release of
 * hearthi_delegation_leave(). */
static inline unsigned
hearthi_delegation_byte(int lock)
{
    return hearthi_delegation == NULL
               ? HEARTHI_DELEGATION_AWAY
               : atomic_load_explicit(&hearthi_delegation[lock],
                                      memory_order_acquire);
}

/* Before the transport is asked for a lock: a rank that wanted it before has
 * had it, or asks again. */
static inline void
hearthi_delegation_ask(int lock)
{
    uint8_t old = HEARTHI_DELEGATION_AWAY | HEARTHI_DELEGATION_WANTED;

    if (hearthi_delegation != NULL)
        atomic_compare_exchange_strong(&hearthi_delegation[lock], &old,
                                       HEARTHI_DELEGATION_AWAY);
}

/* A thread leaves one that is wanted, and is to give it: false if it was not
 * kept. */
static inline bool
hearthi_delegation_out(int lock)
{
    uint8_t used = HEARTHI_DELEGATION_USED | HEARTHI_DELEGATION_WANTED;

    return hearthi_delegation != NULL &&
           atomic_compare_exchange_strong(&hearthi_delegation[lock], &used,
                                          HEARTHI_DELEGATION_IDLE |
                                              HEARTHI_DELEGATION_WANTED);
}

/* No thread enters any more: true if the caller is to give it, or else the
 * thread that gives it knows already. */
bool hearthi_delegation_claim(int lock);

/* Keep what the transport gave: false if another rank wants it. */
bool hearthi_delegation_begin(int lock);

/* The transport has passed it on. */
void hearthi_delegation_end(int lock);

/* A rank wants a lock that this rank, or another of the node, may keep: from
 * any thread, as often as it likes.  What the byte said. */
unsigned hearthi_delegation_want(int lock);
unsigned hearthi_delegation_want_of(int node_rank, int lock);

/* For a try that found a lock kept by a rank of the node: want it for as long
 * as it is idle there.  False if a thread of that rank is inside. */
bool hearthi_delegation_want_idle(int node_rank, int lock);

/* Wait until no lock is both idle and wanted. */
void hearthi_delegation_wait(void);

/* The next lock that is idle and wanted; blocks.  Negative after stop. */
int hearthi_delegation_wanted(void);

/* For a caller that has the byte of another rank: is the lock kept there, and
 * no thread inside? */
static inline bool
hearthi_delegation_is_idle(unsigned byte)
{
    return (byte & ~(unsigned)HEARTHI_DELEGATION_WANTED) ==
           HEARTHI_DELEGATION_IDLE;
}

#endif
