/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the servers are.
 */
#ifndef HEARTHI_UDP_ADDRESS_H
#define HEARTHI_UDP_ADDRESS_H

#include <stddef.h>

/* Tell all ranks of all servers, and how large a datagram may be; and meet
 * some ranks.  Collective; the service thread runs between the
 * two. */
int    hearthi_udp_cards_exchange(void); /* gives the server's socket */
size_t hearthi_udp_mtu(void);
void   hearthi_udp_hello(void);

#endif
