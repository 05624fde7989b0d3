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

/* Slots that have memory, and those of them that belong to no page; how many
 * had memory at a time, at most; and pages that a look for some to close has
 * found in vain to be too many (hearthi_twins_stuck). */
struct hearthi_twins {
    uint64_t resident, spare, most, stuck;
};
extern struct hearthi_twins hearthi_twins;

/* Pages that were opened last stay open: an instruction may need some at a
 * time.  Twins are more than the frames by LEAST before pages are closed. */
enum { HEARTHI_TWINS_RECENT = 8, HEARTHI_TWINS_LEAST = 16 };

/* Frames and twins, of pages. */
static inline uint64_t
hearthi_twins_limit(void)
{
    uint64_t more = hearthi_frames.bound / 10;

    return hearthi_frames.bound +
           (more < HEARTHI_TWINS_LEAST ? HEARTHI_TWINS_LEAST : more);
}

/* Would so many more be beyond the limit?  Not where few are in use. */
static inline bool
hearthi_twins_short(uint64_t count)
{
    const struct hearthi_twins *t = &hearthi_twins;
    uint64_t                    limit = hearthi_twins_limit(), then;

    then = t->resident + (count > t->spare ? count - t->spare : 0);
    return hearthi_frames.used + then >
               (t->stuck > limit ? t->stuck : limit) &&
           then > limit - hearthi_frames.bound;
}

/* A page that was opened lately. */
bool hearthi_twin_is_recent(uint64_t page);

/* Next to none can be closed: no more are looked for in this interval until
 * there are clearly more twins. */
void hearthi_twins_stuck(void);

/* A diff goes home from the twin itself, and not from the page. */
void hearthi_twin_sent(uint64_t page);

/* No diff is under way: memory of spare slots beyond the limit goes back.  And
 * at the end of an interval, which ends what is stuck. */
void hearthi_twins_trim(void);
void hearthi_twins_shrink(void);

/* Has the page a twin that can be compared with it?  With --enable-debug only.
 */
bool hearthi_has_twin(uint64_t page);

#endif
