/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The addresses by which other hosts may reach this one, and sockets that
 * receive what is sent to those that other hosts are told of, and nothing
 * else.
 */
#ifndef HEARTHI_NETWORK_H
#define HEARTHI_NETWORK_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

union hearthi_address {
    struct sockaddr     any;
    struct sockaddr_in  v4;
    struct sockaddr_in6 v6;
};

/* As many as are told to others: a host with containers has dozens.  Of one
 * with more than that, the first are told, and a line says so. */
enum { HEARTHI_ADDRESSES = 64 };

struct hearthi_addresses {
    int                   n;
    int                   more; /* that there was no room for */
    uint32_t              mtu; /* the smallest of their networks, or 0 */
    union hearthi_address at[HEARTHI_ADDRESSES];
};

/* Is this a list that HEARTH_NETWORK may give?  "all", or names of interfaces
 * and networks (ADDRESS/BITS) with commas in between. */
bool hearthi_network_good(const char *list);

/* Would such a list take this address of that interface? */
bool hearthi_network_takes(const char *list, const char *interface,
                           const struct sockaddr *a);

/* All addresses of this host, taken or not, as "10.1.0.2 (eth0), ...". */
void hearthi_network_text(char *out, size_t room);

/* Those of HEARTH_NETWORK and of one family, AF_INET or AF_INET6, without
 * port: no loopback, and none that a host on the same link alone can use. */
struct hearthi_addresses hearthi_addresses_of_host(int family);

/* 127.0.0.1. */
struct hearthi_addresses hearthi_addresses_loopback(void);

void hearthi_addresses_port(struct hearthi_addresses *all,
                            in_port_t port); /* in network order */

static inline socklen_t
hearthi_address_size(const union hearthi_address *a)
{
    return a->any.sa_family == AF_INET ? sizeof a->v4 : sizeof a->v6;
}

/* Bind a socket to the addresses, all of one family and at least one, and to a
 * port; 0: one that the system chooses.  The port is put into the addresses.
 * False, with errno: it cannot be. */
bool hearthi_bind(int fd, struct hearthi_addresses *told, unsigned port);

/* A TCP connection that is being made, for who does not wait; -1, with errno:
 * it cannot be. */
int hearthi_connect_begin(const struct sockaddr *to, socklen_t size);

#endif
