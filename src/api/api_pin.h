/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hearth_hold() and hearth_drop() for the library's own code that stands in
 * front of calls which touch the heap without faults.
 */
#ifndef HEARTHI_API_PIN_H
#define HEARTHI_API_PIN_H

#include <stddef.h>
#include <stdint.h>

struct hearthi_pages {
    uint64_t page, count;
};

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

#endif
