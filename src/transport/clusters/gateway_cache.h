/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The gateway's copies of pages of other clusters, for all ranks of its own.
 *
 * The argument.  A copy here may be given to any rank of the cluster at any
 * time, so it must have all that any of them knows of: of what others wrote,
 * by a notice, and of what the cluster's own ranks wrote.
 *   - What others wrote: a notice is published when the writes are at home.
 *     It comes to ranks of this cluster through this gateway alone, in the
 *     grant of a lock or flag or in the notices of a barrier, and before it is
 *     handed to any of them the copies of its pages are dropped.
 *   - What ranks of this cluster wrote: their diffs and atomic steps go
 *     through this gateway to the home, and drop the copy as they pass.  What
 *     asks for the page afterwards follows them on the link, which keeps the
 *     order, and finds them at home.
 *   - A copy that is on its way when it would be dropped may be older than
 *     what it is dropped for: it is handed to the rank that asked for it, as
 *     if there were no cache, and not kept.
 *   - A page that the gateway fetches ahead of its ranks (remote_request.c) is
 *     to all this one that a rank has fetched and did not look at.
 *   - A home that has not seen that a page is shared tells of no writes.  So a
 *     page that is fetched for the first time by a rank is read by the other
 *     handler after its flag is set and the home is told (gateway_homes.c):
 *     from then on the home tells, as it does a rank whose copy survives an
 *     acquire (coherence/sharer_flags.c).
 *   - A rank that orders by messages of the program's own (hearth_acquire)
 *     learns without a notice, and has the copies dropped itself, before it
 *     says which fetches of its node are late enough for it
 *     (page/node_cache.h).
 *   - A page that is freed is forgotten by all ranks between two collectives
 *     (hearth_free), and each collective that is not a barrier drops all.
 *
 * tests/model/gateway.c walks these, and breaks each.
 *
 * On the gateway's thread.
 */
#ifndef HEARTHI_GATEWAY_CACHE_H
#define HEARTHI_GATEWAY_CACHE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "notice/notice.h"
#include "wan_message.h"

/* So many bytes at most.  Closed when the thread has ended, since what was
 * fetched ahead of ranks may come when these have gone. */
void hearthi_gateway_cache_open(size_t bytes);
void hearthi_gateway_cache_close(void);

/* For how many pages there is room. */
size_t hearthi_gateway_cache_room(void);

/* What is known of a page: nothing, on its way, or here.  One that is on its
 * way with a later fetch than `latest` is unknown. */
enum hearthi_gateway_cached {
    HEARTHI_GATEWAY_UNKNOWN,
    HEARTHI_GATEWAY_IN_FLIGHT,
    HEARTHI_GATEWAY_CACHED
};
enum hearthi_gateway_cached hearthi_gateway_cache_look(uint64_t page,
                                                       uint64_t latest);

/* The content of a page that is here. */
const char *hearthi_gateway_cache_page(uint64_t page);

/* A fetch with this number has been sent for a run of pages. */
void hearthi_gateway_cache_expect(const struct hearthi_wan_run *run,
                                  uint64_t                      number);

/* It has come: keep its pages, but for those that something has dropped
 * meanwhile.  Returns the end of their content. */
const char *hearthi_gateway_cache_fill(const struct hearthi_wan_run *run,
                                       uint64_t number, const char *content);

/* Drop pages: by a notice, by bytes that go to their home, or all. */
void hearthi_gateway_cache_drop(const struct hearthi_notice *notice, size_t n);
void hearthi_gateway_cache_drop_at(uint32_t home, uint64_t at, size_t len);
void hearthi_gateway_cache_drop_all(void);

#endif
