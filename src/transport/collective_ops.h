/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What all ranks call together of a transport (transport.h).
 */
#ifndef HEARTHI_COLLECTIVE_OPS_H
#define HEARTHI_COLLECTIVE_OPS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "node/node.h"
#include "notice/notice.h"

struct hearthi_collective_ops {
    /* expose makes so many frames of each segment reachable, from the first
     * on, before any of them is used.  Collective, with the same number on
     * every rank, and without the table's lock.  Blocks. */
    void (*expose)(uint64_t frames);

    /* barrier waits for every rank and exchanges what each has written since
     * the last barrier, at most HEARTHI_NOTICES_OF_ONE runs; what is more than
     * HEARTHI_BARRIER_NOTICES_MAX of all together is merged.  Of a notice of
     * the barrier's notices the writer says whether it was this rank, and no
     * more: runs of ranks elsewhere may be joined, and this rank's own left
     * out.  Blocks. */
    void (*barrier)(const struct hearthi_notice *own, size_t n,
                    bool invalidate_all, struct hearthi_barrier_notices *news);
};

#endif
