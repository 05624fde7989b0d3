/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages inside a node, which go through the memory that its ranks share
 * (node/shm_channel.h).
 */
#ifndef HEARTHI_SHM_MESSAGE_H
#define HEARTHI_SHM_MESSAGE_H

#include <stdbool.h>

#include "wire.h"

/* Collective over the node; `serve` does what another of its ranks asks. */
void hearthi_udp_shm_channel_open(
    void (*serve)(const struct hearthi_udp_message *ask));
void hearthi_udp_shm_channel_close(void);

/* Do ranks of this node share memory for messages? */
bool hearthi_udp_shm_channel_used(void);

/* Another rank, whose messages go through shared memory? */
bool hearthi_udp_is_local(int rank);

/* Send a request, and take its answer, which is valid until the slot's next
 * request. */
void hearthi_udp_shm_channel_ask(const struct hearthi_udp_message *ask);
void hearthi_udp_shm_channel_answer(unsigned                    slot,
                                    struct hearthi_udp_message *answer);

/* Answer one. */
void hearthi_udp_shm_channel_grant(const struct hearthi_udp_message *m);

#endif
