/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How much may be on its way: what a home's receive buffer can take, and what
 * the network can (congestion.h).
 */
#ifndef HEARTHI_FLOW_CONTROL_H
#define HEARTHI_FLOW_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "congestion.h"

void hearthi_udp_flows_open(void);
void hearthi_udp_flows_close(void);

/* May so many bytes go to a home now?  They went; they are answered, and it
 * has told what it can take (0: nothing).  By any thread. */
bool hearthi_udp_flow_may(uint32_t home, size_t bytes);
void hearthi_udp_flow_sent(uint32_t home, size_t bytes);
void hearthi_udp_flow_done(uint32_t home, size_t bytes, size_t told);

/* Of the network's window to a rank: its bytes, and what of it is left.  So
 * many were put on their way there or back; have come; are not on their way
 * any more. */
size_t hearthi_udp_flow_window(uint32_t rank);
size_t hearthi_udp_flow_left(uint32_t rank);
void   hearthi_udp_flow_put(uint32_t rank, size_t bytes);
void   hearthi_udp_flow_came(uint32_t rank, size_t bytes);
void   hearthi_udp_flow_lost(uint32_t rank, size_t bytes);

struct hearthi_udp_congestion *hearthi_udp_flow_network(uint32_t rank);

/* At the home: a client has sent a diff; what it may have on its way. */
uint32_t hearthi_udp_flow_share(uint32_t client);

#endif
