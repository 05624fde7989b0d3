/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "wan_transport.h"

#include "cluster.h"
#include "space/segment.h"

const struct hearthi_transport_ops *hearthi_local_transport;

void
hearthi_local_transport_fetch(const struct hearthi_fetch *run, size_t n)
{
    hearthi_local_transport->data.fetch_concurrent(HEARTHI_WAY_BESIDE, run, n);
}

/* All ranks of one node share its segments, and none of them uses another
 * means for these words. */
uint64_t
hearthi_local_transport_atomic(int home, size_t offset,
                               const struct hearthi_atomic_op *s)
{
    const struct hearthi_cluster *c = &hearthi_cluster;

    if (c->nodes > 1)
        return hearthi_local_transport->data.atomic(home, offset, s);
    return hearthi_atomic_op_here(
        hearthi_segments.base[c->node_rank_of[home]] + offset, s);
}

void
hearthi_local_transport_adds(const struct hearthi_add_run *run)
{
    const struct hearthi_cluster *c = &hearthi_cluster;

    if (c->nodes > 1)
        hearthi_local_transport->data.adds(run, 1);
    else
        hearthi_adds_here(hearthi_segments.base[c->node_rank_of[run->home]],
                          run);
}
