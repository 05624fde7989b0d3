/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a home's receive buffer can take.
 */
#ifndef HEARTHI_FLOW_CONTROL_H
#define HEARTHI_FLOW_CONTROL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void hearthi_udp_flows_open(void);
void hearthi_udp_flows_close(void);

/* May so many bytes go to a home now?  They went; they are answered, and it
 * has told what it can take (0: nothing).  By any thread. */
bool hearthi_udp_flow_may(uint32_t home, size_t bytes);
void hearthi_udp_flow_sent(uint32_t home, size_t bytes);
void hearthi_udp_flow_done(uint32_t home, size_t bytes, size_t told);

/* At the home: a client has sent a diff; what it may have on its way. */
uint32_t hearthi_udp_flow_share(uint32_t client);

#endif
