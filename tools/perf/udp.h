/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * The raw side of the udp transport: bare UDP sockets, a thread at the peer
 * that blocks in recvfrom and answers, and a client at the actor that blocks
 * in recv.  Nothing of Hearth is used, but datagrams are cut as Hearth cuts
 * them.  It is there when the transport is udp and there is a peer.
 */
#ifndef PERF_UDP_H
#define PERF_UDP_H

#include "perf.h"

#include <netinet/in.h>
#include <pthread.h>

enum {
    PERF_UDP_HEAD = 48,  /* bytes of a datagram of Hearth's before its body */
    PERF_UDP_ASK = 16,   /* bytes of body in a request for a page */
    PERF_UDP_MOST = 61440 + PERF_UDP_HEAD, /* of a datagram of Hearth's */
    PERF_UDP_ROOM = 65536
};

/* What the server is to do from now on.  Every other datagram is a part of a
 * request, and all of a request of `ask` bytes is answered by `answer` bytes,
 * in messages of `message` bytes, each in datagrams of `each`. */
struct perf_udp_order {
    uint64_t word;   /* the session's */
    uint32_t number; /* the server sends the order back */
    uint32_t ask, answer, message, each;
    uint32_t spin; /* the server does not block */
};

struct perf_udp {
    int                   fd; /* the actor's client, the peer's server */
    struct sockaddr_in    server;
    size_t                datagram; /* bytes of one, at most */
    size_t                buffer;   /* the kernel's, of either socket */
    struct perf_udp_order order;    /* the last one */
    pthread_t             thread;   /* the client, or the server */
    const char           *source;   /* at the peer: what answers are made of, */
    size_t                bytes, at; /* one part of it after the other */
    char                  room[PERF_UDP_ROOM];
};

/* udp.c */
void perf_udp_open(struct perf *p); /* collective; p->udp stays NULL for mpi */
void perf_udp_close(struct perf *p);
/* Keep client and server on the cores of their ranks, or no longer. */
void perf_udp_pin(const struct perf *p, bool pinned);
/* One line, and the end of the job. */
_Noreturn void perf_udp_fail(const char *format, ...)
    __attribute__((format(printf, 1, 2)));
/* Send so many bytes in datagrams of `each`, several in a call where the
 * kernel can. */
void perf_udp_send(int fd, const struct sockaddr_in *to, const char *data,
                   size_t len, size_t each);

/* udp_serve.c: the thread. */
void *perf_udp_serve(void *udp);

/* udp_ask.c: the actor's side.  A time-out asks again, and does not
 * count; times are microseconds for the whole call. */
enum { PERF_UDP_CHUNK = 50 }; /* turns before the other side has its turn */
enum perf_udp_wait { PERF_UDP_BLOCK, PERF_UDP_SPIN };

struct perf_udp_trips {
    size_t             ask, answer; /* bytes */
    size_t             turns;
    enum perf_udp_wait wait;    /* of both ends */
    double             sending; /* out: how much of the time the calls took */
};
double perf_udp_ping(const struct perf *p, struct perf_udp_trips *t);
/* An empty message of Hearth's there, and one back. */
double perf_udp_empty(const struct perf *p, size_t turns);
/* A request for a page there, and the page back. */
double perf_udp_page(const struct perf *p, size_t turns);
/* So many bytes from the peer, in messages of this size (0: as large as one
 * call takes). */
double perf_udp_stream(const struct perf *p, size_t bytes, size_t message);
/* One recv of a message that is there. */
double perf_udp_receive(const struct perf *p, size_t message);

#endif
