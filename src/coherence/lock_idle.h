/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks that were kept and idle when this rank came to the barrier in which it
 * is, and were not entered since (lock_recall.c).
 */
#ifndef HEARTHI_LOCK_IDLE_H
#define HEARTHI_LOCK_IDLE_H

#include <stdbool.h>

void hearthi_lock_idle_open(void);
void hearthi_lock_idle_close(void);

/* The rank is about to keep a lock, or did not after all, or gives it. */
void hearthi_lock_idle_note(int lock, bool is);

/* A barrier begins; before it ends the interval. */
void hearthi_lock_idle_begin(void);

/* For who gives a lock that nobody enters now. */
bool hearthi_lock_is_idle(int lock);

#endif
