/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "overwrite.h"

#include <stddef.h>

#include "base/stat.h"
#include "copies.h"
#include "page.h"
#include "pin_count.h"
#include "protect.h"

enum { RANGES = 16 };

static struct {
    uint64_t page, count;
} range[RANGES];
static unsigned n, turn; /* ranges; which gives way next */

void
hearthi_overwrite_add(uint64_t page, uint64_t count)
{
    unsigned i = n < RANGES ? n++ : turn++ % RANGES;

    range[i].page = page;
    range[i].count = count;
}

void
hearthi_overwrite_end(void)
{
    n = 0;
}

/* How many pages from this one on lie in a range. */
static uint64_t
in_range(uint64_t page)
{
    for (unsigned i = 0; i < n; i++)
        if (page - range[i].page < range[i].count)
            return range[i].count - (page - range[i].page);
    return 0;
}

static bool
is_untouched(uint64_t page)
{
    return !(hearthi_table.mark[page] & HEARTHI_LISTED) &&
           !hearthi_is_pinned(page);
}

uint64_t
hearthi_overwrite_run(uint64_t page, uint64_t count)
{
    uint64_t most = n == 0 ? 0 : in_range(page), k = 0;

    while (k < count && k < most && is_untouched(page + k))
        k++;
    return k;
}

void
hearthi_overwrite_open(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++) {
        hearthi_list(p);
        hearthi_table.twin[p] = HEARTHI_NO_TWIN;
    }
    hearthi_count(overwritten, count);
    hearthi_pages_set(page, count, HEARTHI_DIRTY);
    hearthi_copies_populate(page, count, true);
}
