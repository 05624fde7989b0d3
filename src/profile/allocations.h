/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What was allocated, where in the program, and under which name.  What was
 * freed stays: what is younger counts where both were.  Small objects of
 * hearth_malloc() that come from a thread's own list are not known, but their
 * page is by the one that was taken from the rank's.
 */
#ifndef HEARTHI_ALLOCATIONS_H
#define HEARTHI_ALLOCATIONS_H

#include <stddef.h>
#include <stdint.h>

enum { HEARTHI_ALLOCATIONS = 1 << 15, HEARTHI_ALLOCATION_NAME = 64 };

struct hearthi_allocated {
    uintptr_t at;   /* the call */
    uintptr_t from; /* its first byte */
    size_t    bytes;
    uint64_t  collective; /* number on all ranks, or 0 */
    size_t    element;    /* bytes of one, or 0 */
    char     *name;       /* or NULL */
};

void hearthi_allocations_open(void);
void hearthi_allocations_close(void);

/* Only where hearthi_profile is not NULL; collective: see above. */
void hearthi_allocations_add(const void *p, size_t bytes, uint64_t collective);

/* Of the youngest that begins there: it is elements of so many bytes. */
void hearthi_allocations_element(const void *p, size_t size);

/* Give one a name, or NULL. */
void hearthi_allocations_name(const void *p, const char *name);

/* The i-th that was made; NULL behind the last. */
const struct hearthi_allocated *hearthi_allocations_get(size_t i);

/* Those that found no room. */
uint64_t hearthi_allocations_dropped(void);

#endif
