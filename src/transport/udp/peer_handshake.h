/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Handshakes: a hello that is answered, before the first request.
 */
#ifndef HEARTHI_PEER_HANDSHAKE_H
#define HEARTHI_PEER_HANDSHAKE_H

#include <stdint.h>

#include "datagram_rx.h"
#include "udp_hello.h"

/* Some ranks at the start, by a client's socket and slot; a rank that does not
 * answer ends the job. */
enum { HEARTHI_UDP_HANDSHAKES_MOST = 32 };
void hearthi_udp_handshake_first(struct hearthi_udp_rx *in, uint16_t slot,
                                 const int *rank, unsigned n);

/* One that was not met yet, when it is needed; `what` is the call. */
void hearthi_udp_handshake_now(struct hearthi_udp_rx *in, uint16_t slot,
                               int rank, const char *what);

static inline void
hearthi_udp_handshake(struct hearthi_udp_rx *in, uint16_t slot, int rank,
                      const char *what)
{
    if (!hearthi_udp_met(rank))
        hearthi_udp_handshake_now(in, slot, rank, what);
}

#endif
