/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "overwrite.h"

#include <stddef.h>

#include "base/mutex.h"
#include "base/stat.h"
#include "copies.h"
#include "page.h"
#include "pin_count.h"
#include "races/race_history.h"

enum { RANGES = HEARTHI_OVERWRITE_RANGES };

static struct {
    uint64_t page, count;
} range[RANGES];
static unsigned turn; /* which gives way next */

unsigned hearthi_overwrite_ranges;

void
hearthi_overwrite_add(uint64_t page, uint64_t count)
{
    unsigned i;

    HEARTHI_ASSERT_HAS(TABLE);
    if (hearthi_races != NULL)
        return; /* which needs twins */
    i = hearthi_overwrite_ranges < RANGES ? hearthi_overwrite_ranges++
                                          : turn++ % RANGES;
    HEARTHI_ASSERT(count > 0 && page + count <= hearthi_table.top);
    range[i].page = page;
    range[i].count = count;
}

/* How many pages from this one on lie in a range. */
static uint64_t
in_range(uint64_t page)
{
    for (unsigned i = 0; i < hearthi_overwrite_ranges; i++)
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
hearthi_overwrite_of_range(uint64_t page, uint64_t count)
{
    uint64_t most = in_range(page), k = 0;

    while (k < count && k < most && is_untouched(page + k))
        k++;
    return k;
}

void
hearthi_overwrite_open(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++) {
        HEARTHI_ASSERT(!(hearthi_table.mark[p] & HEARTHI_LISTED));
        HEARTHI_ASSERT(!hearthi_is_pinned(p) && in_range(p) > 0);
        HEARTHI_ASSERT(hearthi_table.state[p] != HEARTHI_DIRTY);
        hearthi_list(p);
        hearthi_table.twin[p] = HEARTHI_NO_TWIN;
    }
    hearthi_count(overwritten, count);
    hearthi_pages_set(page, count, HEARTHI_DIRTY);
    hearthi_copies_populate(page, count, true);
}
