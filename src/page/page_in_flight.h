/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Copies on their way.  A fetch takes a round trip, in which the table's lock
 * is free: other threads of the rank miss, synchronise, make room and pin
 * meanwhile.  What keeps that right:
 *   - A thread that touches a page on its way waits for it: two threads that
 *     miss one page make one fetch.
 *   - Its frame stays its own: such a page is no victim (frames.c).
 *   - An acquire that would drop the copy of such a page makes it
 *     STALE_IN_FLIGHT: what arrives may have been read before the write that
 *     the acquire knows of.  No thread sees it; the page is invalid when it is
 *     here, and the thread that waited fetches it again, now with the lock in
 *     hand, so that it does not wait for ever beside others that synchronise
 *     all the time.
 *   - A first copy is provisional (coherence/sharer_flags.c) from the moment
 *     when its fetch begins, so the next acquire makes it STALE_IN_FLIGHT
 *     whatever was written.  Its home was not told of a flag that may arrive
 *     after that: it is provisional once more when it is here.
 *   - hearth_free waits for what it frees.  Homes are told of new flags
 *     (fetch.c) with the lock in hand.
 * tests/model breaks the rules of acquires with --keep-in-flight,
 * --keep-first-in-flight and --forget-in-flight.
 *
 * The table's lock is held by callers.
 */
#ifndef HEARTHI_PAGE_IN_FLIGHT_H
#define HEARTHI_PAGE_IN_FLIGHT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"
#include "transport/transport.h"

/* Take a way for so many pages: its number, or -1 if they must be fetched with
 * the lock in hand, as all ways are in use or half of the cache that is not
 * pinned is on its way.  Only the first one is for several runs: a transport
 * bounds what all together have outstanding. */
int hearthi_way_take(uint64_t pages, size_t runs);

/* All that was on it is here. */
void hearthi_way_give(int way, uint64_t pages);

/* The pages of a run are on their way; and they are here: those that are not
 * missed stay IN_FLIGHT, for the caller to give them a state. */
void hearthi_in_flight_begin(const struct hearthi_fetch *run);
void hearthi_in_flight_end(const struct hearthi_fetch *run);

/* Wait, without the lock for what others fetch: until something is here, or a
 * little longer; until
 * nothing of a range is on its way; until no more is than half of what will
 * not be pinned of the cache when these pages are. */
void hearthi_in_flight_wait(void);
void hearthi_in_flight_wait_for(uint64_t page, uint64_t count);
void hearthi_in_flight_make_room(uint64_t page, uint64_t count);

/* Is nothing on its way?  With --enable-debug only. */
bool hearthi_in_flight_is_none(void);

/* Wake the threads that wait. */
void hearthi_in_flight_raise(void);

#endif
