/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Several MPI jobs, the clusters, as one world (doc/clusters.md).  After
 * Nanri and others; what they leave for later, pages and a cache, is here,
 * too.
 *
 * Ranks are numbered through, nodes too, and every layer above the seam knows
 * these numbers alone.  Below, ranks of this cluster are reached by its own
 * transport, and those of others through its gateway, which also manages all
 * locks and makes the barrier.
 */
#ifndef HEARTHI_CLUSTERS_H
#define HEARTHI_CLUSTERS_H

#include <stdbool.h>

#include "transport/transport.h"

/* If HEARTH_CLUSTERS names a file: join the others, and number ranks and nodes
 * through.  Behind hearthi_world_open(), before all else.  Collective. */
void hearthi_clusters_open(void);
void hearthi_clusters_close(void);

/* The transport over all clusters, made of the one within this. */
const struct hearthi_transport_ops *
hearthi_transport_over(const struct hearthi_transport_ops *inner);

/* This rank's process has the gateway's thread. */
bool hearthi_gateway_is_here(void);

#endif
