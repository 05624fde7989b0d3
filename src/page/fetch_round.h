/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A fetch round, runs of pages that come together: pages that another rank of
 * the node has are copied from there (node_cache.h), the rest is fetched in
 * one message round.  The table lock is held by callers.
 */
#ifndef HEARTHI_FETCH_ROUND_H
#define HEARTHI_FETCH_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node_cache.h"
#include "transport/transport.h"

/* Runs that must be fetched from home, in memory of the caller's for so many.
 */
struct hearthi_rest {
    struct hearthi_fetch *run;
    size_t                room, n;
    uint64_t              pages;
    uint64_t              all;    /* with those taken, IN_FLIGHT until it is */
    uint64_t              number; /* of node_cache.h */
};

enum { HEARTHI_RUNS = 32 };

struct hearthi_fetch_round {
    struct hearthi_fetch run[HEARTHI_RUNS];
    size_t               n;
    uint64_t             pages;
    struct hearthi_rest  rest; /* that no other rank of the node has */
    struct hearthi_fetch from_home[HEARTHI_RUNS];
};

void hearthi_fetch_round_init(struct hearthi_fetch_round *b);

/* Add pages that lie at neighbouring frames of one home, cut where their
 * cached frames do not follow each other.  Returns how many found a place. */
uint64_t hearthi_fetch_round_add(struct hearthi_fetch_round *b, uint64_t page,
                                 uint64_t count);

/* The same, up to a page that another rank of the node is fetching. */
uint64_t hearthi_fetch_round_claim(struct hearthi_fetch_round *b,
                                   uint64_t page, uint64_t count);

/* Bring them; without the lock meanwhile, unless `alone`.  Afterwards pages
 * are IN_FLIGHT that may be opened; the others were missed.
 * hearthi_node_copy_end is to follow when they are. */
void hearthi_fetch_round_bring(struct hearthi_fetch_round *b, bool alone);

/* Fetch runs with the lock in hand; told: something was, which arrives with
 * it (sharer_notify.h). */
void hearthi_runs_fetch(const struct hearthi_fetch *run, size_t n, bool told);
void hearthi_runs_count(const struct hearthi_fetch *run, size_t n);

/* ---- what others of the node have ---- */

/* Take what others have of some runs, for which the rest has room, which is
 * IN_FLIGHT then (page_in_flight.h), and say that the rest is on its way.
 * Pages that others have are fetched all the same where the rest would be more
 * runs than there is room for. */
void hearthi_node_copy(const struct hearthi_fetch *run, size_t n,
                       enum hearthi_why why, struct hearthi_rest *rest);

/* The rest is here, and has the states that it will have. */
void hearthi_node_copy_end(const struct hearthi_rest *rest);

/* How many of the pages from home no thread has touched, if this one was. */
uint64_t hearthi_rest_ahead(const struct hearthi_rest *rest, uint64_t page);

#endif
