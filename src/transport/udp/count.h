/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages and bytes by operation, and what was refused by reason.
 */
#ifndef HEARTHI_TRANSPORT_UDP_COUNT_H
#define HEARTHI_TRANSPORT_UDP_COUNT_H

#include <stddef.h>

#include "wire.h"

void hearthi_udp_count_sent(unsigned op, unsigned messages, size_t bytes);
void hearthi_udp_count_resent(unsigned op); /* it was sent again */
void hearthi_udp_count_refused(enum hearthi_udp_reason reason);

const char *hearthi_udp_reason_name(unsigned i);

#endif
