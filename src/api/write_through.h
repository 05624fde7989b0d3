/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bytes that reach this rank by a message and belong into pages which are not
 * here: they go to the home at once, and no page is fetched to be overwritten.
 * By hand that is a receive and an MPI_Put, and costs as much.
 */
#ifndef HEARTHI_WRITE_THROUGH_H
#define HEARTHI_WRITE_THROUGH_H

#include <stddef.h>
#include <stdint.h>

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
