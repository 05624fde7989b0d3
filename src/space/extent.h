/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Free ranges of numbers (pages of the heap, frames of a segment), given out
 * first fit.  Every rank makes the same calls in the same order and so gets
 * the same answers: no message is needed to agree on an address.
 */
#ifndef HEARTHI_EXTENT_H
#define HEARTHI_EXTENT_H

#include <stddef.h>
#include <stdint.h>

struct hearthi_extent {
    uint64_t first, count;
};

struct hearthi_extents {
    struct hearthi_extent *free; /* sorted, disjoint, never adjacent */
    size_t                 n, room;
    uint64_t               left; /* sum of the counts */
};

/* Start with [first, first + count) free. */
void hearthi_extents_init(struct hearthi_extents *e, uint64_t first,
                          uint64_t count);
void hearthi_extents_fini(struct hearthi_extents *e);

/* Take exactly count contiguous numbers into *first; 0, or -1 if there is no
 * such range. */
int hearthi_extents_take(struct hearthi_extents *e, uint64_t count,
                         uint64_t *first);

/* Take these very ones; 0, or -1 if one of them is not free. */
int hearthi_extents_take_at(struct hearthi_extents *e, uint64_t first,
                            uint64_t count);

/* How many are free from this one on. */
uint64_t hearthi_extents_free_at(const struct hearthi_extents *e,
                                 uint64_t                      first);

/* The same as hearthi_extents_take(), from a multiple of count on. */
int hearthi_extents_take_aligned(struct hearthi_extents *e, uint64_t count,
                                 uint64_t *first);

/* Take a run of whole units that begins at a multiple of one; returns how many
 * numbers, 0 if there is none. */
uint64_t hearthi_extents_take_units(struct hearthi_extents *e, uint64_t unit,
                                    uint64_t *first);

/* Take up to count numbers, contiguous, into *first; returns how many: count
 * if a range is long enough, else the longest there is, 0 if none. */
uint64_t hearthi_extents_take_some(struct hearthi_extents *e, uint64_t count,
                                   uint64_t *first);

/* Give a range back. */
void hearthi_extents_give(struct hearthi_extents *e, uint64_t first,
                          uint64_t count);

#endif
