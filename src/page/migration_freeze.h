/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages that are about to move to another home (coherence/migrate.c).
 *
 * A frozen page is as one on its way (page_in_flight.h): no thread sees it, a
 * thread that touches it waits, an acquire that would drop its copy makes it
 * missed.  What this rank changed in a copy is on its way home, and what its
 * threads stored in a home frame will be told of at the next release.  Its
 * copy stays in its frame, but may be a victim, and is missed then; other
 * ranks of the node do not take it from there any more (node_cache.h).
 *
 * The table's lock is held by callers.
 */
#ifndef HEARTHI_MIGRATION_FREEZE_H
#define HEARTHI_MIGRATION_FREEZE_H

#include <stdbool.h>
#include <stdint.h>

void hearthi_migration_freeze_open(void);
void hearthi_migration_freeze_close(void);

/* Freeze a run of pages of one allocation, or nothing, and give false: where
 * one is on its way, pinned, or is written past its copies
 * (home_write_guard.h).  hearthi_diff_end() is to follow. */
bool hearthi_migration_freeze(uint64_t page, uint64_t count);

/* What was stored in home frames of a frozen run is told of, though they are
 * no home frames then. */
void hearthi_migration_freeze_note(uint64_t page, uint64_t count);

/* Was a page that is frozen a copy, which is there still? */
bool hearthi_was_copy(uint64_t page);

bool hearthi_is_frozen(uint64_t page);

/* What a frozen page is if it stays. */
enum hearthi_state hearthi_frozen_state(uint64_t page);

/* It stayed, and is what it was; or it has moved, and its home, if that is
 * this node, tells of all stores to it from now on if it is `shared`, which is
 * what a page is of which some rank has a copy.  Threads that wait are to be
 * woken. */
void hearthi_thaw_stayed(uint64_t page, uint64_t count);
void hearthi_thaw_moved(uint64_t page, uint64_t count,
                        bool (*shared)(uint64_t page));

/* Nothing is frozen any more. */
void hearthi_migration_freeze_end(void);

/* Wait, without the lock, until no page of a run is; true if it was. */
bool hearthi_frozen_wait(uint64_t page, uint64_t count);

#endif
