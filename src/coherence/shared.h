/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The shared flags of home pages, as the co-homes see them.  All but open
 * and close are called with the table lock held.
 */
#ifndef HEARTHI_SHARED_H
#define HEARTHI_SHARED_H

#include "page/place.h"

void hearthi_shared_open(void);
void hearthi_shared_close(void);

/* At a release: list pages that are flagged for the first time as written,
 * and track them. */
void hearthi_shared_scan(void);

/* Pages were placed: look at their shared flags at the next release. */
void hearthi_shared_expect(const struct hearthi_allocation *a);

/* Drop what was noted of the shared flags of pages about to be freed. */
void hearthi_shared_forget(const struct hearthi_allocation *a);

/* The same of one run of frames. */
void hearthi_shared_expect_at(const struct hearthi_piece *p);
void hearthi_shared_forget_at(const struct hearthi_piece *p);

#endif
