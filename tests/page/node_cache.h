/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Tests of copies that ranks of a node take from each other.
 *
 * The litmus tests are played by three ranks: a home, and two ranks of another
 * node, of which `owner` has a copy and `taker` has none.  What is not ordered
 * by Hearth is ordered by empty messages.
 */
#ifndef HEARTH_TESTS_MATES_H
#define HEARTH_TESTS_MATES_H

#include "fixture.h"

enum { HOME = 0 };

/* -1, or a rank: the first two ranks of a node that HOME is not on a node
 * with. */
extern int owner, taker;

/* Two pages at HOME, which nobody has. */
int64_t *page_new(void);

/* Copies that are not first ones: read, dropped by a barrier, and again.  The
 * home writes a value, so that nobody has one afterwards. */
void first_copies_pass(int64_t *p);

/* What HOME writes and another reads in order. */
enum order { LOCK, FLAG, RWLOCK, MESSAGE, ORDERS };
void publish(enum order o, int64_t *p, int64_t value);
void see(enum order o, const int64_t *p, int64_t value);

/* The owner reads a 0, which another waits for with owner_told. */
void owner_reads(const int64_t *p, int next);
void owner_told(void);

/* What HOME writes next the taker sees, which waits for it. */
void next_is_seen(int64_t *p);

/* Nodes that fetch from HOME's. */
uint64_t nodes_apart(void);

/* In node_cache_old.c: nothing is taken that is too old, or another page's. */
void old_ones_add(TCase *tc);

/* The same with few frames, where that tells more. */
void small_ones_add(TCase *tc);

/* In node_cache_beside.c: beside other threads; and that with few frames. */
void beside_ones_add(TCase *small, TCase *tc);

/* In node_cache_ahead.c: beside what was foreseen, and moves. */
void ahead_ones_add(TCase *tc);
void moving_ones_add(TCase *tc);

#endif
