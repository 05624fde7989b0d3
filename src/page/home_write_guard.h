/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bytes that this rank writes at their home, past its own copy of their page:
 * by an atomic step (coherence/home_atomic.c) or hearth_write()
 * (api/api_clusters.c).
 *
 * The copy may be dirty meanwhile, with a store beside these bytes in the same
 * word: of another thread, or of this one before.  It has the old bytes, and
 * a diff in units of 4 or 8 (hearth_alloc()) would bring them home over the
 * new.  So from before the bytes are written until the copy is gone, or is
 * held and has the new ones, diffs are exact to the byte where a word is
 * written in part; what is fetched later has the new ones.  Words that are
 * written whole have nothing beside the bytes.  Nor does their page move
 * meanwhile (migration_freeze.h).
 *
 * The table's lock is held by callers.
 */
#ifndef HEARTHI_HOME_WRITE_GUARD_H
#define HEARTHI_HOME_WRITE_GUARD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The caller's, until it has ended. */
struct hearthi_home_write_guard {
    uint64_t                         offset; /* in the heap */
    size_t                           bytes;
    struct hearthi_home_write_guard *next;
};

/* No page of these may be frozen when it begins. */
void hearthi_home_write_guard_begin(struct hearthi_home_write_guard *p,
                                    uint64_t offset, size_t bytes);
void hearthi_home_write_guard_end(const struct hearthi_home_write_guard *p);

/* Is a page written so? */
bool hearthi_is_home_write_guarded(uint64_t page);

/* Make the masks of a page's diff (notice/diff.h) exact there.  True if there
 * is any such word in it. */
bool hearthi_home_write_guards_exact(uint64_t page, const char *now,
                                     const char *twin, uint64_t *mask);

/* All that there are: none is what most diffs find. */
extern struct hearthi_home_write_guard *hearthi_home_write_guards;

static inline bool
hearthi_home_write_guard_exact(uint64_t page, const char *now,
                               const char *twin, uint64_t *mask)
{
    return hearthi_home_write_guards != NULL &&
           hearthi_home_write_guards_exact(page, now, twin, mask);
}

#endif
