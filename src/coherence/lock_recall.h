/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks that stay with their last holder: whether, and who gives them away
 * when somebody asks.
 */
#ifndef HEARTHI_LOCK_RECALL_H
#define HEARTHI_LOCK_RECALL_H

#include <stdbool.h>
#include <stdint.h>

/* What this rank remembers of a lock; zeros at first.  Who holds the lock is
 * alone with it. */
struct hearthi_delegation_policy {
    uint32_t again; /* times in a row that nobody else came between */
    uint32_t need;  /* of those, less one, before it is kept */
};

/* The transport has given it; `again`: nobody else had it since. */
void hearthi_delegation_policy_taken(struct hearthi_delegation_policy *s,
                                     bool                              again);

/* Is it to be kept?  And: it had been, and was released after all. */
bool
hearthi_delegation_policy_wanted(const struct hearthi_delegation_policy *s);
void hearthi_delegation_policy_ended(struct hearthi_delegation_policy *s,
                                     uint32_t                          uses);

/* The thread that gives; it starts when the first lock is kept.  close before
 * the transport's. */
void hearthi_lock_recall_begin(void);
void hearthi_lock_recall_close(void);

/* Keep none, and give all: nothing is on its way when it returns.  Several
 * may ask for that. */
void hearthi_lock_recall_all(void);
bool hearthi_lock_recall_is_paused(void);
void hearthi_lock_recall_resume(void);

#endif
