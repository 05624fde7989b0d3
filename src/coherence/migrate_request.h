/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages that this rank would have at home on its node.
 *
 * What a barrier brings names the ranks that wrote, but joined, so that of
 * another node's pages no rank knows which one wrote them (notice/coalesce.h);
 * of its own a rank knows it to the page.  So each rank remembers of the pages
 * that it wrote, and that are at home on another node, in how many barriers in
 * a row it did so while no other node did; and asks for them.  A rank that
 * asks says so in the barrier itself (hearthi_barrier_notices.asks), by what
 * it has written, before it knows of others; it asks for what is left when it
 * does.
 *
 * The home tells of a page once, when it sees that it was fetched, written or
 * not (sharer_flags.c); so for memory for first touch it does not matter the
 * first time which other ranks wrote it.
 *
 * In the same way a rank asks for pages that are at home on its node, and that
 * others have fetched, to become new (migrate.c): if no rank has a copy any
 * more, stores to the page need not be told of.  Several at a time, since all
 * ranks meet for it.
 *
 * What damps it: of a page that has moved, and of one that this rank asked for
 * in vain, twice as many barriers are needed each time, 128 for the seventh,
 * behind which it stays.  A page that two nodes write in turn is never one
 * that was written by one alone long enough.
 *
 * No decision rests on what is remembered here but what is asked for: so ranks
 * need not remember alike.
 *
 * The table's lock is held by callers.
 */
#ifndef HEARTHI_MIGRATE_REQUEST_H
#define HEARTHI_MIGRATE_REQUEST_H

#include <stdbool.h>
#include <stdint.h>

#include "notice/notice.h"
#include "transport/transport.h"

/* How often a page moves. */
enum { HEARTHI_MIGRATE_MOST = 7 };

/* What a rank asks for in one barrier, at most: runs, and pages of all ranks.
 * Blocks that are dealt to ranks make many runs. */
enum { HEARTHI_MIGRATE_REQUESTS = 4096, HEARTHI_MIGRATE_PAGES = 1 << 16 };

/* The runs are sent as they are. */
struct hearthi_migrate_requests {
    uint32_t n;
    struct hearthi_migrate_request {
        uint32_t page, count;
    } run[HEARTHI_MIGRATE_REQUESTS];
};

void hearthi_migrate_requests_open(void);
void hearthi_migrate_requests_close(void);

/* A barrier begins, to which this rank tells what it wrote: true if it would
 * ask for some of it. */
bool hearthi_migrate_requests_begin(const struct hearthi_pageset *own);

/* It has brought these. */
void
hearthi_migrate_requests_learn(const struct hearthi_barrier_notices *news);

/* What is left. */
void hearthi_migrate_requests_take(struct hearthi_migrate_requests *w);

/* These have moved or become new, or did not though this rank had asked for
 * them. */
void hearthi_migrate_requests_done(uint64_t page, uint64_t count);

/* They are freed. */
void hearthi_migrate_requests_forget(uint64_t page, uint64_t count);

#endif
