/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Words of a rank's own where its threads wait, and by which others wake them:
 * one message each.
 */
#ifndef HEARTHI_WAIT_SLOT_H
#define HEARTHI_WAIT_SLOT_H

#include <stddef.h>
#include <stdint.h>

#include "base/test_limits.h"

/* Of a rank.  A thread that gets none of them looks at the manager's words
 * instead. */
enum { HEARTHI_WAIT_WORDS = HEARTHI_TEST_LIMIT(64, 2) };

/* The bytes that the words take in a rank's window, from `at` on, which is
 * `base` here. */
size_t hearthi_wait_slot_bytes(void);
void   hearthi_wait_slot_open(char *base, size_t at);

/* A word to wait at, by the name that others wake it by, which is not 0; or 0
 * if all are in use. */
uint32_t hearthi_wait_slot_begin(void);

/* Wait until another thread has woken it, once; then it is free again. */
void hearthi_wait_slot_wait(uint32_t name);

/* Give back a word that no rank was told of. */
void hearthi_wait_slot_end(uint32_t name);

void hearthi_wait_slot(uint32_t name);

/* A set of waiters, none at first, in a word of a managed object: a thread
 * that waits enters, and then looks once more whether it has to.  If not it
 * wakes all, as the thread does that ends the wait.  Each that is woken wakes
 * the one that entered before it, so all of them are woken, by one message
 * each. */
void hearthi_waiters_enter(int sync, uint32_t name, uint32_t *before);
void hearthi_waiters_wake(int sync);
void hearthi_waiters_wait(uint32_t name, uint32_t before);

#endif
