/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The homes of this cluster, for ranks of others.  On the gateway's thread.
 */
#ifndef HEARTHI_GATEWAY_HOMES_H
#define HEARTHI_GATEWAY_HOMES_H

#include "wan_message.h"

/* FETCH, KEEP, STORE, READ and ATOMIC. */
void hearthi_gateway_homes_serve(const struct hearthi_wan_message *ask);

#endif
