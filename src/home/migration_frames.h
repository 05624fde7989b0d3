/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Frames to which the pages of an allocation may move.  They are taken with
 * the allocation, since to take some later would need an order between moves
 * and the allocations of other threads; what is free among them changes only
 * by moves, which all ranks make in one order.
 *
 * They cost addresses until they are touched.  A rank keeps as many as let it
 * have a little more than its share of the pages, so that windows (mpi) cover
 * no more than twice what they would; and they are beside HEARTH_HOME, of
 * which allocations may have all.
 */
#ifndef HEARTHI_MIGRATION_FRAMES_H
#define HEARTHI_MIGRATION_FRAMES_H

#include <stdbool.h>
#include <stdint.h>

#include "page/page_map.h"
#include "space/extent.h"

/* Barriers in a row in which a node was alone before a page moves. */
enum { HEARTHI_FIRST_TOUCH = 1, HEARTHI_OTHERS = 2 };

struct hearthi_migration_frames {
    struct hearthi_extents *free;  /* of each rank */
    struct hearthi_piece   *piece; /* all of them, as they were taken */
    size_t                  n, room;
    unsigned                need;
};

void hearthi_migration_frames_open(void);
void hearthi_migration_frames_close(void);

/* Allocations that have some. */
extern unsigned hearthi_migration_frames_count;

/* A barrier has ended: no allocation is fresh. */
void hearthi_migration_frames_settle(void);

/* How many of a rank's free frames are not for allocations. */
uint64_t hearthi_migration_frames_reserved(int rank);

/* Some for an allocation that has its pieces, and back with all that belongs
 * to it. */
void hearthi_migration_frames_take(struct hearthi_allocation *a,
                                   struct hearthi_extents    *frames,
                                   unsigned                   need);
void hearthi_migration_frames_give(struct hearthi_allocation *a,
                                   struct hearthi_extents    *frames);

/* Up to so many frames of a rank, or another of its node, that follow each
 * other; returns how many, 0 if none is left. */
uint64_t hearthi_migration_frames_pick(struct hearthi_allocation *a,
                                       uint32_t *rank, uint64_t count,
                                       uint64_t *frame);

#endif
