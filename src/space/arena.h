/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How much of each rank's home memory is for hearth_malloc: its arena, the
 * first pages of the heap and the first frames of each segment, set aside at
 * the start since nobody can be asked for more later.  It is beside
 * HEARTH_HEAP and HEARTH_HOME, and memory where it is touched.
 */
#ifndef HEARTHI_ARENA_H
#define HEARTHI_ARENA_H

#include <stddef.h>

/* An arena is a whole number of these, and of pages. */
enum { HEARTHI_ARENA_BLOCK = 1 << 16 };

/* Bytes of addresses for each rank's: the same on all ranks. */
size_t hearthi_arena_most(void);

/* Bytes that this rank can have beside so much home memory; at most the
 * above, and 0 if there is no room. */
size_t hearthi_arena_wanted(size_t home);

#endif
