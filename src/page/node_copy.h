/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Of what is to be fetched, what another rank of the node has (node_cache.h).
 * The table lock is held by callers.
 */
#ifndef HEARTHI_NODE_COPY_H
#define HEARTHI_NODE_COPY_H

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
    uint64_t              all;    /* with those taken, COMING until it is */
    uint64_t              number; /* of node_cache.h */
};

/* Take what others have of some runs, for which the rest has room, which is
 * COMING then (page_in_flight.h), and say that the rest is on its way.  Pages
 * that others have are fetched all the same where the rest would be more runs
 * than there is room for. */
void hearthi_node_copy(const struct hearthi_fetch *run, size_t n,
                       enum hearthi_why why, struct hearthi_rest *rest);

/* The rest is here, and has the states that it will have. */
void hearthi_node_copy_end(const struct hearthi_rest *rest);

/* How many of the pages from home nobody has touched, if this one was. */
uint64_t hearthi_rest_ahead(const struct hearthi_rest *rest, uint64_t page);

#endif
