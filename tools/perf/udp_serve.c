/* SPDX-License-Identifier: BSD-2-Clause */
/* The peer's thread: takes orders, and answers all else as ordered.  Only who
 * knows the session's word is answered. */
#define _GNU_SOURCE
#include "udp.h"

#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>

static const double SPIN_MOST = 1e6; /* microseconds without a request */

/* The bytes are those that a scan would bring, from where they lie. */
static void
answer_send(struct perf_udp *u, const struct sockaddr_in *to)
{
    const struct perf_udp_order *o = &u->order;

    for (size_t left = o->answer; left > 0;) {
        size_t some = o->message < left ? o->message : left;

        if (some > PERF_UDP_MOST)
            some = PERF_UDP_MOST / o->each * o->each;
        if (u->at + some > u->bytes)
            u->at = 0;
        perf_udp_send(u->fd, to, u->source + u->at, some, o->each);
        u->at += some;
        left -= some;
    }
}

static ssize_t
request_take(struct perf_udp *u, struct sockaddr_in *from)
{
    double  end = perf_now() + SPIN_MOST;
    ssize_t n = -1;

    while (n < 0) {
        socklen_t size = sizeof *from;
        bool      spin = u->order.spin && perf_now() < end;

        n = recvfrom(u->fd, u->room, sizeof u->room, spin ? MSG_DONTWAIT : 0,
                     (struct sockaddr *)from, &size);
    }
    return n;
}

static bool
order_take(struct perf_udp *u, size_t len)
{
    struct perf_udp_order o;

    if (len != sizeof o)
        return false;
    memcpy(&o, u->room, sizeof o);
    if (o.word != u->order.word)
        return false;
    u->order = o;
    return true;
}

void *
perf_udp_serve(void *udp)
{
    struct perf_udp   *u = udp;
    struct sockaddr_in client = { .sin_family = AF_UNSPEC }, from;
    size_t             got = 0;

    for (;;) {
        size_t n = (size_t)request_take(u, &from);

        if (order_take(u, n)) {
            client = from;
            got = 0;
            perf_udp_send(u->fd, &from, u->room, n, n);
        } else if (from.sin_addr.s_addr == client.sin_addr.s_addr &&
                   from.sin_port == client.sin_port) {
            got += n;
            if (got < u->order.ask)
                continue;
            got = 0;
            answer_send(u, &from);
        }
    }
    return NULL;
}
