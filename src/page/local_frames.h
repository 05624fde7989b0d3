/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which page has a frame of this node.  The table lock is held by callers.
 */
#ifndef HEARTHI_LOCAL_FRAMES_H
#define HEARTHI_LOCAL_FRAMES_H

#include "page_map.h"

void hearthi_local_frames_open(void);
void hearthi_local_frames_close(void);

/* A piece of an allocation, if its home is on this node: placed, and removed.
 */
void hearthi_local_frames_add(const struct hearthi_allocation *a,
                              const struct hearthi_piece      *p);
void hearthi_local_frames_remove(const struct hearthi_piece *p);

/* Frames have pages that have moved to them, or have not any more. */
void hearthi_local_frames_migrated(const struct hearthi_allocation *a,
                                   const struct hearthi_piece *p, bool is);

/* Room for one more element of an array. */
void *hearthi_grown(void *array, size_t n, size_t size, size_t *most);

#endif
