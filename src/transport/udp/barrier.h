/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The barrier.
 */
#ifndef HEARTHI_TRANSPORT_UDP_BARRIER_H
#define HEARTHI_TRANSPORT_UDP_BARRIER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"
#include "wire.h"

void hearthi_udp_barrier_open(void);
void hearthi_udp_barrier_close(void);
void hearthi_udp_barrier(const struct hearthi_notice *own, size_t n,
                         bool                            invalidate_all,
                         struct hearthi_barrier_notices *news);
void hearthi_udp_barrier_serve(uint32_t                          peer,
                               const struct hearthi_udp_message *m);

#endif
