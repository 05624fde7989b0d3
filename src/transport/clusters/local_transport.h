/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The transport within a cluster, which brings what ranks of other clusters
 * ask for.  For the gateway's thread, beside all that the program does.  Ranks
 * are those of the cluster.
 */
#ifndef HEARTHI_LOCAL_TRANSPORT_H
#define HEARTHI_LOCAL_TRANSPORT_H

#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"

extern const struct hearthi_transport_ops *hearthi_local_transport;

void hearthi_local_transport_fetch(const struct hearthi_fetch *run, size_t n);

/* One step, by the means by which this cluster's own ranks do theirs; also for
 * them. */
uint64_t hearthi_local_transport_atomic(int home, size_t offset,
                                        const struct hearthi_atomic_op *s);

#endif
