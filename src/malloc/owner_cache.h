/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The owners of other ranks' blocks of small objects, remembered: so a rank
 * that frees many of these objects need not ask for the owner tag each time.
 *
 * A block keeps its owner while one of its objects is live.  Once none is, it
 * may be given out as something else, and before that the ranks that remember
 * it must forget it: else a large object that begins there would be freed as a
 * small one, with what was written behind its first block still on its way.
 *
 * A rank that remembers a block has freed one of its objects, and remembered
 * the block before it sent that.  So the owner, when it has the last of the
 * objects, has had a message of all of them since they last forgot: it tells
 * these, by one atomic step on a word of theirs that counts
 * (hearthi_forget_at), and then gives the block out.  What was remembered with
 * another count of that word is void.  The step is complete before the block
 * is given out, and a rank frees an object of its new kind only after it was
 * handed on to it, by an order of the program's: so it loads the new count.
 *
 * Which ranks have sent is kept for the owner as a whole, not for each
 * block: a rank that is told forgets all.
 */
#ifndef HEARTHI_OWNER_CACHE_H
#define HEARTHI_OWNER_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena_map.h"

void hearthi_owner_cache_open(void);
void hearthi_owner_cache_close(void);

/* The count now: draw it before the owner tag is read. */
uint64_t hearthi_owner_cache_count(void);

/* What is remembered of the block in which p lies; false if nothing is. */
bool hearthi_owner_cache_get(const void *p, struct hearthi_owner_tag *l);

/* The owner tag of a block of small objects, which was read after the count
 * was this: only by the rank that is about to free one. */
void hearthi_owner_cache_put(const void *p, struct hearthi_owner_tag l,
                             uint64_t count);

/* That rank has sent objects of this rank's. */
void hearthi_owner_cache_used_by(int rank);

/* No rank remembers a block of this rank's when this returns, but for those
 * that have live objects. */
void hearthi_owner_cache_flush(void);

#endif
