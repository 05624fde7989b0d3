/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Blocks that their owner has given back to an arena, for any rank: a bit of
 * each in words of the home's.
 *
 * The rank that gives one back has all of its objects, its owner tags say
 * nothing, and no rank remembers it (owner_cache.h).  What this rank wrote
 * there it releases before the bit is set, as what others wrote was released
 * before it had the objects back (remote_free.c); so nothing comes to the home
 * later.  The rank that takes the block acquires its pages after it has
 * cleared the bit, since it may have copies from before others wrote, and so
 * may the ranks that get objects from it: the argument is that of an owner
 * that takes objects back.
 *
 * A bit is cleared by a compare-and-swap, so one rank has the block.  Of a run
 * of blocks in several words what was taken is given back where a word has
 * changed.  A word that counts blocks saves looking for what is not there; it
 * is changed later than the bits.
 *
 * What was never split off joins what was given back where only both together
 * are enough.
 */
#ifndef HEARTHI_MALLOC_VACANT_H
#define HEARTHI_MALLOC_VACANT_H

#include <stdint.h>

#include "arena_map.h"

/* Give back so many blocks, side by side, of this rank's. */
void hearthi_vacant_give(char *base, uint64_t blocks);

/* Take so many of a home, side by side, or NULL. */
char *hearthi_vacant_take(int home, uint64_t blocks);

/* Take these very ones, which were split off once, or NULL. */
char *hearthi_vacant_take_at(const char *base, uint64_t blocks);

/* What was never split off is vacant from now on: false if there is
 * nothing. */
bool hearthi_vacant_rest(int home);

#endif
