/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks that were kept and idle when this rank came to the barrier in which it
 * is, and were not entered since (give.c).
 */
#ifndef HEARTHI_COHERENCE_LEFT_H
#define HEARTHI_COHERENCE_LEFT_H

#include <stdbool.h>

void hearthi_left_open(void);
void hearthi_left_close(void);

/* The rank is about to keep a lock, or did not after all, or gives it. */
void hearthi_lock_kept(int lock, bool is);

/* A barrier begins; before it ends the interval. */
void hearthi_locks_leave(void);

/* For who gives a lock that nobody enters now. */
bool hearthi_lock_is_left(int lock);

#endif
