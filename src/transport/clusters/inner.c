/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "inner.h"

#include "cluster.h"
#include "space/segment.h"

const struct hearthi_transport_ops *hearthi_inner;

void
hearthi_inner_bring(const struct hearthi_fetch *run, size_t n)
{
    hearthi_inner->bring(HEARTHI_WAY_BESIDE, run, n);
}

/* All ranks of one node share its segments, and none of them uses another
 * means for these words. */
uint64_t
hearthi_inner_atomic(int home, size_t offset, const struct hearthi_step *s)
{
    const struct hearthi_cluster *c = &hearthi_cluster;

    if (c->nodes > 1)
        return hearthi_inner->atomic(home, offset, s);
    return hearthi_step_here(
        hearthi_segments.base[c->node_rank_of[home]] + offset, s);
}
