/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who is home: allocations, and the layouts that give their pages a home.
 * Every rank computes the same answer from the same calls, so placing an
 * allocation needs no message.
 */
#ifndef HEARTHI_HOME_H
#define HEARTHI_HOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "hearth/hearth.h"

struct hearthi_allocation {
    uint64_t page, pages; /* in the heap */
    size_t   bytes;       /* as asked for */
};

void hearthi_home_open(void);
void hearthi_home_close(void);

/* Place an allocation and map what is at home here.  The arguments have been
 * checked and are the same on every rank.  Ends the job when the heap or the
 * home memory of a rank is full. */
void *hearthi_home_alloc(size_t bytes, unsigned unit, hearth_layout layout);

/* The same with a home for each page, where no layout says it. */
void *hearthi_home_alloc_at(size_t bytes, unsigned unit,
                            const uint32_t *homes);

/* The allocation that starts at p, or NULL. */
const struct hearthi_allocation *hearthi_home_find(const void *p);

/* Take it back: no view, no frame, no flag is left of it. */
void hearthi_home_free(const struct hearthi_allocation *a);

/* The allocation that covers or lies nearest to an address. */
bool hearthi_home_nearest(const void *addr, const void **base, size_t *bytes);

#endif
