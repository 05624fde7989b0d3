/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Diffs of the copies that are open for writing, by their twins (twins.h). The
 * table lock is held by callers.
 */
#ifndef HEARTHI_DIFFS_H
#define HEARTHI_DIFFS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

/* Room for twins of so many pages: all that may have a frame. */
void hearthi_diffs_open(uint64_t pages);
void hearthi_diffs_close(void);

/* Queue a page's diff; true if there is any.  With refresh the page stays
 * open, and another thread may write while the diff is on its way: so the
 * changed bytes are copied into the twin once and sent from there.  A later
 * write differs from the twin and is found by the next diff. */
bool hearthi_diff_begin(uint64_t page, bool refresh);

/* Queue bytes of a page that is not here, which were written elsewhere. */
void hearthi_diff_bytes(uint64_t page, size_t off, const char *src,
                        size_t len);

/* The home's version of a page that is open here: what differs from the twin
 * was written by others, and goes into page and twin.  Other bytes of the page
 * are not touched, so that nothing is lost of what is written there at this
 * moment. */
void hearthi_twin_merge(uint64_t page, const char *version);

/* Block until all diffs have arrived. */
void hearthi_diff_end(void);

/* Has every diff that was queued arrived?  With --enable-debug only. */
bool hearthi_diffs_have_arrived(void);

/* How many pages had a diff since hearth_init(). */
uint64_t hearthi_diffs_made(void);

#endif
