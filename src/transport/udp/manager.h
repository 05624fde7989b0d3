/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks and flags.  With the mutex of the servers.
 */
#ifndef HEARTHI_TRANSPORT_UDP_MANAGER_H
#define HEARTHI_TRANSPORT_UDP_MANAGER_H

#include <stdint.h>

#include "wire.h"

void hearthi_udp_manager_open(void);
void hearthi_udp_manager_close(void);
void hearthi_udp_manage(uint32_t peer, const struct hearthi_udp_message *m);

#endif
