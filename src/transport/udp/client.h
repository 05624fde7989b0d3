/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Clients: a request with its answer.
 */
#ifndef HEARTHI_TRANSPORT_UDP_CLIENT_H
#define HEARTHI_TRANSPORT_UDP_CLIENT_H

#include <stddef.h>
#include <stdint.h>

#include "datagram_rx.h"
#include "timer.h"
#include "transport/transport.h"
#include "wire.h"

struct hearthi_udp_client {
    struct hearthi_udp_rx in;
    uint16_t              slot;
    uint64_t             *seq; /* of the last request to each rank */
};

void hearthi_udp_clients_open(void);
void hearthi_udp_clients_close(void);

/* A client of pages and diffs, slot 0 or that of a way, and any other, to be
 * given back. */
struct hearthi_udp_client *hearthi_udp_bulk(unsigned slot);
struct hearthi_udp_client *hearthi_udp_client_take(void);
void hearthi_udp_client_give(struct hearthi_udp_client *c);

/* A request that is on its way. */
struct hearthi_udp_call {
    struct hearthi_udp_client *client;
    struct hearthi_udp_message ask;
    struct hearthi_udp_timer   timer;
    const char                *what; /* the call, for the line below */
};

/* Send what `ask` says to a rank, and wait for the answer; the client has no
 * other request in between. */
void hearthi_udp_call_begin(struct hearthi_udp_call *call, int rank,
                            const char *what);
void hearthi_udp_call_end(struct hearthi_udp_call    *call,
                          struct hearthi_udp_message *answer);

/* Ask a rank and wait for the answer; `what` is the call, for the line that
 * ends the job.  The answer's body is valid until the client's next call. */
void hearthi_udp_call(struct hearthi_udp_client *c, int rank,
                      struct hearthi_udp_message *ask, const char *what,
                      struct hearthi_udp_message *answer);

/* Send those notices that the last message, which brings the rest, has no
 * room for, in parts that are WTNT: how many they were. */
size_t hearthi_udp_notices_ahead(struct hearthi_udp_client *c, int rank,
                                 struct hearthi_udp_message   part,
                                 const struct hearthi_notice *notice,
                                 size_t count, const char *what);

#endif
