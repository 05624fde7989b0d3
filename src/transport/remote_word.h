/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Words of a rank's segment that any rank reads and writes: names of locks,
 * what hearth_malloc knows of blocks.  A word is changed by atomic steps at
 * its home, since a card that reads one by an atomic step may write back what
 * it has read, and never by the processor as well; on a node of all ranks by
 * the processor alone.  A rank that shares its memory loads it.  Any thread
 * may call these, without the table lock.
 */
#ifndef HEARTHI_REMOTE_WORD_H
#define HEARTHI_REMOTE_WORD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The word at an offset of a rank's segment; acquires what was written before
 * it was. */
uint64_t hearthi_remote_word_get(int rank, size_t at);

/* Write it: what is there is gone.  Complete when it returns. */
void hearthi_remote_word_put(int rank, size_t at, uint64_t value);

/* The same, and return what it was. */
uint64_t hearthi_remote_word_swap(int rank, size_t at, uint64_t value);

/* Write it if it is what is expected; else say what it is. */
bool hearthi_remote_word_cas(int rank, size_t at, uint64_t *expected,
                             uint64_t value);

/* Add to it, and return what it was. */
uint64_t hearthi_remote_word_add(int rank, size_t at, uint64_t value);

#endif
