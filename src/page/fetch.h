/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Fetching copies of pages.  The table lock is held by callers.
 */
#ifndef HEARTHI_FETCH_H
#define HEARTHI_FETCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

/* Before the heap is used: no sequence of faults is followed, no home is to be
 * told. */
void hearthi_fetch_open(void);
void hearthi_fetch_close(void);

/* This home must be told of new flags before a copy is fetched from it that
 * may survive an acquire (coherence/shared.c). */
void hearthi_tell_later(int home);

/* Was it told of all first copies that were dropped? */
bool hearthi_is_told(int home);

/* Fetch runs of pages to where they say; homes are told first of what they
 * must know.  States stay as they are. */
void hearthi_fetch_runs(const struct hearthi_fetch *run, size_t n);

/* Fetch what is invalid of a run of pages: without the lock meanwhile, and
 * then some may have been missed (coming.h) and still be invalid; `alone`:
 * with it.
 */
void hearthi_fetch_range(uint64_t page, uint64_t count, bool alone);

/* In the same way a page that was touched, and those behind it in a sequence
 * of such faults. */
void hearthi_fetch_fault(uint64_t page, bool write, bool alone);

#endif
