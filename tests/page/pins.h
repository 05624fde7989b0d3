/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the tests of holds have in common: a device, which is the kernel.  It
 * reads and writes the heap without faults, so where a page is not as it must
 * be it stops short.
 */
#ifndef HOLDS_H
#define HOLDS_H

#include "fixture.h"

/* Copy n bytes into the heap, or out of it, by system calls.  Returns how many
 * bytes were moved. */
size_t device_in(void *heap, const void *from, size_t n);
size_t device_out(void *to, const void *heap, size_t n);

/* All of these bytes of the heap set to a value; all as they should be. */
bool device_sets(void *heap, int value, size_t n);
bool device_finds(const void *heap, int value, size_t n);

/* So many pages, dealt one by one, to be written byte by byte. */
unsigned char *bytes_new(size_t pages);

/* The part of a page that belongs to rank r: 64 bytes. */
enum { PART = 64 };
static inline unsigned char *
part(unsigned char *p, size_t page, int r)
{
    return p + page * page_bytes() + PART * (size_t)r;
}

/* What this rank has counted so far. */
hearth_stats counted(void);

void holds_rules(Suite *s);
void holds_acquires(Suite *s);
void holds_beside(TCase *tc);

#endif
