/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What happens to cached copies: opened for writing, closed, dropped.  The
 * table lock is held by callers.
 */
#ifndef HEARTHI_COPIES_H
#define HEARTHI_COPIES_H

#include <stdbool.h>
#include <stdint.h>

struct hearthi_stride;

void hearthi_copies_open(void);
void hearthi_copies_close(void);

/* Note that a page has been (or may have been) written in this interval. */
void hearthi_list(uint64_t page);

/* Note that it has been, though no diff of this rank's may say so. */
void hearthi_list_changed(uint64_t page);

/* Open a run of valid copies for writing: twins, then the protection. */
void hearthi_copies_write(uint64_t page, uint64_t count);

/* A step of a sequence has opened these.  What its step before opened goes
 * home if the sequence is a long one (policy/stride_prefetch.h). */
void hearthi_copies_opened(struct hearthi_stride *s, uint64_t page,
                           uint64_t count);

/* Close the dirty copies of a run: read-only again, twins given back, diffs
 * queued; a hearthi_diff_end() follows.  The others of the run are clean, and
 * lie between dirty ones (hull.h). */
void hearthi_copies_shut(uint64_t page, uint64_t count);

/* May this page lie between copies that are closed, the first of which is that
 * one? */
bool hearthi_copies_may_cover(uint64_t page, uint64_t first);

/* Close those of a range that are dirty and that no hold keeps open. */
void hearthi_copies_shut_range(uint64_t page, uint64_t end);

/* Queue the diff of a dirty page that stays open; its twin is brought up to
 * date.  True if there was any.  A hearthi_diff_end() follows. */
bool hearthi_copies_refresh(uint64_t page);

/* Drop the valid copies of a run; dirty ones bring their diff home first.
 * Returns how many were dropped.  Ends with all diffs arrived.  Copies that
 * are pinned stay, and are noted as stale: hearthi_pins_renew() follows.
 * Those on their way become STALE_IN_FLIGHT. */
uint64_t hearthi_copies_drop(uint64_t page, uint64_t count);

/* The same, but a hearthi_diff_end() follows. */
uint64_t hearthi_copies_drop_begin(uint64_t page, uint64_t count);

/* Nothing of this page is here, and nothing is on its way or about to be
 * pinned: it may lie between copies that are dropped. */
bool hearthi_is_absent(uint64_t page);

/* Drop every copy. */
uint64_t hearthi_copies_drop_all(void);

#endif
