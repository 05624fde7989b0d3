/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory of cached copies whose array was freed.  Their pages keep their
 * frames, which pass to other pages when their turn comes (frames.h); but what
 * lies in them nobody reads again, so that memory goes back to the system at
 * barriers a second later, unless a network card may have registered it or an
 * array has the pages by then.  The second is for programs that free an array
 * and allocate the next one in each of their steps.  The table lock is held by
 * callers.
 *
 * Why nobody reads it: a page of no array has no copy, and the program may not
 * touch it; a rank of this node that would take the copy has lost its name
 * (hearthi_node_cache_keep()), under this lock, and looks at that behind its
 * own copying; nothing is on its way into the frame or from it, since all
 * ranks have met in hearth_free(); a child of fork(2) finds no such page in
 * its table, or was cut off by hearth_free(); and a page that gets such a
 * frame again has it filled whole before it is opened, or is about to be
 * overwritten (overwrite.h), and then finds zeroes where old bytes were.
 */
#ifndef HEARTHI_FREED_FRAMES_H
#define HEARTHI_FREED_FRAMES_H

#include <stddef.h>
#include <stdint.h>

/* Nanoseconds until memory goes back; tests set it. */
extern uint64_t hearthi_freed_frames_wait;

/* Runs of pages that wait for that. */
extern size_t hearthi_freed_frames;

/* The pages of an array that is no more. */
void hearthi_freed_frames_add(uint64_t page, uint64_t count);

/* These are those of another array now. */
void hearthi_freed_frames_forget(uint64_t page, uint64_t count);

void hearthi_freed_frames_shrink(void);

/* Give back what has waited long enough, or a part of it; at each barrier. */
static inline void
hearthi_freed_frames_purge(void)
{
    if (hearthi_freed_frames > 0)
        hearthi_freed_frames_shrink();
}

#endif
