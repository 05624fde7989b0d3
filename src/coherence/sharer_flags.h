/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The shared flags of home pages, as the co-homes see them.  All but open
 * and close are called with the table lock held.
 */
#ifndef HEARTHI_SHARER_FLAGS_H
#define HEARTHI_SHARER_FLAGS_H

#include "page/page_map.h"

void hearthi_sharer_flags_open(void);
void hearthi_sharer_flags_close(void);

/* At a release: list pages that are flagged for the first time as written,
 * and track them. */
void hearthi_sharer_flags_scan(void);

/* Pages were placed: look at their shared flags at the next release. */
void hearthi_sharer_flags_expect(const struct hearthi_allocation *a);

/* Drop what was noted of the shared flags of pages about to be freed. */
void hearthi_sharer_flags_forget(const struct hearthi_allocation *a);

/* The same of one run of frames. */
void hearthi_sharer_flags_expect_at(const struct hearthi_piece *p);
void hearthi_sharer_flags_forget_at(const struct hearthi_piece *p);

#endif
