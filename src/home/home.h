/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which rank is home: allocations, and the layouts that give their pages a
 * home.  Every rank computes the same answer from the same calls, so placing
 * an allocation needs no message.
 */
#ifndef HEARTHI_HOME_H
#define HEARTHI_HOME_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "home_layout.h"
#include "page/page_map.h"

void hearthi_home_open(void);
void hearthi_home_close(void);

/* Take pages and frames; nothing can be seen of them yet.  The arguments have
 * been checked and are the same on every rank.  Ends the job when the heap or
 * the home memory of a rank is full. */
struct hearthi_allocation *hearthi_home_take(size_t bytes, unsigned unit,
                                             const struct hearthi_placing *to);

/* The same of a run before this one: these very pages, which are free, and
 * that number. */
struct hearthi_taken_before {
    uint64_t page, number;
    size_t   bytes;
    unsigned unit;
    int      kind; /* page/page_map.h */
};
struct hearthi_allocation *
hearthi_home_take_again(const struct hearthi_taken_before *b,
                        const struct hearthi_placing      *to);

/* The same of the arenas of hearth_malloc (space/heap.h), all in one; NULL if
 * there are none.  Before anything else is taken.  So many, of so many pages
 * each: number k is at home on rank k modulo their number, behind those with
 * lower numbers there. */
struct hearthi_allocation *hearthi_home_arena(uint64_t count, uint64_t each);

/* All frames that were ever taken, of any rank, lie below. */
uint64_t hearthi_home_reach(void);

/* And so many of this rank's were taken at a time, for other memory than that
 * of hearth_malloc(). */
uint64_t hearthi_home_most(void);

/* Place what was taken: map what is at home here, let the rest be fetched. */
void hearthi_home_place(struct hearthi_allocation *a);

/* The allocation that starts at p, or NULL. */
struct hearthi_allocation *hearthi_home_find(const void *p);

/* The allocation in which p lies, or NULL. */
const struct hearthi_allocation *hearthi_home_around(const void *p);

/* Take it back: no view, no frame, no flag is left of it. */
void hearthi_home_free(struct hearthi_allocation *a);

/* Zero the frames that were taken back here, which may take seconds.  The
 * table's lock is not held: until all ranks are done no page has them. */
void hearthi_home_clear(void);

/* The allocation that covers or lies nearest to an address. */
bool hearthi_home_nearest(const void *addr, const void **base, size_t *bytes);

#endif
