/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where large objects of Tmk_malloc() are.  Programs of TreadMarks have one
 * process allocate everything, and would have all of it at home there.  So
 * what is large comes out of an area whose pages are dealt to all ranks, and
 * move to the ranks that write them.  It has as much room as hearth_malloc()
 * has.
 *
 * Which of its pages are free is said in shared memory.  The lock that guards
 * it is held by callers.
 */
#ifndef HEARTHI_TMK_AREA_H
#define HEARTHI_TMK_AREA_H

#include <stdbool.h>
#include <stddef.h>

/* Collective. */
void hearthi_tmk_area_open(void);

/* Is an object of this size one for the area? */
bool hearthi_tmk_area_is_for(size_t bytes);

/* NULL if there is no room. */
void *hearthi_tmk_area_take(size_t bytes);

/* Say that there was none, what follows from it, and what to raise. */
void hearthi_tmk_area_full(const char *call, size_t bytes);

bool hearthi_tmk_area_has(const void *p);

/* False if it is not the beginning of what was taken. */
bool hearthi_tmk_area_give(const void *p);

#endif
