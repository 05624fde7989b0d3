/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Atomic changes of a heap word at its home; own copies of the page go.
 */
#ifndef HEARTHI_HOME_ATOMIC_H
#define HEARTHI_HOME_ATOMIC_H

#include <stdbool.h>
#include <stdint.h>

#include "transport/atomic_op.h"

/* Gives what was there. */
uint64_t hearthi_home_atomic(void *word, const struct hearthi_atomic_op *s);

/* What a word of 8 bytes is at its home, whose page this rank has not written
 * by that; `near`: without a message. */
uint64_t hearthi_home_word(void *word, bool *near);

#endif
