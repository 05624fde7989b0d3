/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory that will be overwritten: ranges to all of whose bytes the program
 * will store before it loads from them or synchronises (hearth_overwrite).  A
 * page that lies in one as a whole is opened without its content: it is not
 * fetched, has no twin, and goes home whole.  What keeps that right:
 *   - No other rank may write these bytes meanwhile, so all of the page is
 *     this rank's to say; a page at a range's end has bytes of others, and is
 *     opened like any other.
 *   - A page may go home before all of it was stored: it is closed behind a
 *     sequence (policy/stride_prefetch.h), evicted, or released by another
 * thread. What is stored afterwards needs what was stored before: so a page
 * that is listed in this interval is not opened so again, but fetched.
 *   - Its home does not know of a copy that it never gave, and would not tell
 *     of its own later stores: a page that was never announced, or whose home
 *     was not told yet (fetch.h), is no copy when it is closed.
 *   - A range ends with the interval, and at each acquire: others may write
 *     these bytes afterwards.
 * A page that is pinned for a device is none of these.  Faults do the work, so
 * a range costs what is touched, and may be larger than the cache.
 *
 * tests/model breaks these with --overwrite-part, --overwrite-again,
 * --keep-overwritten and --keep-untold.
 *
 * The table lock is held by callers.
 */
#ifndef HEARTHI_OVERWRITE_H
#define HEARTHI_OVERWRITE_H

#include <stdbool.h>
#include <stdint.h>

#include "page.h"

/* What lies in a table of twins for such a page. */
#define HEARTHI_NO_TWIN UINT32_MAX

/* Is a dirty page open so? */
static inline bool
hearthi_is_overwritten(uint64_t page)
{
    return hearthi_table.twin[page] == HEARTHI_NO_TWIN;
}

enum { HEARTHI_OVERWRITE_RANGES = 16 };

/* These whole pages will be overwritten.  Of more ranges than that the oldest
 * is forgotten. */
void hearthi_overwrite_add(uint64_t page, uint64_t count);

/* How many there are: none is all that most programs know. */
extern unsigned hearthi_overwrite_ranges;

/* None will be any more. */
static inline void
hearthi_overwrite_end(void)
{
    hearthi_overwrite_ranges = 0;
}

/* How many pages of a run, all in this state, can be opened so, from the first
 * on: 0, or more. */
uint64_t hearthi_overwrite_of_range(uint64_t page, uint64_t count);

static inline uint64_t
hearthi_overwrite_run(uint64_t page, uint64_t count)
{
    return hearthi_overwrite_ranges == 0
               ? 0
               : hearthi_overwrite_of_range(page, count);
}

/* Open them: valid copies, or invalid pages that have frames by now. */
void hearthi_overwrite_open(uint64_t page, uint64_t count);

#endif
