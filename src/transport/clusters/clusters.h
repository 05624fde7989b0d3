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
#include <stddef.h>
#include <stdint.h>

#include "link/conf.h"
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

/* In a child that fork(2) has made: the connections are its parent's alone,
 * and end with that. */
void hearthi_clusters_forked(void);

/* The transport over all clusters, made of the one within this. */
const struct hearthi_transport_ops *
hearthi_transport_wan(const struct hearthi_transport_ops *inner);

/* This rank's process has the gateway's thread. */
bool hearthi_gateway_is_here(void);

/* ---- config_check.c ---- */

/* What must be the same in all clusters, or their memory would not be one. */

/* Lines of NAME=VALUE, which gateways compare when they meet. */
const char *hearthi_config_text(void);

/* Choose the page size where HEARTH_PAGE_SIZE is auto, which follows from the
 * systems of all clusters; if one gives another, end the job.  Collective, of
 * all ranks, before the heap is laid out. */
void hearthi_config_page_size(const struct hearthi_conf *conf);

/* ---- explicit_remote_io.c ---- */

/* Bytes at homes, read and written past all copies: what hearth_read() and
 * hearth_write() ask the gateway. */

/* Of one home's segment. */
struct hearthi_remote_io {
    int    home;
    size_t at, len;
    char  *to; /* or from */
};

/* At most so many at a time, of one cluster and some 256 KiB together. */
enum { HEARTHI_REMOTE_IO = 64 };

/* Runs of one cluster.  Any thread; blocks. */
void hearthi_remote_io_read(const struct hearthi_remote_io *run, int n);
void hearthi_remote_io_write(const struct hearthi_remote_io *run, int n);

#endif
