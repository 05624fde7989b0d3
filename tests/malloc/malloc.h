/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tests of hearth_malloc, between their files.
 */
#ifndef MALLOC_H
#define MALLOC_H

#include <check.h>
#include <stdbool.h>
#include <stddef.h>

/* Is there memory behind the page at p?  And a wait until it has gone back,
 * where it does: it is kept for a while, which this makes short before the
 * object is freed. */
bool has_memory(const void *p);
void memory_goes_soon(bool soon);
void memory_await(const void *p);

/* How many bytes have another value. */
long differ(const unsigned char *p, size_t bytes, unsigned char value);

/* One rank writes 1 to all bytes, and all read them until copies stay.
 * Collective. */
void written_copies_take(unsigned char *p, size_t bytes, int writer);

void malloc_calls(TCase *tc); /* malloc_calls.c */
void malloc_found(TCase *tc); /* malloc_found.c */
void malloc_need(TCase *tc);
void malloc_reused(TCase *tc);  /* malloc_reused.c */
void malloc_resized(TCase *tc); /* malloc_resized.c */
void malloc_threads(TCase *tc); /* malloc_threads.c */

#endif
