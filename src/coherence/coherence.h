/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What acquire, release and barrier do, under both consistencies: see
 * doc/design/coherence.md, "What a release publishes".  The layer above checks
 * calls.
 */
#ifndef HEARTHI_COHERENCE_H
#define HEARTHI_COHERENCE_H

#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "page/page.h"
#include "page/page_map.h"
#include "transport/transport.h"

void hearthi_coherence_open(void);
void hearthi_coherence_close(void);

/* A lock, a flag and so on is named by its number as a synchronisation object.
 */
bool hearthi_lock_acquire(int sync, bool try);
void hearthi_lock_release(int sync);

/* Release one that this rank keeps, and that no thread is inside. */
void hearthi_lock_give(int lock);
void hearthi_flag_set(int sync);
void hearthi_flag_wait(int sync);
bool hearthi_rw_acquire(int sync, bool write, bool try);
void hearthi_rw_release(int sync, bool write);

/* With `stay`, pages written in every interval may stay open. */
void hearthi_barrier(bool stay);

/* The same, where this rank may say more (HEARTHI_ASKS_DUE, .._SIGNAL): what
 * any says. */
unsigned hearthi_barrier_asking(unsigned asks);

/* A synchronisation has returned at this time (of hearthi_now): from here on
 * the length of the next interval is counted.  Not from an acquire on if pages
 * were written before it, since the next release is what publishes them.
 * Relaxed: it is a time for a counter. */
extern _Atomic uint64_t hearthi_interval_began;

static inline void
hearthi_interval_begin(uint64_t now, bool acquire)
{
    if (acquire && __atomic_load_n(&hearthi_written.n, __ATOMIC_RELAXED) > 0)
        return;
    atomic_store_explicit(&hearthi_interval_began, now, memory_order_relaxed);
}

/* ---- between the files of this layer; the table lock is held ---- */

/* What an interval published: runs of pages, in notice.h's form. */
typedef void hearthi_publish(uint64_t page, uint64_t count);

/* Which pages that are written in every interval may stay open: none; copies,
 * at a barrier; pages at home, where a lock is released
 * (policy/sticky_home.h). */
enum hearthi_end { HEARTHI_END_ALL, HEARTHI_END_BARRIER, HEARTHI_END_LOCK };

/* End the interval: every diff has arrived at its home, every shared home
 * page is armed that does not stay open, and `publish` has been given the
 * pages that were written. */
void hearthi_interval_end(hearthi_publish *publish, enum hearthi_end how);
void hearthi_interval_open(void);

/* Drop copies: first ones, and those that notices of others name. */
void hearthi_notices_apply(const struct hearthi_notice *notice, size_t n,
                           bool invalidate_all);

/* Is no copy left that these say is old, but what is held, and no first one?
 * With --enable-debug only. */
bool hearthi_notices_are_applied(const struct hearthi_notice *notice, size_t n,
                                 bool invalidate_all);

/* These pages, or HEARTHI_INVALIDATE_ALL, may have been written by others that
 * told this rank past locks and flags: so it tells of them as its own. */
void hearthi_known_elsewhere(uint64_t page, uint32_t count);

/* ---- sharer flags ----
 *
 * The sharer flags of home pages, as the co-homes see them.  All but open
 * and close are called with the table lock held. */

void hearthi_sharer_flags_open(void);
void hearthi_sharer_flags_close(void);

/* At a release: list pages that are flagged for the first time as written,
 * and track them. */
void hearthi_sharer_flags_scan(void);

/* Behind a barrier: track those, and list only what a copy may have missed. */
void hearthi_sharer_flags_arm(void);

/* Pages were placed: look at their sharer flags at the next release. */
void hearthi_sharer_flags_expect(const struct hearthi_allocation *a);

/* Drop what was noted of the sharer flags of pages about to be freed. */
void hearthi_sharer_flags_forget(const struct hearthi_allocation *a);

/* The same of one run of frames. */
void hearthi_sharer_flags_expect_at(const struct hearthi_piece *p);
void hearthi_sharer_flags_forget_at(const struct hearthi_piece *p);

#endif
