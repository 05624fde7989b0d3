/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sticky homes: pages at home that are written in one interval after the
 * other, such as those of a counter that two nodes take in turn.  A tracked
 * home page is armed when an interval ends, and the first store of the next is
 * a fault, which costs half of what it takes to pass the lock on.  A page that
 * was written in three intervals in a row therefore stays open when a lock is
 * released, and counts as written in each interval until it is armed, as a
 * page does that is pinned for writing: so nothing that is stored there goes
 * untold.
 *
 * Whether it has changed decides only whether it stays open, never whether it
 * is told of: a word that is as it was may have been another meanwhile, and
 * was fetched so.  What others bring to the page changes it, too, so it is
 * armed once in sixteen intervals, and stays open only if it is written in the
 * next.  So of a page that is no longer written others are told once in vain,
 * and sixteen times at most.
 *
 * That is for locks alone: what else ends an interval arms all pages at home,
 * and barriers rely on it, where pages may move.  tests/model breaks the rule
 * with --steady-untold.
 *
 * The table lock is held by callers.
 */
#ifndef HEARTHI_STICKY_HOME_H
#define HEARTHI_STICKY_HOME_H

#include <stdbool.h>
#include <stdint.h>

void hearthi_sticky_home_open(void);
void hearthi_sticky_home_close(void);

/* An interval ends: ask of each tracked home page that is open.  True if it
 * stays so.  `bytes` says where a page's home frame is. */
extern uint64_t hearthi_sticky_home_ends; /* of intervals */

static inline void
hearthi_sticky_home_begin(void)
{
    hearthi_sticky_home_ends++;
}

bool hearthi_sticky_home_stays(uint64_t page,
                               const char *(*bytes)(uint64_t page));

#endif
