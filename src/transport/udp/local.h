/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages inside a node, which go through shared memory.
 */
#ifndef HEARTHI_TRANSPORT_UDP_LOCAL_H
#define HEARTHI_TRANSPORT_UDP_LOCAL_H

#include <stdbool.h>

#include "wire.h"

/* Collective over the node; `serve` does what another of its ranks asks. */
void
hearthi_udp_local_open(void (*serve)(const struct hearthi_udp_message *ask));
void hearthi_udp_local_close(void);

/* Do ranks of this node share memory for messages? */
bool hearthi_udp_local_used(void);

/* Another rank, whose messages go through shared memory? */
bool hearthi_udp_is_local(int rank);

/* Send a request, and take its answer, which is valid until the slot's next
 * request. */
void hearthi_udp_local_ask(const struct hearthi_udp_message *ask);
void hearthi_udp_local_answer(unsigned                    slot,
                              struct hearthi_udp_message *answer);

/* Answer one. */
void hearthi_udp_local_grant(const struct hearthi_udp_message *m);

#endif
