/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What all ranks of all clusters do together: a barrier, and the exchange of
 * some bytes of each.  A gateway waits for what its own ranks bring, sends it
 * to each other gateway in one message, and when it has one of each gives all
 * of it to its ranks.  On the gateway's thread.
 */
#ifndef HEARTHI_CLUSTERS_ROUND_H
#define HEARTHI_CLUSTERS_ROUND_H

#include <stdbool.h>

#include "ask.h"

void hearthi_rounds_open(void);
void hearthi_rounds_close(void);

/* A handler that is a rank hears no more of it. */
void hearthi_rounds_without(void);

/* From a rank here, or (`far`) from a gateway, in whose name its first rank
 * speaks. */
void hearthi_round_take(const struct hearthi_ask *ask, bool far);

#endif
