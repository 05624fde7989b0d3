/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Order by the program's own messages: what a release without a lock or flag
 * brings home, and what an acquire drops.  Calls are checked by the layer
 * above.
 */
#ifndef HEARTHI_RANGE_SYNC_H
#define HEARTHI_RANGE_SYNC_H

#include <stddef.h>
#include <stdint.h>

/* Every diff of these pages, or of all, has arrived at its home. */
void hearthi_range_sync_release(uint64_t page, uint64_t count);
void hearthi_range_sync_release_all(void);

/* No copy of these pages, or none at all, is from before this. */
void hearthi_range_sync_acquire(uint64_t page, uint64_t count);
void hearthi_range_sync_acquire_all(void);

/* Bytes of the heap whose pages are released or acquired together. */
struct hearthi_heap_range {
    uint64_t at, bytes; /* in the heap */
};

/* Sort n ranges by where they begin, and release or acquire their pages in as
 * few runs as there are. */
void hearthi_ranges_order(struct hearthi_heap_range *range, size_t n,
                          void (*order)(uint64_t page, uint64_t count));

#endif
