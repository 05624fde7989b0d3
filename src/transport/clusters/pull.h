/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages from homes of other clusters, and bytes to them: what a rank asks its
 * gateway, and in which order.
 */
#ifndef HEARTHI_CLUSTERS_PULL_H
#define HEARTHI_CLUSTERS_PULL_H

#include "transport/transport.h"

void hearthi_pulls_open(void);
void hearthi_pulls_close(void);

/* As the transport's (transport.h); runs of this cluster are the inner
 * transport's. */
void hearthi_pull_fetch(const struct hearthi_fetch *run, size_t n);
void hearthi_pull_bring(int way, const struct hearthi_fetch *run, size_t n);
bool hearthi_pull_bring_begin(const struct hearthi_fetch *run, size_t n);
void hearthi_pull_bring_end(void);
void hearthi_push(int home, size_t offset, const void *src, size_t len);
void hearthi_pushes_wait(void);

#endif
