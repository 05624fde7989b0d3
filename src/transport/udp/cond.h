/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Condition variables.
 */
#ifndef HEARTHI_TRANSPORT_UDP_COND_H
#define HEARTHI_TRANSPORT_UDP_COND_H

#include <stdbool.h>
#include <stdint.h>

#include "sync_object.h"
#include "wire.h"

/* As the transport's cond_enter and so on (transport.h). */
uint64_t hearthi_udp_cond_enter(int sync);
void     hearthi_udp_cond_wait(int sync, uint64_t place);
void     hearthi_udp_cond_wake(int sync, bool all);

/* For the manager: what a peer asks. */
void hearthi_udp_cond_serve(struct hearthi_udp_sync_object *o, uint32_t peer,
                            const struct hearthi_udp_message *m);

#endif
