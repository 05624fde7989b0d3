/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ranges that are read by many ranks and hardly ever written
 * (hearth_read_mostly): what this rank does otherwise with its copies of them.
 *
 *   - It has told their homes before it fetches the first one: so there is no
 *     first copy that must be dropped (coherence/sharer_flags.c).
 *   - A load opens none for writing, though it was written in the interval
 *     before, and none stays open at a barrier: a twin is taken by a store
 *     only.
 *   - They are the first to go where frames come to an end.
 *
 * The table lock is held by callers.
 */
#ifndef HEARTHI_READ_MOSTLY_H
#define HEARTHI_READ_MOSTLY_H

#include <stdbool.h>
#include <stdint.h>

#include "page.h"

enum { HEARTHI_READ_MOSTLY_RANGES = 16 };

void hearthi_read_mostly_open(void);

/* Pages of one allocation.  The oldest of some ranges is forgotten. */
void hearthi_read_mostly_add(uint64_t page, uint64_t count);

/* An allocation goes: what lies there later is nothing of the kind. */
void hearthi_read_mostly_forget(uint64_t page, uint64_t count);

/* How many ranges there are: none is what most programs know. */
extern unsigned hearthi_read_mostly_ranges;

bool hearthi_is_in_read_mostly(uint64_t page);

static inline bool
hearthi_is_read_mostly(uint64_t page)
{
    return hearthi_read_mostly_ranges > 0 && hearthi_is_in_read_mostly(page);
}

#endif
