/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Runs of pages that come together: what another rank of the node has is
 * copied from there (node_copy.h), the rest is fetched in one message round.
 * The table lock is held by callers.
 */
#ifndef HEARTHI_FETCH_ROUND_H
#define HEARTHI_FETCH_ROUND_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node_copy.h"
#include "transport/transport.h"

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
 * are COMING that may be opened; the others were missed. hearthi_node_copy_end
 * is to follow when they are. */
void hearthi_fetch_round_bring(struct hearthi_fetch_round *b, bool alone);

/* Fetch runs with the lock in hand; told: something was, which arrives with
 * it (sharer_notify.h). */
void hearthi_runs_fetch(const struct hearthi_fetch *run, size_t n, bool told);
void hearthi_runs_count(const struct hearthi_fetch *run, size_t n);

#endif
