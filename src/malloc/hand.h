/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Objects that are freed by another rank than their owner, or that must not be
 * used again at once, on their way back.
 */
#ifndef HEARTHI_HAND_H
#define HEARTHI_HAND_H

#include <stdbool.h>
#include <stddef.h>

void hearthi_hand_open(void);
void hearthi_hand_close(void);

/* This rank has freed an object: a large one of so many bytes, or 0. */
void hearthi_hand_over(void *p, int owner, size_t large);

/* Hand over all that waits, as far as owners have taken what came before. */
void hearthi_hand_settle(void);

/* Does any wait still? */
bool hearthi_hand_waits(void);

/* Take what others have handed over: true if there was any. */
bool hearthi_hand_take(void);

/* At the end: only see that all of that was as it should be. */
void hearthi_hand_check(void);

#endif
