/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The transport within a cluster, which brings what ranks of other clusters
 * ask for.  For the gateway's thread, beside all that the program does.  Ranks
 * are those of the cluster.
 */
#ifndef HEARTHI_WAN_TRANSPORT_H
#define HEARTHI_WAN_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"
#include "world.h"

extern const struct hearthi_transport_ops *hearthi_local_transport;

/* The number within this cluster of a rank that is in it. */
static inline int
hearthi_local_rank(int rank)
{
    return rank - hearthi_world.first;
}

void hearthi_local_transport_fetch(const struct hearthi_fetch *run, size_t n);

/* One step, by the means by which this cluster's own ranks do theirs; also for
 * them. */
uint64_t hearthi_local_transport_atomic(int home, size_t offset,
                                        const struct hearthi_atomic_op *s);
void     hearthi_local_transport_adds(const struct hearthi_add_run *run);

/* ---- words of all clusters: remote_atomic.c ---- */

/* As the transport's (transport.h). */
uint64_t hearthi_remote_atomic(int home, size_t offset,
                               const struct hearthi_atomic_op *s);
void     hearthi_remote_adds(const struct hearthi_add_run *run, size_t n);

/* ---- other clusters: remote_fetch.c ---- */

/* Pages from homes of other clusters, and bytes to them: what a rank asks its
 * gateway, and in which order. */

void hearthi_remote_fetch_open(void);
void hearthi_remote_fetch_close(void);

/* As the transport's (transport.h); runs of this cluster are the inner
 * transport's. */
void hearthi_remote_fetch(const struct hearthi_fetch *run, size_t n);
void hearthi_remote_fetch_concurrent(int way, const struct hearthi_fetch *run,
                                     size_t n);
bool hearthi_remote_fetch_begin(const struct hearthi_fetch *run, size_t n);
void hearthi_remote_fetch_end(void);
void hearthi_remote_store(int home, size_t offset, const void *src,
                          size_t len);
void hearthi_remote_stores_wait(void);

#endif
