/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks that stay with a rank, for their manager.  With the mutex of the
 * servers, but for what says otherwise.
 */
#ifndef HEARTHI_UDP_DELEGATION_H
#define HEARTHI_UDP_DELEGATION_H

#include <stdint.h>

#include "sync_object.h"
#include "wire.h"

void hearthi_udp_delegations_open(void);

/* A peer would keep the lock that it holds; and from now on it stays with
 * this rank + 1, or with none. */
void hearthi_udp_delegation_begin(struct hearthi_udp_sync_object *o,
                                  uint32_t                        peer);
void hearthi_udp_delegation_set(struct hearthi_udp_sync_object *o,
                                uint32_t                        keeper);

/* Somebody waits for one that stays. */
void hearthi_udp_delegation_recall(struct hearthi_udp_sync_object *o);

/* A try does not get it. */
void hearthi_udp_refuse(uint32_t peer);

/* What another server says of a lock that stays; and, without the mutex, send
 * what is due: when there will be more. */
void     hearthi_udp_recalled(const struct hearthi_udp_message *m);
uint64_t hearthi_udp_recall_again(void);

#endif
