/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bytes of the heap whose pages are released or acquired together.
 */
#ifndef HEARTHI_RANGES_H
#define HEARTHI_RANGES_H

#include <stddef.h>
#include <stdint.h>

struct hearthi_heap_range {
    uint64_t at, bytes; /* in the heap */
};

/* Sort n ranges by where they begin, and release or acquire their pages in as
 * few runs as there are. */
void hearthi_ranges_order(struct hearthi_heap_range *range, size_t n,
                          void (*order)(uint64_t page, uint64_t count));

#endif
