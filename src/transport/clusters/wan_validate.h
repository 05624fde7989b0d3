/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whether what came from another gateway, or from a rank, can be acted upon:
 * that each length, number and place in it is one that there is.  Its sender
 * has the key or the token; so this is not about the right to ask: a gateway
 * with a mistake is named, and none writes where it should not.  A pure judge,
 * fuzzed by tests/fuzz/fuzz.sh.
 */
#ifndef HEARTHI_WAN_VALIDATE_H
#define HEARTHI_WAN_VALIDATE_H

#include "wan_message.h"

/* What there is. */
struct hearthi_bounds {
    int        clusters, me;
    const int *first; /* rank of each cluster, and behind the last */
    uint32_t   syncs;
    uint64_t   pages, frames, frames_at, segment; /* of the heap, of a home */
    unsigned   shift;
    uint32_t   longest; /* message, in bytes */
};

/* NULL, or why not.  `there`: bytes from the head on, all of them readable;
 * `far`: it comes from another gateway. */
const char *hearthi_wan_message_fault(const struct hearthi_wan_message *msg,
                                      size_t there, bool far,
                                      const struct hearthi_bounds *b);

#endif
