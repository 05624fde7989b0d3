/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the application view shows and allows.  hearthi_pages_set(), by which
 * it is changed, and hearthi_areas_short() are in page.h.
 */
#ifndef HEARTHI_PROTECT_H
#define HEARTHI_PROTECT_H

#include <stdbool.h>
#include <stdint.h>

/* True if the view of a page that has no copy, and no frame, is as
 * hearthi_pages_set() would have it. */
bool hearthi_view_is_own(uint64_t page);

/* Copies are about to be given to the kernel: none of the run is watched
 * (uffd_pages.h) from now on. */
void hearthi_copies_unwatch(uint64_t page, uint64_t count);

/* See hearthi_populate(): for pages that have just become visible. */
void hearthi_copies_populate(uint64_t page, uint64_t count, bool write);

#endif
