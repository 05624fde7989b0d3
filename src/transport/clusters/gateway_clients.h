/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The connections of a cluster's ranks to its gateway, whose guests they are:
 * what they ask is taken (gateway_server.h), and what is put to them leaves.
 * On the gateway's thread, but for what begins and ends.
 */
#ifndef HEARTHI_GATEWAY_CLIENTS_H
#define HEARTHI_GATEWAY_CLIENTS_H

#include "rank_listener.h"

/* Begin to listen: where. */
struct hearthi_listener hearthi_gateway_clients_listen(void);

/* Who waits for guests waits for this descriptor, too. */
void hearthi_gateway_clients_open(int other);
void hearthi_gateway_clients_close(void);

/* Take what they have sent, or send in so many milliseconds; or return when
 * there is something at the other descriptor. */
void hearthi_gateway_clients_take(int ms);
void hearthi_gateway_clients_send(void);

/* A rank may close its connections from now on. */
void hearthi_gateway_clients_bye(uint32_t place);

#endif
