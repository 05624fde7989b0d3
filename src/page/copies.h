/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Cached copies: their frames (bounded by HEARTH_CACHE, replaced oldest
 * first), their twins, and their diffs.  The table lock is held by callers.
 */
#ifndef HEARTHI_COPIES_H
#define HEARTHI_COPIES_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "page.h"

/* Longest run of home pages whose mapping is given up, and made, as one. */
enum { HEARTHI_HOME_RUN = 64 };

void hearthi_copies_open(void);
void hearthi_copies_close(void);

/* Note that a page has been (or may have been) written in this interval. */
void hearthi_list(uint64_t page);

/* Open a run of valid copies for writing: twins, then the protection. */
void hearthi_copies_write(uint64_t page, uint64_t count);

/* Close a run of dirty copies: read-only again, twins given back, diffs
 * queued; a hearthi_diff_end() follows. */
void hearthi_copies_shut(uint64_t page, uint64_t count);

/* Most pages that one fetch may bring. */
uint64_t hearthi_copies_most(void);

/* Make room for frames of so many more pages, giving up the oldest copies.
 * Afterwards the kernel's mappings are inside their budget as well, so 0 is
 * for those who only split some. */
void hearthi_copies_reserve(uint64_t count);

/* Frames for a run that is about to be fetched. */
void hearthi_copies_prepare(uint64_t page, uint64_t count);

/* A run has been fetched into its frames: note the frames as resident. */
void hearthi_copies_arrived(uint64_t page, uint64_t count);

/* Drop the valid copies of a run; dirty ones bring their diff home first.
 * Returns how many were dropped.  Ends with all diffs arrived. */
uint64_t hearthi_copies_drop(uint64_t page, uint64_t count);

/* Drop every copy. */
uint64_t hearthi_copies_drop_all(void);

/* Queue the diff of a dirty page that stays open; its twin is brought up to
 * date.  True if there was any.  A hearthi_diff_end() follows. */
bool hearthi_copies_refresh(uint64_t page);

/* How many pages had a diff since hearth_init(). */
uint64_t hearthi_diffs_made(void);

/* Block until all diffs have arrived. */
void hearthi_diff_end(void);

#endif
