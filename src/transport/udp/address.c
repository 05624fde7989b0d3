/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the servers are.  A host may have several addresses, and another host
 * may reach only some of them: each rank says hello to all addresses of each
 * server at start, and uses the one from which the first answer came.
 */
#include "config.h"

#include <arpa/inet.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "address.h"
#include "base/clock.h"
#include "base/network.h"
#include "base/option.h"
#include "base/report.h"
#include "client.h"
#include "front/direct.h"
#include "inbox.h"
#include "job.h"
#include "life/life.h"
#include "socket.h"
#include "wire.h"
#include "world.h"

enum { HEADERS = 28 }; /* IPv4's and UDP's */

static const uint64_t hello_ns = 5000000000, again_ns = 20000000;

struct card { /* goes round at start */
    struct hearthi_addresses all;
    uint32_t                 room, first; /* first: of its machine */
};

static struct card *cards;
static size_t       mtu;

/* This rank's addresses, and the smallest MTU of their networks. */
static struct card
card_make(int fd)
{
    struct sockaddr_in own = hearthi_udp_address_of(fd);
    struct card        c = { .room = (uint32_t)hearthi_udp_room(fd),
                             .first = hearthi_world.machine_rank == 0 };

    c.all = hearthi_one_machine() ? hearthi_addresses_loopback()
                                  : hearthi_addresses_of_host(AF_INET);
    if (c.all.mtu == 0)
        c.all.mtu = HEARTHI_UDP_DATAGRAM + HEADERS;
    hearthi_addresses_port(&c.all, own.sin_port);
    return c;
}

static int
server_socket(void)
{
    size_t port = hearthi_opt.udp_port;

    if (port != 0)
        port += (size_t)hearthi_world.machine_rank;
    return hearthi_udp_socket((unsigned)port);
}

int
hearthi_udp_cards_exchange(void)
{
    int         fd = server_socket();
    struct card mine = card_make(fd);
    size_t      n = (size_t)hearthi_world.size;

    cards = calloc(n, sizeof *cards);
    hearthi_udp.server = calloc(n, sizeof *hearthi_udp.server);
    if (cards == NULL || hearthi_udp.server == NULL)
        hearthi_fatal("hearth_init", "no memory");
    HEARTHI_MPI(MPI_Allgather(&mine, sizeof mine, MPI_BYTE, cards, sizeof mine,
                              MPI_BYTE, hearthi_world.comm));
    mtu = mine.all.mtu;
    hearthi_udp.room = mine.room;
    for (size_t r = 0; r < n; r++) {
        hearthi_udp.server[r] = cards[r].all.at[0].v4;
        if (cards[r].all.mtu < mtu)
            mtu = cards[r].all.mtu;
        if (cards[r].room < hearthi_udp.room)
            hearthi_udp.room = cards[r].room;
    }
    return fd;
}

size_t
hearthi_udp_mtu(void)
{
    return mtu - HEADERS;
}

/* ---- hello ---- */

/* One round of it. */
struct hello {
    struct hearthi_udp_client *c;
    size_t                     len; /* of the body */
    uint32_t                   seq;
    uint64_t                   next, end; /* again, and too late */
    int                        left;
    bool                      *heard; /* from each rank */
};

static void
hello_send(const struct hello *h, int rank)
{
    static uint8_t             nothing[HEARTHI_UDP_DATAGRAM];
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_BCAST,
                                     .from = (uint32_t)hearthi_world.rank,
                                     .to = (uint32_t)rank,
                                     .slot = h->c->slot,
                                     .seq = h->seq,
                                     .body = nothing,
                                     .body_len = h->len };

    for (m.at = 0; m.at < (uint64_t)cards[rank].all.n; m.at++)
        hearthi_udp_send(h->c->in.fd, &cards[rank].all.at[m.at].v4, &m, NULL);
}

static void
unheard(const struct hello *h, int rank)
{
    char     all[20 * HEARTHI_ADDRESSES] = "", mine[64] = "";
    int      me = hearthi_world.rank;
    unsigned port = ntohs(cards[rank].all.at[0].v4.sin_port);

    for (int i = 0; i < cards[rank].all.n; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 i > 0 ? ", " : "",
                 inet_ntoa(cards[rank].all.at[i].v4.sin_addr));
    snprintf(mine, sizeof mine, "%s",
             inet_ntoa(cards[me].all.at[0].v4.sin_addr));
    if (h->len > 0)
        hearthi_life_gone(
            rank, "hearth_init",
            "rank %d at %s, port %u, answers over UDP, but not to "
            "datagrams of %zu bytes from rank %d at %s: lower "
            "HEARTH_UDP_DATAGRAM to what the network passes",
            rank, all, port, h->len + HEARTHI_UDP_HEAD, me, mine);
    hearthi_life_gone(
        rank, "hearth_init",
        "no answer over UDP from rank %d at %s, port %u, to rank %d "
        "at %s: let a firewall pass UDP (HEARTH_UDP_PORT fixes the "
        "ports), or use HEARTH_TRANSPORT=mpi",
        rank, all, port, me, mine);
}

static void
hello_heard(struct hello *h, const struct hearthi_udp_message *m)
{
    struct hearthi_addresses *card = &cards[m->from].all;

    if (m->op != HEARTHI_UDP_NULL || m->slot != h->c->slot ||
        m->seq != h->seq || m->at >= (uint64_t)card->n || h->heard[m->from])
        return;
    h->heard[m->from] = true;
    h->left--;
    card->at[0] = card->at[m->at];
    card->n = 1;
    hearthi_udp.server[m->from] = card->at[0].v4;
}

/* Ask all that have not answered, until all have. */
static void
hello_all(struct hello *h)
{
    struct hearthi_udp_message m;
    struct sockaddr_in         from;

    while (h->left > 0) {
        uint64_t now = hearthi_now();
        int      r = 0;

        while (h->heard[r])
            r++;
        if (now > h->end)
            unheard(h, r);
        for (; now >= h->next && r < hearthi_world.size; r++)
            if (!h->heard[r])
                hello_send(h, r);
        if (now >= h->next)
            h->next = now + again_ns;
        if (hearthi_udp_receive(&h->c->in, h->next, &m, &from))
            hello_heard(h, &m);
    }
}

/* Numbers that the client's requests do not have, which begin with 1: answers
 * may come late. */
void
hearthi_udp_hello(void)
{
    int          size = hearthi_world.size;
    struct hello h = { .c = hearthi_udp_client_take(),
                       .end = hearthi_now() + hello_ns,
                       .left = size,
                       .heard = calloc((size_t)size, 1) };

    if (h.heard == NULL)
        hearthi_fatal("hearth_init", "no memory");
    hello_all(&h);
    if (!hearthi_one_machine() && cards[hearthi_world.rank].first) {
        h.len = hearthi_udp.fragment;
        h.seq = UINT32_MAX;
        h.next = 0;
        for (int r = 0; r < size; r++) {
            h.heard[r] = !cards[r].first;
            h.left += cards[r].first;
        }
        hello_all(&h);
    }
    hearthi_udp_client_give(h.c);
    free(h.heard);
    HEARTHI_MPI(MPI_Barrier(hearthi_world.comm));
    free(cards);
    cards = NULL;
}
