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

#include <mpi.h>
#include <stdbool.h>

#include "transport/transport.h"

/* Which job this is: its ranks, in the order in which they are numbered. */
struct hearthi_job {
    MPI_Comm comm;
    bool     hides; /* the last one is the handler's, not the program's */
};

/* If HEARTH_CLUSTERS names a file: read it, and find this cluster in it; comm
 * is given up for that of the job.  Collective. */
struct hearthi_job hearthi_clusters_read(MPI_Comm comm);

/* Then join the others, and number ranks and nodes through.  Behind
 * hearthi_world_open(), before all else.  Collective. */
void hearthi_clusters_open(void);
void hearthi_clusters_close(void);

/* The transport over all clusters, made of the one within this. */
const struct hearthi_transport_ops *
hearthi_transport_wan(const struct hearthi_transport_ops *inner);

/* This rank's process has the gateway's thread. */
bool hearthi_gateway_is_here(void);

#endif
