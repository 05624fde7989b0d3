/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What was used will be used.  A program that repeats itself uses in each
 * interval about the pages of the one before; others have written some of them
 * meanwhile, so an acquire drops those, and the program misses them one by
 * one.  What an acquire drops and had been used is therefore fetched again at
 * its end, all of it in one message round, while the program goes on if the
 * transport can do that.  A page that came so is PREFETCHED: it is opened when
 * it is touched, a fault without a message.  That is how a prediction is
 * checked.
 *
 * Which pages will be used again is for policy/reuse_predictor.h to say.  No
 * more than a quarter of the cache is brought by an acquire, nor more than a
 * fault would fetch: ranks leave a barrier together, and what all ask for at
 * once is more than buffers of datagrams hold.  And only pages that still have
 * a frame are, so that nothing is evicted for it.
 *
 * A predicted fetch is one like any other: it begins after the acquire, with
 * homes told of what they must know first (sharer_notify.h), and until it has
 * ended its pages are IN_FLIGHT (page_in_flight.h), so an acquire that would
 * drop one makes it STALE_IN_FLIGHT.  Only pages are brought whose flag was
 * set by an earlier fetch, so none is a first copy but one that is taken of a
 * first copy of another rank (node_cache.h).  One that is PREFETCHED goes like
 * any copy when an acquire names it; its frame holds nothing that is not at
 * home, so it goes without a word, too, when room is needed.
 *
 * What was begun is ended by the thread that first touches one of these pages,
 * waits for any page on its way, or predicts anew; with the table's lock in
 * hand, so no thread sees it half ended.  In a call of MPI that cannot be
 * done: there such a page is one that is not here.
 *
 * Ranks of a node take from each other what one of them has, and bring
 * different pages where they begin together (node_cache.h).
 *
 * tests/model breaks the rules with --keep-here, --keep-predicted,
 * --predict-untold and --predict-first.
 *
 * The table lock is held by callers.
 */
#ifndef HEARTHI_REUSE_PREFETCH_H
#define HEARTHI_REUSE_PREFETCH_H

#include <stdbool.h>
#include <stdint.h>

void hearthi_reuse_prefetch_open(void);

/* End what was begun, and begin nothing more: before the transport closes. */
void hearthi_reuse_prefetch_close(void);

/* An acquire begins to drop copies: these, which were valid.  Of those that
 * were PREFETCHED or on their way it tells one by one.  Then it has dropped
 * all: what this rank drops from then on for other reasons (an atomic step,
 * say, of another thread before a barrier has ended) is not predicted. */
void hearthi_reuse_prefetch_begin(void);
void hearthi_reuse_prefetch_dropped(uint64_t page, uint64_t count);
void hearthi_reuse_prefetch_unused(uint64_t page);
void hearthi_reuse_prefetch_noted(void);

/* The acquire has ended but for this: bring what is predicted. */
void hearthi_reuse_prefetch_fetch(void);

/* End what was begun; false if nothing was.  Is this page on its way so? */
bool hearthi_reuse_prefetch_finish(void);
bool hearthi_reuse_prefetch_brings(uint64_t page);

/* A page that is PREFETCHED was touched: open it and, in a sequence of such
 * faults, others; or it alone. */
void hearthi_reuse_prefetch_touch(uint64_t page, bool write);
void hearthi_reuse_prefetch_show(uint64_t page, uint64_t count, bool write);

#endif
