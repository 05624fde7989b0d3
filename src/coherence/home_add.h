/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Adds to heap words whose results no thread asks for: gathered, and brought
 * home together.
 */
#ifndef HEARTHI_HOME_ADD_H
#define HEARTHI_HOME_ADD_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/atomic_op.h"

void hearthi_home_adds_open(void);
void hearthi_home_adds_close(void);

/* Add to a word of the heap, by the next hearthi_home_adds_end() at the
 * latest.  Any thread, without the lock of the page table. */
void hearthi_home_add(void *word, enum hearthi_add_kind kind, uint64_t value);

/* How many words there are to which this rank has yet to add.  Relaxed: a
 * thread sees its own adds, and those that happened before its look; the adds
 * are read under their mutex. */
extern _Atomic uint32_t hearthi_home_adds_left;

/* Bring what any thread of this rank has added before: it is at its home when
 * this returns.  Without the lock of the page table. */
void hearthi_home_adds_bring(void);

static inline bool
hearthi_home_adds_are_left(void)
{
    return atomic_load_explicit(&hearthi_home_adds_left,
                                memory_order_relaxed) > 0;
}

static inline void
hearthi_home_adds_end(void)
{
    if (hearthi_home_adds_are_left())
        hearthi_home_adds_bring();
}

/* The same before another step of this rank on that word, if there is any add
 * to it. */
void hearthi_home_adds_look(const void *word);

static inline void
hearthi_home_adds_before(const void *word)
{
    if (hearthi_home_adds_are_left())
        hearthi_home_adds_look(word);
}

#endif
