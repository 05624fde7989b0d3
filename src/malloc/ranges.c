/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "ranges.h"

#include <stdlib.h>

#include "page/page.h"

static int
range_compare(const void *a, const void *b)
{
    const struct hearthi_heap_range *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

void
hearthi_ranges_order(struct hearthi_heap_range *range, size_t n,
                     void (*order)(uint64_t page, uint64_t count))
{
    unsigned shift = hearthi_heap.shift;

    qsort(range, n, sizeof *range, range_compare);
    for (size_t i = 0; i < n;) {
        uint64_t first = range[i].at >> shift;
        uint64_t end = first;

        for (; i < n && range[i].at >> shift <= end; i++) {
            uint64_t last = (range[i].at + range[i].bytes - 1) >> shift;

            end = last + 1 > end ? last + 1 : end;
        }
        order(first, end - first);
    }
}
