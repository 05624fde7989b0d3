/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What all ranks of all clusters do together: a barrier, and the exchange of
 * some bytes of each.  A gateway waits for what its own ranks bring, sends it
 * to each other gateway in one message, and when it has one of each gives all
 * of it to its ranks.  On the gateway's thread.
 */
#ifndef HEARTHI_GLOBAL_COLLECTIVE_H
#define HEARTHI_GLOBAL_COLLECTIVE_H

#include <stdbool.h>

#include "wan_message.h"

void hearthi_global_collectives_open(void);
void hearthi_global_collectives_close(void);

/* A handler that is a rank hears no more of it. */
void hearthi_global_collectives_without(void);

/* From a rank here, or (`far`) from a gateway, in whose name its first rank
 * speaks. */
void hearthi_global_collective_take(const struct hearthi_wan_message *ask,
                                    bool                              far);

#endif
