/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which page has a frame of this node.  The table lock is held by callers.
 */
#ifndef HEARTHI_PAGE_NEAR_H
#define HEARTHI_PAGE_NEAR_H

#include "place.h"

void hearthi_near_open(void);
void hearthi_near_close(void);

/* A piece of an allocation, if its home is on this node: placed, and removed.
 */
void hearthi_near_add(const struct hearthi_allocation *a,
                      const struct hearthi_piece      *p);
void hearthi_near_remove(const struct hearthi_piece *p);

/* Frames have pages that have moved to them, or have not any more. */
void hearthi_near_moved(const struct hearthi_allocation *a,
                        const struct hearthi_piece *p, bool is);

/* Room for one more element of an array. */
void *hearthi_grown(void *array, size_t n, size_t size, size_t *most);

#endif
