/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the servers are, and a hello to one.
 */
#ifndef HEARTHI_UDP_HELLO_H
#define HEARTHI_UDP_HELLO_H

#include <netinet/in.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/network.h"
#include "wire.h"

void hearthi_udp_hello_open(void);
void hearthi_udp_hello_close(void);

/* A rank's addresses, as it has told them: until one of them has answered,
 * hearthi_udp.server has the first. */
void hearthi_udp_ways_set(int rank, const struct hearthi_addresses *all);
void hearthi_udp_ways_text(int rank, char *text, size_t size);

/* A number for a hello, above all that this rank's hellos have had, and unlike
 * those of requests. */
uint64_t hearthi_udp_hello_number(void);

/* Say it to all addresses of m->to. */
void hearthi_udp_hello_send(int fd, struct hearthi_udp_message *m);

/* The address that answered is the one to use, if it is the first. */
void hearthi_udp_hello_heard(const struct hearthi_udp_message *m);

/* Datagrams of full size reach that rank's machine, or are not known to. */
bool hearthi_udp_size_passes(int rank);
void hearthi_udp_size_passed(int rank);

/* May this rank ask that one?  Once true, it stays.  The acquire of
 * hearthi_udp_met() pairs with the release of hearthi_udp_met_set(): what the
 * handshake learnt comes before. */
extern atomic_bool *hearthi_udp_met_with; /* each rank */

static inline bool
hearthi_udp_met(int rank)
{
    return atomic_load_explicit(&hearthi_udp_met_with[rank],
                                memory_order_acquire);
}

void hearthi_udp_met_set(int rank);

/* ---- host_acl.c ---- */

/* Whose datagrams these are: the hosts from which ranks have said hello.  For
 * the service thread. */

void hearthi_udp_acl_open(void);
void hearthi_udp_acl_close(void);

bool hearthi_udp_acl_has(uint32_t rank, const struct sockaddr_in *from);

/* A hello: false if it is not a new one, and means nothing. */
bool hearthi_udp_acl_hello(const struct hearthi_udp_message *m,
                           const struct sockaddr_in         *from);

#endif
