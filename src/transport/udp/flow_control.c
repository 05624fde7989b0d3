/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Flow control: how much may be on its way to a home, so that the bursts of
 * many clients at a barrier fit its receive buffer.
 *
 * Half of the room is for first shares, one for each client, with which its
 * burst begins: that all may use at the same time.  With each grant of a diff
 * the home says what it can take from this client now: the first share and a
 * part of a quarter of the room, as it has not given it to others that have
 * sent lately.  What is taken back from a client may be on its way still; that
 * is what the last quarter is for.
 */
#include "config.h"

#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "base/clock.h"
#include "base/report.h"
#include "cluster.h"
#include "flow_control.h"
#include "udp_job.h"

/* The kernel counts a datagram with its own data: with 768 bytes at least, and
 * half as much again for one of Ethernet's size. */
static size_t
cost(size_t bytes)
{
    return 1024 + bytes + bytes / 2;
}

/* Of this rank, at each home.  Its threads may overwrite what one was told: it
 * is of the same time. */
static struct flow {
    _Atomic size_t                out, allowed;
    _Atomic size_t                way; /* bytes on the network, both ways */
    struct hearthi_udp_congestion network;
} * flows;

static struct {      /* of this home */
    uint64_t since;  /* of the span that counts now */
    uint32_t span;   /* its number */
    uint32_t active; /* clients in it and in the one before */
    size_t   given;  /* of the quarter */
    struct client {
        uint32_t span; /* in which it has sent */
        uint32_t given;
    } * client; /* of each rank */
} at_home;

enum { SPAN_NS = 10000000 };

static size_t
first_share(void)
{
    int clients = hearthi_cluster.size - hearthi_cluster.node_size;

    return hearthi_udp.room / 2 / (size_t)(clients > 0 ? clients : 1);
}

void
hearthi_udp_flows_open(void)
{
    size_t n = (size_t)hearthi_cluster.size;

    memset(&at_home, 0, sizeof at_home);
    at_home.span = 2; /* no rank has sent in the two before */
    flows = calloc(n, sizeof *flows);
    at_home.client = calloc(n, sizeof *at_home.client);
    if (flows == NULL || at_home.client == NULL)
        hearthi_fatal("hearth_init", "no memory");
    for (size_t i = 0; i < n; i++) {
        flows[i].allowed = first_share();
        hearthi_udp_congestion_open(
            &flows[i].network,
            (uint32_t)(HEARTHI_UDP_HEAD + hearthi_udp.fragment));
    }
}

void
hearthi_udp_flows_close(void)
{
    free(flows);
    free(at_home.client);
}

bool
hearthi_udp_flow_may(uint32_t home, size_t bytes)
{
    const struct flow *p = &flows[home];

    return p->out + cost(bytes) <= p->allowed;
}

void
hearthi_udp_flow_sent(uint32_t home, size_t bytes)
{
    flows[home].out += cost(bytes);
}

void
hearthi_udp_flow_done(uint32_t home, size_t bytes, size_t told)
{
    struct flow *p = &flows[home];

    if (atomic_fetch_sub(&p->out, cost(bytes)) == cost(bytes))
        p->allowed = first_share();
    else if (told > 0)
        p->allowed = told;
}

/* ---- the network ---- */

struct hearthi_udp_congestion *
hearthi_udp_flow_network(uint32_t rank)
{
    return &flows[rank].network;
}

/* Relaxed: a size, which stands for itself. */
size_t
hearthi_udp_flow_window(uint32_t rank)
{
    return atomic_load_explicit(&flows[rank].network.size,
                                memory_order_relaxed);
}

size_t
hearthi_udp_flow_left(uint32_t rank)
{
    size_t size = hearthi_udp_flow_window(rank), way = flows[rank].way;

    return way < size ? size - way : 0;
}

void
hearthi_udp_flow_put(uint32_t rank, size_t bytes)
{
    flows[rank].way += bytes;
}

void
hearthi_udp_flow_came(uint32_t rank, size_t bytes)
{
    size_t way = atomic_fetch_sub(&flows[rank].way, bytes);

    hearthi_udp_congestion_grow(&flows[rank].network, bytes, way);
}

void
hearthi_udp_flow_lost(uint32_t rank, size_t bytes)
{
    flows[rank].way -= bytes;
}

/* ---- at the home ---- */

/* A client that has not sent for two spans has none of it any more. */
static void
span_begin(uint64_t now)
{
    at_home.since = now;
    at_home.span++;
    at_home.active = 0;
    for (int r = 0; r < hearthi_cluster.size; r++) {
        struct client *c = &at_home.client[r];

        if (at_home.span - c->span < 2) {
            at_home.active++;
        } else {
            at_home.given -= c->given;
            c->given = 0;
        }
    }
}

uint32_t
hearthi_udp_flow_share(uint32_t rank)
{
    struct client *c = &at_home.client[rank];
    uint64_t       now = hearthi_now();
    size_t         pool = hearthi_udp.room / 4, share, left;

    if (now - at_home.since >= SPAN_NS)
        span_begin(now);
    if (at_home.span - c->span >= 2)
        at_home.active++;
    c->span = at_home.span;
    share = pool / at_home.active;
    left = pool - (at_home.given - c->given);
    share = share < left ? share : left;
    at_home.given += share - c->given;
    c->given = (uint32_t)share;
    return (uint32_t)(first_share() + share);
}
