/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The pages of an allocation that do not live where it was placed, as runs of
 * frames at another home.  They are sorted by page, as the allocation counts
 * its pages.  Pure data.
 */
#ifndef HEARTHI_MIGRATED_H
#define HEARTHI_MIGRATED_H

#include <stddef.h>
#include <stdint.h>

/* Neighbouring frames of one home. */
struct hearthi_piece {
    uint64_t at; /* the first of its pages, as the allocation counts them */
    uint64_t count;
    uint32_t home, frame;
};

/* Pieces are disjoint, and none continues the one before it. */
struct hearthi_migrated {
    struct hearthi_piece *piece;
    size_t                n, room;
};

/* The piece that has a page, or NULL.  Then no page from *from on and before
 * *end has one, where these are nearer to it than what they were set to.
 * O(log n). */
const struct hearthi_piece *
hearthi_migrated_at(const struct hearthi_migrated *m, uint64_t at,
                    uint64_t *from, uint64_t *end);

/* These pages live here from now on. */
void hearthi_migrated_add(struct hearthi_migrated *m, struct hearthi_piece p);

void hearthi_migrated_free(struct hearthi_migrated *m);

#endif
