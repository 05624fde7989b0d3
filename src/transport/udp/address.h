/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the servers are.
 */
#ifndef HEARTHI_TRANSPORT_UDP_ADDRESS_H
#define HEARTHI_TRANSPORT_UDP_ADDRESS_H

#include <stddef.h>

/* Fill hearthi_udp.server with addresses that were heard from, and say how
 * large a datagram may be.  Collective; the service thread runs between the
 * two. */
int    hearthi_udp_cards_exchange(void); /* gives the server's socket */
size_t hearthi_udp_mtu(void);
void   hearthi_udp_hello(void);

#endif
