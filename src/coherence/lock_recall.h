/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks that are delegated to their last holder: whether, and who gives them
 * away when another rank asks.
 */
#ifndef HEARTHI_LOCK_RECALL_H
#define HEARTHI_LOCK_RECALL_H

#include <stdbool.h>
#include <stdint.h>

/* What this rank remembers of a lock; zeros at first.  The thread that holds
 * the lock is alone with it. */
struct hearthi_delegation_policy {
    uint32_t again; /* times in a row that no other rank came between */
    uint32_t need;  /* of those, less one, before it is kept */
};

/* The transport has given it; `again`: no other rank had it since. */
static inline void
hearthi_delegation_policy_taken(struct hearthi_delegation_policy *s,
                                bool                              again)
{
    s->again = again ? s->again + 1 : 0;
}

/* May any be kept now?  And this one? */
bool hearthi_locks_may_stay(void);

static inline bool
hearthi_delegation_policy_wanted(const struct hearthi_delegation_policy *s)
{
    return s->again > s->need && hearthi_locks_may_stay();
}

/* It had been kept, and was released after all. */
void hearthi_delegation_policy_ended(struct hearthi_delegation_policy *s,
                                     uint64_t                          uses);

/* The thread that gives; it starts when the first lock is kept.  close before
 * the transport's. */
void hearthi_lock_recall_begin(void);
void hearthi_lock_recall_close(void);

/* Keep none, and give all: nothing is on its way when it returns.  Several
 * may ask for that. */
void hearthi_lock_recall_all(void);
bool hearthi_lock_recall_is_paused(void);
void hearthi_lock_recall_resume(void);

/* ---- idle locks ----
 *
 * Locks that were kept and idle when this rank came to the barrier in which it
 * is, and were not entered since. */

void hearthi_lock_idle_open(void);
void hearthi_lock_idle_close(void);

/* The rank is about to keep a lock, or did not after all, or gives it. */
void hearthi_lock_idle_note(int lock, bool is);

/* A barrier begins; before it ends the interval. */
void hearthi_lock_idle_begin(void);

/* For the thread that gives a lock that no thread enters now; the second: how
 * often it was entered since it was kept. */
bool     hearthi_lock_is_idle(int lock);
uint64_t hearthi_lock_stay_uses(int lock);

#endif
