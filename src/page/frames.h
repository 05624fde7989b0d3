/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The frames of cached copies: which pages have one, at most HEARTH_CACHE of
 * them, in the order in which they got it.  The table lock is held by callers.
 *
 * Frames are what a transport receives into and sends from, so their memory is
 * given back only where no network card may know it, and then of arrays that
 * are freed (freed_frames.h): a page that has to go leaves its frame to
 * another page.  A page gets the frame at its own place as long as fewer than
 * HEARTH_CACHE frames were ever used and this one was not; then its view needs
 * a protection but no mapping.  Later it gets one that was left, and is mapped
 * to it.
 */
#ifndef HEARTHI_FRAMES_H
#define HEARTHI_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include "space/heap.h"

/* Returns how many pages may have a frame. */
uint64_t hearthi_frames_open(void);
void     hearthi_frames_close(void);

/* How many pages may have one, and how many do; and how many frames there
 * ever were. */
struct hearthi_frames {
    uint64_t bound, given, used;
};

extern struct hearthi_frames hearthi_frames;

/* Frames for a run that is about to be fetched, for which there is room: how
 * many of its first pages have frames now that follow each other, one at
 * least. */
uint64_t hearthi_frames_take(uint64_t page, uint64_t count);

/* The i-th page that has a frame, and how many follow it both in order of age
 * and in the heap; 0 behind the last. */
uint64_t hearthi_frames_run(uint64_t i, uint64_t *page);

/* Choose up to max pages that have a frame no longer: the oldest that were not
 * fetched again since their last turn, are not pinned and not on their way;
 * `few`, if it is not 0: of those whose protection takes mappings, as that of
 * watched pages does where at most so many lie by themselves.  Returns them
 * sorted; their frames follow when nothing is on its way from them. */
size_t hearthi_frames_victims(hearthi_page *victim, size_t max, uint64_t few);
void   hearthi_frames_give(const hearthi_page *victim, size_t n);

#endif
