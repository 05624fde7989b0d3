/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The handler's thread and the connections of the ranks of its cluster.
 */
#ifndef HEARTHI_GATEWAY_THREAD_H
#define HEARTHI_GATEWAY_THREAD_H

#include <stdbool.h>

#include "gateway_channel.h"

/* Begin to listen to ranks of this cluster: where. */
struct hearthi_listener hearthi_gateway_thread_listen(void);

/* Serve, until each of them has said goodbye; hearthi_gateway_server is
 * complete. */
void hearthi_gateway_thread_start(void);
void hearthi_gateway_thread_join(void);

/* This is the handler's own thread. */
bool hearthi_gateway_thread_is_self(void);

#endif
