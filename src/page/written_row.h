/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which copies this rank writes in each interval in which it uses them: those
 * are opened for writing by the fault that fetches them, and so take one fault
 * and not two.  A twin of a page that is then only read would be made, compared
 * and closed in vain.  So it takes two intervals in a row: one that was written
 * once is opened by its next store.  If a copy of it is read in two intervals,
 * and not written, even that one is forgotten.
 *
 * Nothing depends on it: a copy that is opened early or late has its twin, and
 * is listed, when it is.
 *
 * The table lock is held by callers.
 */
#ifndef HEARTHI_WRITTEN_ROW_H
#define HEARTHI_WRITTEN_ROW_H

#include <stdbool.h>
#include <stdint.h>

#include "page.h"
#include "read_mostly.h"

/* Of a page with HEARTHI_WROTE. */
enum { HEARTHI_WROTE_ONCE = 1, HEARTHI_WROTE_READ = 2, HEARTHI_WROTE_ROW = 4 };

/* Was it written when it was last used? */
static inline bool
hearthi_was_written(uint64_t page)
{
    return (hearthi_table.mark[page] & HEARTHI_WROTE) &&
           !hearthi_is_read_mostly(page);
}

/* And when it was used before that, so that it will be again? */
static inline bool
hearthi_is_written_often(uint64_t page)
{
    return hearthi_was_written(page) &&
           hearthi_table.wrote[page] == HEARTHI_WROTE_ROW;
}

/* An interval ends in which the page was open. */
static inline void
hearthi_written_row_end(uint64_t page, bool wrote)
{
    uint8_t *mark = &hearthi_table.mark[page];

    if (wrote) {
        hearthi_table.wrote[page] = *mark & HEARTHI_WROTE ? HEARTHI_WROTE_ROW
                                                          : HEARTHI_WROTE_ONCE;
        *mark |= HEARTHI_WROTE;
    } else {
        *mark &= (uint8_t)~HEARTHI_WROTE;
    }
}

/* A copy is fetched, and shown to be read. */
static inline void
hearthi_written_row_read(uint64_t page)
{
    if (!(hearthi_table.mark[page] & HEARTHI_WROTE))
        return;
    if (hearthi_table.wrote[page] & HEARTHI_WROTE_READ)
        hearthi_table.mark[page] &= (uint8_t)~HEARTHI_WROTE;
    else
        hearthi_table.wrote[page] |= HEARTHI_WROTE_READ;
}

#endif
