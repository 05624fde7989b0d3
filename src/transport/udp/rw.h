/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who is inside a reader-writer lock, for its manager.  With the mutex of the
 * servers.
 */
#ifndef HEARTHI_TRANSPORT_UDP_RW_H
#define HEARTHI_TRANSPORT_UDP_RW_H

#include <stdbool.h>
#include <stdint.h>

#include "sync_object.h"

/* A peer asks, as its `write` and `try` say: true if it is inside now.  A try
 * that is not is to be refused; all others wait. */
bool hearthi_udp_rw_enter(struct hearthi_udp_sync_object *o, uint32_t peer);

/* One of those inside leaves, and `grant` is called for each that enters. */
void hearthi_udp_rw_leave(struct hearthi_udp_sync_object *o,
                          void (*grant)(struct hearthi_udp_sync_object *o,
                                        uint32_t                        peer));

#endif
