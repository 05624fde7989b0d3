/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Runs of pages that come together: what another rank of the node has is
 * copied from there (borrow.h), the rest is fetched in one message round.  The
 * table lock is held by callers.
 */
#ifndef HEARTHI_BATCH_H
#define HEARTHI_BATCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "borrow.h"
#include "transport/transport.h"

enum { HEARTHI_RUNS = 32 };

struct hearthi_batch {
    struct hearthi_fetch run[HEARTHI_RUNS];
    size_t               n;
    uint64_t             pages;
    struct hearthi_rest  rest; /* that no other rank of the node has */
    struct hearthi_fetch from_home[HEARTHI_RUNS];
};

void hearthi_batch_init(struct hearthi_batch *b);

/* Add pages that lie at neighbouring frames of one home, cut where their
 * cached frames do not follow each other.  Returns how many found a place. */
uint64_t hearthi_batch_add(struct hearthi_batch *b, uint64_t page,
                           uint64_t count);

/* The same, up to a page that another rank of the node is fetching. */
uint64_t hearthi_batch_claim(struct hearthi_batch *b, uint64_t page,
                             uint64_t count);

/* Bring them; without the lock meanwhile, unless `alone`.  Afterwards pages
 * are COMING that may be opened; the others were missed.  hearthi_borrow_end
 * is to follow when they are. */
void hearthi_batch_bring(struct hearthi_batch *b, bool alone);

/* Fetch runs with the lock in hand; told: something was, which arrives with
 * it (tell.h). */
void hearthi_runs_fetch(const struct hearthi_fetch *run, size_t n, bool told);
void hearthi_runs_count(const struct hearthi_fetch *run, size_t n);

#endif
