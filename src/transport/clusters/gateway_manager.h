/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks, flags, condition variables and reader-writer locks of all clusters:
 * object i is managed by the gateway of cluster i modulo their number.  On the
 * gateway's thread.
 */
#ifndef HEARTHI_GATEWAY_MANAGER_H
#define HEARTHI_GATEWAY_MANAGER_H

#include "wan_message.h"

void hearthi_gateway_manager_open(void);
void hearthi_gateway_manager_close(void);
void hearthi_gateway_manager_serve(const struct hearthi_wan_message *ask);

#endif
