/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the library's own code needs that stands in front of calls which touch
 * the heap without faults: hearth_hold() and hearth_drop(), and bytes that
 * this rank was sent and that are written through to their homes.
 */
#ifndef HEARTHI_API_PIN_H
#define HEARTHI_API_PIN_H

#include <stddef.h>
#include <stdint.h>

#include "page/page.h"

/* Those of a range, which must lie in one allocation: its pages stay what they
 * are as long as that is not freed.  The table lock is held. */
struct hearthi_pages hearthi_pages_of(const char *call, const void *p,
                                      size_t bytes);

/* From p to the end of the allocation around it, or 0.  The table lock is
 * held. */
size_t hearthi_bytes_behind(const void *p);

/* The call is named in the lines about what cannot be. */
void hearthi_pin(const char *call, const void *p, size_t bytes, int how);
void hearthi_unpin(const void *p, size_t bytes, int how);

/* ---- write through ----
 *
 * Bytes that reach this rank by a message and belong into pages which are not
 * here: they go to the home at once, and no page is fetched to be overwritten.
 * By hand that is a receive and an MPI_Put, and costs as much. */

/* Would most pages of a range have to be fetched, to be overwritten whole?  If
 * so the number of its allocation, else 0, as where a page has its home on
 * this node, or not all lies in one allocation.  May be old when it comes. */
uint64_t hearthi_mostly_absent(const char *call, const void *p, size_t bytes);

/* Write private memory to a range of that allocation: what is not here goes to
 * its home, as the diff of an early release does, and counts as written by
 * this interval; what is here is stored as the program would. */
void hearthi_write_through(const char *call, uint64_t allocation, char *p,
                           const char *src, size_t bytes);

#endif
