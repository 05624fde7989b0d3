/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the time of ranks went, as parts of a whole: each nanosecond of a
 * thread is in one of them.
 */
#ifndef HEARTHI_SHARES_H
#define HEARTHI_SHARES_H

#include <stdint.h>

#include "hearth/hearth.h"

enum hearthi_share {
    HEARTHI_SHARE_COMPUTING,
    HEARTHI_SHARE_READ_FAULTS, /* and hearth_prefetch(), hearth_hold() */
    HEARTHI_SHARE_WRITE_FAULTS,
    HEARTHI_SHARE_AHEAD,    /* pages fetched at the end of an acquire */
    HEARTHI_SHARE_DIFFS,    /* closing what was written, applying notices
                             */
    HEARTHI_SHARE_BARRIERS, /* waiting there */
    HEARTHI_SHARE_LOCKS,    /* and flags, conditions, atomics */
    HEARTHI_SHARE_SERVED,   /* other ranks, while this one computed */
    HEARTHI_SHARE_EXPLICIT, /* hearth_read() and hearth_write() */
    HEARTHI_SHARES
};

/* A part's name in reports, and its key in JSON. */
const char *hearthi_share_name(enum hearthi_share which);
const char *hearthi_share_key(enum hearthi_share which);

/* Of one rank, or of several added up: elapsed is their sections' then.  Of
 * more threads than ranks the whole is what they have spent. */
struct hearthi_shares {
    uint64_t ns[HEARTHI_SHARES];
};

struct hearthi_shares hearthi_shares_of(const hearth_stats *s,
                                        uint64_t elapsed, int nodes);

/* In tenths of a percent, which add up to 1000: what was cut off goes to the
 * parts that lost most.  All 0 if the whole is. */
void hearthi_shares_permille(const struct hearthi_shares *s,
                             unsigned permille[HEARTHI_SHARES]);

#endif
