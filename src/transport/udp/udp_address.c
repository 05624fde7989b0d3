/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Addresses go round at the start, and some ranks are met.
 */
#include "config.h"

#include <stdlib.h>
#include <sys/socket.h>

#include "base/network.h"
#include "base/option.h"
#include "client.h"
#include "cluster.h"
#include "peer_handshake.h"
#include "rendezvous.h"
#include "socket.h"
#include "udp.h"
#include "udp_hello.h"
#include "udp_job.h"
#include "wire.h"

enum { HEADERS = 28 }; /* IPv4's and UDP's */

struct card { /* goes round at start */
    struct hearthi_addresses all;
    uint32_t                 room;
};

static size_t mtu;

/* This rank's addresses, and the smallest MTU of their networks. */
static struct card
card_make(int fd)
{
    struct sockaddr_in own = hearthi_udp_address_of(fd);
    struct card        c = { .room = (uint32_t)hearthi_udp_room(fd) };

    c.all = hearthi_udp.told;
    if (c.all.mtu == 0)
        c.all.mtu = HEARTHI_UDP_DATAGRAM + HEADERS;
    hearthi_addresses_port(&c.all, own.sin_port);
    return c;
}

int
hearthi_udp_cards_exchange(void)
{
    size_t      port = hearthi_opt.udp_port;
    struct card mine, *cards;
    int         fd;

    if (port != 0)
        port += (size_t)hearthi_cluster.machine_rank;
    hearthi_udp.told = hearthi_rendezvous_addresses(AF_INET);
    fd = hearthi_udp_socket((unsigned)port);
    mine = card_make(fd);
    hearthi_udp_hello_open();
    cards = hearthi_rendezvous_all(&mine, sizeof mine);
    mtu = mine.all.mtu;
    hearthi_udp.room = mine.room;
    for (int r = 0; r < hearthi_cluster.size; r++) {
        hearthi_udp_ways_set(r, &cards[r].all);
        if (cards[r].all.mtu < mtu)
            mtu = cards[r].all.mtu;
        if (cards[r].room < hearthi_udp.room)
            hearthi_udp.room = cards[r].room;
    }
    free(cards);
    return fd;
}

size_t
hearthi_udp_mtu(void)
{
    return mtu - HEADERS;
}

/* ---- which ranks to meet at the start ---- */

/* Those 1, 2, 4, ... ranks on: so that each way between hosts of a small job
 * is tried, many of those of a large one, and the next rank is met, which
 * liveness_probe.c asks.  And this rank itself, for an address at which its
 * service thread can be told to end. */
void
hearthi_udp_hello(void)
{
    struct hearthi_udp_client *c = hearthi_udp_client_take();
    int                        rank[HEARTHI_UDP_HANDSHAKES_MOST];
    unsigned                   n = 0;

    rank[n++] = hearthi_cluster.rank;
    for (int step = 1; step < hearthi_cluster.size; step *= 2)
        rank[n++] = (hearthi_cluster.rank + step) % hearthi_cluster.size;
    hearthi_udp_handshake_first(&c->in, c->slot, rank, n);
    hearthi_udp_client_give(c);
}
