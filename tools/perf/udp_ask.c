/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The actor's side of bare UDP: round trips, streams, and a message that is
 * there already.
 *
 * A datagram may get lost.  After a time-out the server gets its order again,
 * which also drops what is still on its way, and the turn is repeated; its
 * time does not count.
 */
#define _GNU_SOURCE
#include "udp.h"

#include <string.h>
#include <sys/socket.h>

enum {
    TRIES = 50, /* time-outs one after the other before the job ends */
    PIECE = 1 << 20,
    PIECE_LEAST = 16384,
    SMALL = 512, /* about what the kernel keeps besides a datagram */
    THERE = 64,  /* messages that lie there before they are received */
    SETTLE = 3000
};

#ifndef UDP_GRO
#define UDP_GRO 104 /* Linux 5.0 */
#endif

static char zeros[PERF_UDP_ROOM];

/* The bytes of a datagram, or -1 after a time-out.  Late echoes of an order
 * are none. */
static ssize_t
take(struct perf_udp *u, char *to, enum perf_udp_wait wait)
{
    double end = wait == PERF_UDP_SPIN ? perf_now() + 100e3 : 0;

    for (;;) {
        ssize_t n = recv(u->fd, to, PERF_UDP_ROOM,
                         wait == PERF_UDP_SPIN ? MSG_DONTWAIT : 0);

        if (n < 0 && wait == PERF_UDP_SPIN && perf_now() < end)
            continue;
        if (n != sizeof u->order ||
            memcmp(to, &u->order.word, sizeof u->order.word) != 0)
            return n;
    }
}

static void
silent(const struct perf *p)
{
    perf_udp_fail("rank %d does not answer over UDP any more", p->peer);
}

/* Until its echo is here; all that comes before it is of an earlier order. */
static void
order_give(const struct perf *p)
{
    struct perf_udp      *u = p->udp;
    struct perf_udp_order back;

    for (int i = 0; i < TRIES; i++) {
        ssize_t n;

        u->order.number++;
        perf_udp_send(u->fd, &u->server, (const char *)&u->order,
                      sizeof u->order, sizeof u->order);
        while ((n = recv(u->fd, u->room, sizeof u->room, 0)) >= 0) {
            memcpy(&back, u->room, sizeof back);
            if (n == sizeof back && back.word == u->order.word &&
                back.number == u->order.number)
                return;
        }
    }
    silent(p);
}

static void
order_set(const struct perf *p, size_t ask, size_t answer, size_t message,
          enum perf_udp_wait wait)
{
    struct perf_udp *u = p->udp;

    u->order.ask = (uint32_t)ask;
    u->order.answer = (uint32_t)answer;
    u->order.message = (uint32_t)message;
    u->order.each = (uint32_t)(message < u->datagram ? message : u->datagram);
    u->order.spin = wait == PERF_UDP_SPIN;
    order_give(p);
}

/* ---- round trips ---- */

static bool
answer_take(struct perf_udp *u, size_t bytes, enum perf_udp_wait wait)
{
    for (size_t got = 0; got < bytes;) {
        ssize_t n = take(u, u->room, wait);

        if (n < 0)
            return false;
        got += (size_t)n;
    }
    return true;
}

double
perf_udp_ping(const struct perf *p, struct perf_udp_trips *t)
{
    struct perf_udp *u = p->udp;
    double           spent = 0;
    int              lost = 0;

    order_set(p, t->ask, t->answer, t->answer, t->wait);
    t->sending = 0;
    for (size_t i = 0; i < t->turns;) {
        double start = perf_now(), sent;

        perf_udp_send(u->fd, &u->server, zeros, t->ask, u->datagram);
        sent = perf_now();
        if (answer_take(u, t->answer, t->wait)) {
            spent += perf_now() - start;
            t->sending += sent - start;
            lost = 0;
            i++;
        } else if (++lost == TRIES) {
            silent(p);
        } else {
            order_give(p);
        }
    }
    if (t->wait == PERF_UDP_SPIN) /* the server is to sleep again */
        order_set(p, 1, 1, 1, PERF_UDP_BLOCK);
    return spent;
}

double
perf_udp_empty(const struct perf *p, size_t turns)
{
    struct perf_udp_trips t = { .ask = PERF_UDP_HEAD,
                                .answer = PERF_UDP_HEAD,
                                .turns = turns };

    return perf_udp_ping(p, &t);
}

double
perf_udp_page(const struct perf *p, size_t turns)
{
    size_t                body = p->udp->datagram - PERF_UDP_HEAD;
    size_t                heads = (p->page - 1) / body + 1;
    struct perf_udp_trips t = { .ask = PERF_UDP_HEAD + PERF_UDP_ASK,
                                .answer = p->page + heads * PERF_UDP_HEAD,
                                .turns = turns };

    return perf_udp_ping(p, &t);
}

/* ---- streams ---- */

struct stream {
    size_t bytes, message;
    size_t window; /* bytes on their way, at most */
    size_t asked, got;
    int    lost;
};

/* Two pieces of whole messages are on their way. */
static void
stream_order(const struct perf *p, const struct stream *s)
{
    size_t piece = s->window / 2 / s->message * s->message;

    if (piece == 0)
        piece = s->message;
    order_set(p, PERF_UDP_HEAD, piece, s->message, PERF_UDP_BLOCK);
}

static void
stream_ask(struct perf_udp *u, struct stream *s)
{
    size_t piece = u->order.answer;

    while (s->asked < s->bytes &&
           (s->asked == s->got || s->asked + piece - s->got <= s->window)) {
        perf_udp_send(u->fd, &u->server, zeros, PERF_UDP_HEAD, PERF_UDP_HEAD);
        s->asked += piece;
    }
}

/* What was on its way is taken for lost, and less is to be from now on. */
static void
stream_again(const struct perf *p, struct stream *s)
{
    if (++s->lost == TRIES)
        silent(p);
    if (s->window > PIECE_LEAST)
        s->window /= 2;
    s->asked = s->got;
    stream_order(p, s);
}

/* The kernel counts a datagram with its own overhead, so that a quarter of
 * its buffer is what may be asked for, and less of small ones. */
static size_t
window_of(const struct perf_udp *u, size_t message)
{
    size_t each = message < u->datagram ? message : u->datagram;
    size_t most = u->buffer / 4 * each / (each + SMALL);

    return most < 2 * PIECE ? most : 2 * PIECE;
}

/* The bytes come into the buffer of the raw side, as a scan's would. */
double
perf_udp_stream(const struct perf *p, size_t bytes, size_t message)
{
    struct perf_udp *u = p->udp;
    struct stream    s = { .bytes = bytes, .message = message };
    int              together = message == 0 || message > u->datagram;
    double           start;

    if (message == 0)
        s.message = PERF_UDP_MOST / u->datagram * u->datagram;
    s.window = window_of(u, s.message);
    setsockopt(u->fd, IPPROTO_UDP, UDP_GRO, &together, sizeof together);
    stream_order(p, &s);
    start = perf_now();
    while (s.got < s.bytes) {
        size_t  at = s.got % p->raw.bytes;
        ssize_t n;

        if (at > p->raw.bytes - PERF_UDP_ROOM)
            at = 0;
        stream_ask(u, &s);
        n = take(u, p->raw.buffer + at, PERF_UDP_BLOCK);
        if (n < 0) {
            stream_again(p, &s);
            continue;
        }
        s.got += (size_t)n;
        s.lost = 0;
    }
    start = perf_now() - start;
    together = 0;
    setsockopt(u->fd, IPPROTO_UDP, UDP_GRO, &together, sizeof together);
    order_set(p, 1, 1, 1, PERF_UDP_BLOCK); /* drops what is left */
    return start;
}

/* ---- a message that is there ---- */

static void
pass(double us)
{
    double end = perf_now() + us;

    while (perf_now() < end)
        continue;
}

double
perf_udp_receive(const struct perf *p, size_t message)
{
    struct perf_udp *u = p->udp;
    double           start;
    size_t           got;

    for (int i = 0; i < TRIES; i++) {
        order_set(p, 1, THERE * message, message, PERF_UDP_BLOCK);
        perf_udp_send(u->fd, &u->server, zeros, 1, 1);
        pass(SETTLE);
        start = perf_now();
        for (got = 0; got < THERE; got++)
            if (recv(u->fd, u->room, sizeof u->room, MSG_DONTWAIT) < 0)
                break;
        if (got == THERE)
            return (perf_now() - start) / THERE;
    }
    silent(p);
    return 0;
}
