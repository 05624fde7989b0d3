/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Use after free, found (HEARTH_MALLOC_GUARD).
 *
 * The rank that frees an object fills it with a pattern, and writes behind it
 * who freed it where: each object has some bytes more for that.  These are
 * stores like the program's own, so what is said of those in remote_free.c
 * holds.  Its owner does not give it out again at once, but keeps the last
 * ones that it got, and looks whether the pattern is whole: when it gets an
 * object, at each barrier, at the end, and before the memory serves another
 * object.  A store of any rank that came home by then is found, and the job
 * ends with a line; a load sees the pattern, which is no address either.
 *
 * Where objects go to their owner as a chain (remote_free_overflow.h), what is
 * listed in them is stored over the pattern: these are filled anew by the
 * owner, and watched from then on.
 *
 * Threads have no caches then, so that each call comes here.
 */
#ifndef HEARTHI_MALLOC_GUARD_H
#define HEARTHI_MALLOC_GUARD_H

#include <stdbool.h>
#include <stddef.h>

extern bool hearthi_guard_on;

/* What each object has in addition: a multiple of 16. */
enum { HEARTHI_GUARD_BYTES = 64 };

void hearthi_guard_open(void);
void hearthi_guard_close(void);

/* The program frees an object of so many bytes with these, from there. */
void hearthi_guard_freed(void *p, size_t bytes, const void *caller);

/* It is back at its owner, with its pattern or with a list in it. */
void hearthi_guard_keep(void *p, bool listed);

/* Are all that are kept as they were?  By ranks that have no copies from
 * before, or to get rid of these first. */
void hearthi_guard_check(bool acquire);

/* None is kept any more, since their memory is needed: false if none was. */
bool hearthi_guard_empty(void);

/* " (by rank 1 at ...)" if it was freed and is kept, or "". */
const char *hearthi_guard_where(const void *p, char *text, size_t room);

#endif
