/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages from homes of other clusters, and bytes to them: what a rank asks its
 * gateway, and in which order.
 */
#ifndef HEARTHI_REMOTE_FETCH_H
#define HEARTHI_REMOTE_FETCH_H

#include "transport/transport.h"

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
