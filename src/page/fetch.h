/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fetching copies of pages.  The table lock is held by callers.
 */
#ifndef HEARTHI_FETCH_H
#define HEARTHI_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "fetch_round.h"
#include "page.h"
#include "transport/transport.h"

/* Before the heap is used: no sequence of faults is followed, no home is to be
 * told. */
void hearthi_fetch_open(void);
void hearthi_fetch_close(void);

/* Fetch runs of pages to where they say; homes are told first of what they
 * must know.  States stay as they are. */
void hearthi_fetch_runs(const struct hearthi_fetch *run, size_t n);

/* Begin to bring runs that were announced before, which are IN_FLIGHT
 * afterwards: what others of the node have, and the rest from home; true if no
 * thread has waited for that yet.  One at a time; finish waits, and then they
 * are for the caller to end (page_in_flight.h, fetch_round.h). */
bool hearthi_fetch_start(const struct hearthi_fetch *run, size_t n,
                         struct hearthi_rest *rest);
void hearthi_fetch_finish(const struct hearthi_rest *rest);

/* Another rank of the node is fetching this page: what this rank has begun
 * ends first, or the wait of node_cache.h. */
bool hearthi_fetch_await(uint64_t page);

/* Make the pages of a run visible that are in this state, IN_FLIGHT or
 * PREFETCHED, and whose content is here: read-only, or open for writing where
 * they were written in the two intervals before in which they were used.
 * `write` opens all. */
void hearthi_run_open(uint64_t page, uint64_t count, enum hearthi_state from,
                      bool write);

/* The same for what a round has brought. */
void hearthi_fetch_show(const struct hearthi_fetch_round *b);

/* Are those side by side with a page fetched with it, as some are here? */
bool hearthi_is_in_group(uint64_t page, uint64_t *begin, uint64_t *end);

/* Fetch what is invalid of a run of pages: without the lock meanwhile, and
 * then some may have been missed (page_in_flight.h) and still be invalid;
 * `alone`: with it.
 */
void hearthi_fetch_range(uint64_t page, uint64_t count, bool alone);

/* The same for several runs, which are sorted and do not overlap: pages that
 * are not side by side come together, too.  Without the lock meanwhile. */
void hearthi_fetch_ranges(const struct hearthi_pages *run, size_t n);

/* In the same way a page that was touched, and those behind it in a sequence
 * of such faults. */
void hearthi_fetch_fault(uint64_t page, bool write, bool alone);

#endif
