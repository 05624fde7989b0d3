/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Twins: what copies were when they were opened for writing.  The table lock
 * is held by callers.
 *
 * A twin has a slot of memory.  That of one that was given back is kept for
 * the next, as long as twins and the frames of copies together are within
 * HEARTH_CACHE and a tenth; what is beyond goes back to the system at the end
 * of an interval, where no card may have registered it.  A rank that opens
 * more pages in one interval than that leaves room for is short of twins: some
 * of its pages are closed before the interval ends (evict.c).
 */
#ifndef HEARTHI_TWINS_H
#define HEARTHI_TWINS_H

#include <stdbool.h>
#include <stdint.h>

#include "base/assert.h"
#include "frames.h"

/* Room for twins of so many pages: all that may have a frame. */
void hearthi_twins_open(uint64_t pages);
void hearthi_twins_close(void);

/* Keep what the page is now, and forget that. */
void hearthi_twin_make(uint64_t page);
void hearthi_twin_free(uint64_t page);

char *hearthi_twin_at(uint64_t page);

/* Slots that have memory, and those of them that belong to no page; and how
 * many had memory at a time, at most. */
struct hearthi_twins {
    uint64_t resident, spare, most;
};
extern struct hearthi_twins hearthi_twins;

/* Twins are more than the frames, by so many at least, before pages are closed
 * for them. */
enum { HEARTHI_TWINS_LEAST = 8 };

/* Frames and twins, of pages. */
static inline uint64_t
hearthi_twins_limit(void)
{
    uint64_t more = hearthi_frames.bound / 10;

    return hearthi_frames.bound +
           (more < HEARTHI_TWINS_LEAST ? HEARTHI_TWINS_LEAST : more);
}

/* Would one more be beyond the limit?  Not where few are in use. */
static inline bool
hearthi_twins_short(void)
{
    return hearthi_twins.spare == 0 &&
           hearthi_frames.used + hearthi_twins.resident >=
               hearthi_twins_limit() &&
           hearthi_twins.resident >=
               hearthi_twins_limit() - hearthi_frames.bound;
}

/* A diff goes home from the twin itself, and not from the page. */
void hearthi_twin_sent(uint64_t page);

/* At the end of an interval: memory of slots beyond the limit goes back. */
void hearthi_twins_shrink(void);

/* Has the page a twin that can be compared with it?  With --enable-debug only.
 */
bool hearthi_has_twin(uint64_t page);

#endif
