/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Layouts: which pages of an allocation have their home where, as pieces
 * (page/page_map.h).  What that costs grows with ranks and pieces, not with
 * pages.
 */
#ifndef HEARTHI_HOME_LAYOUT_H
#define HEARTHI_HOME_LAYOUT_H

#include <stddef.h>
#include <stdint.h>

#include "hearth/hearth.h"
#include "page/page_map.h"
#include "space/extent.h"

/* Pages that follow each other and have one home. */
struct hearthi_stretch {
    uint64_t pages;
    uint32_t home;
};

/* Where the pages of an allocation go: by n stretches in the order of pages,
 * or if that is NULL by a layout.  Blocks are dealt from rank `first` on, of
 * those that the layout's clusters have. */
struct hearthi_placing {
    hearth_layout                 layout;
    uint32_t                      first;
    const struct hearthi_stretch *stretch;
    size_t                        n;
};

/* Give the allocation, of which page, pages and bytes are known, its pieces:
 * frames that are free at each rank, in the order in which its pages come, so
 * that pages that follow each other at a home have frames that do.  Returns
 * -1, or a rank that has fewer free frames than *want, and nothing is taken.
 */
int hearthi_home_layout_take(struct hearthi_allocation    *a,
                             const struct hearthi_placing *to,
                             struct hearthi_extents *frames, uint64_t *want);

#endif
