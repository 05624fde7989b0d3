/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The handler's thread and the connections of the ranks of its cluster.
 */
#ifndef HEARTHI_CLUSTERS_HANDLER_H
#define HEARTHI_CLUSTERS_HANDLER_H

#include <stdbool.h>

#include "channel.h"

/* Begin to listen to ranks of this cluster: where. */
struct hearthi_door hearthi_handler_listen(void);

/* Serve, until each of them has said goodbye; hearthi_gate is complete. */
void hearthi_handler_start(void);
void hearthi_handler_join(void);

/* This is the handler's own thread. */
bool hearthi_handler_is_self(void);

#endif
