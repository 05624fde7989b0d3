/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Objects that are freed by another rank than their owner, or that must not be
 * used again at once, on their way back.
 */
#ifndef HEARTHI_REMOTE_FREE_H
#define HEARTHI_REMOTE_FREE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void hearthi_remote_free_open(void);
void hearthi_remote_free_close(void);

/* The part of these that takes (remote_free_owner.c). */
void hearthi_remote_free_owner_open(void);
void hearthi_remote_free_owner_close(void);

/* In an offset, which is a multiple of 16: it was hearth_realloc that freed
 * the object. */
enum { HEARTHI_RESIZED = 1 };

/* This rank has freed an object, by such a call: a large one of so many bytes,
 * or 0. */
void hearthi_remote_free_put(const char *call, void *p, int owner,
                             size_t large);

/* Hand over all that waits. */
void hearthi_remote_free_settle(void);

/* Take what others have handed over: true if there was any. */
bool hearthi_remote_free_take(void);

/* Objects that wait: of others that were freed here, and of this rank's in its
 * rings. */
uint64_t hearthi_remote_free_to_send(void);
uint64_t hearthi_remote_free_to_take(void);

/* At the end: only see that all of that was as it should be. */
void hearthi_remote_free_check(void);

#endif
