/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks that stay with their last holder: whether, and who gives them away
 * when somebody asks.
 */
#ifndef HEARTHI_COHERENCE_GIVE_H
#define HEARTHI_COHERENCE_GIVE_H

#include <stdbool.h>
#include <stdint.h>

/* What this rank remembers of a lock; zeros at first.  Who holds the lock is
 * alone with it. */
struct hearthi_stay {
    uint32_t again; /* times in a row that nobody else came between */
    uint32_t need;  /* of those, less one, before it is kept */
};

/* The transport has given it; `again`: nobody else had it since. */
void hearthi_stay_taken(struct hearthi_stay *s, bool again);

/* Is it to be kept?  And: it had been, and was released after all. */
bool hearthi_stay_wanted(const struct hearthi_stay *s);
void hearthi_stay_ended(struct hearthi_stay *s, uint32_t uses);

/* The thread that gives; it starts when the first lock is kept.  close before
 * the transport's. */
void hearthi_give_begin(void);
void hearthi_give_close(void);

/* Keep none, and give all: nothing is on its way when it returns.  Several
 * may ask for that. */
void hearthi_give_all(void);
bool hearthi_give_is_paused(void);
void hearthi_give_resume(void);

#endif
