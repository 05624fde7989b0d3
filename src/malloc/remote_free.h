/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Objects that are freed by another rank than their owner, or that must not be
 * used again at once, on their way back.
 */
#ifndef HEARTHI_REMOTE_FREE_H
#define HEARTHI_REMOTE_FREE_H

#include <stdbool.h>
#include <stddef.h>

void hearthi_remote_free_open(void);
void hearthi_remote_free_close(void);

/* This rank has freed an object: a large one of so many bytes, or 0. */
void hearthi_remote_free_put(void *p, int owner, size_t large);

/* Hand over all that waits, as far as owners have taken what came before. */
void hearthi_remote_free_settle(void);

/* Does any wait still? */
bool hearthi_remote_free_waits(void);

/* Take what others have handed over: true if there was any. */
bool hearthi_remote_free_take(void);

/* At the end: only see that all of that was as it should be. */
void hearthi_remote_free_check(void);

#endif
