/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bare UDP sockets: addresses, a hello, and sending.
 *
 * On one machine that is the loopback.  Else the peer names all addresses of
 * its host, and the actor takes the one from which the first answer to its
 * hello came, as Hearth does; the loopback comes last.
 */
#define _GNU_SOURCE
#include "udp.h"

#include <arpa/inet.h>
#include <errno.h>
#include <ifaddrs.h>
#include <net/if.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/random.h>
#include <sys/socket.h>
#include <unistd.h>

enum {
    ADDRESSES = 8,
    BUFFER = 4 << 20,
    HEADERS = 28, /* IPv4's and UDP's */
    HELLOS = 50,
    HELLO_MS = 100,
    TOGETHER = 64 /* datagrams of one call, the kernel's bound */
};

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103 /* Linux 4.18 */
#endif

/* What the peer tells the actor, and the actor finds out about itself. */
struct card {
    uint64_t           word;
    uint32_t           count;
    uint32_t           mtu; /* the smallest of the host's networks */
    uint32_t           one_machine;
    struct sockaddr_in at[ADDRESSES];
};

void
perf_udp_fail(const char *format, ...)
{
    va_list args;

    va_start(args, format);
    fprintf(stderr, "hearth-perf: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "\n");
    va_end(args);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

/* ---- addresses ---- */

static uint32_t
mtu_of(int fd, const char *name)
{
    struct ifreq r = { .ifr_mtu = 0 };

    snprintf(r.ifr_name, sizeof r.ifr_name, "%s", name);
    if (ioctl(fd, SIOCGIFMTU, &r) != 0 || r.ifr_mtu < 576)
        return 576;
    return (uint32_t)r.ifr_mtu;
}

static void
address_take(struct card *c, int fd, const struct ifaddrs *i)
{
    const unsigned up = IFF_UP | IFF_RUNNING;
    uint32_t       mtu;

    if (c->count == ADDRESSES - 1 || !i->ifa_addr ||
        i->ifa_addr->sa_family != AF_INET || (i->ifa_flags & up) != up ||
        (i->ifa_flags & IFF_LOOPBACK))
        return;
    memcpy(&c->at[c->count++], i->ifa_addr, sizeof c->at[0]);
    mtu = mtu_of(fd, i->ifa_name);
    if (mtu < c->mtu)
        c->mtu = mtu;
}

static bool
one_machine(const struct perf *p)
{
    MPI_Comm machine;
    int      size;

    MPI_Comm_split_type(p->raw.comm, MPI_COMM_TYPE_SHARED, 0, MPI_INFO_NULL,
                        &machine);
    MPI_Comm_size(machine, &size);
    MPI_Comm_free(&machine);
    return size == p->size;
}

static struct card
card_make(const struct perf *p)
{
    struct card        c = { .mtu = PERF_UDP_MOST + HEADERS };
    struct sockaddr_in own;
    socklen_t          size = sizeof own;
    struct ifaddrs    *all;

    c.one_machine = one_machine(p);
    if (getsockname(p->udp->fd, (struct sockaddr *)&own, &size) != 0)
        perf_udp_fail("a socket has no address: %s", strerror(errno));
    if (!c.one_machine && getifaddrs(&all) == 0) {
        for (const struct ifaddrs *i = all; i; i = i->ifa_next)
            address_take(&c, p->udp->fd, i);
        freeifaddrs(all);
    }
    c.at[c.count].sin_family = AF_INET;
    c.at[c.count++].sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    for (uint32_t i = 0; i < c.count; i++)
        c.at[i].sin_port = own.sin_port;
    if (getrandom(&c.word, sizeof c.word, 0) != sizeof c.word)
        perf_udp_fail("no random number: %s", strerror(errno));
    return c;
}

/* ---- hello ---- */

static _Noreturn void
unheard(const struct perf *p, const struct card *c)
{
    char all[256] = "";

    for (uint32_t i = 0; i < c->count; i++)
        snprintf(all + strlen(all), sizeof all - strlen(all), "%s%s",
                 i > 0 ? ", " : "", inet_ntoa(c->at[i].sin_addr));
    perf_udp_fail("no answer over UDP from rank %d at %s, port %u: does a "
                  "firewall stop it?",
                  p->peer, all, ntohs(c->at[0].sin_port));
}

/* An order that asks for nothing; its number is that of the address. */
static void
hello(struct perf *p, const struct card *c)
{
    struct perf_udp      *u = p->udp;
    struct perf_udp_order order = { .word = c->word }, back;
    struct timeval        wait = { .tv_usec = HELLO_MS * 1000 };

    setsockopt(u->fd, SOL_SOCKET, SO_RCVTIMEO, &wait, sizeof wait);
    for (int i = 0; i < HELLOS; i++) {
        for (order.number = 0; order.number < c->count; order.number++)
            sendto(u->fd, &order, sizeof order, 0,
                   (const struct sockaddr *)&c->at[order.number],
                   sizeof c->at[0]);
        if (recv(u->fd, &back, sizeof back, 0) != sizeof back ||
            back.word != c->word || back.number >= c->count)
            continue;
        u->server = c->at[back.number];
        order.number = c->count; /* late answers have lower ones */
        u->order = order;
        return;
    }
    unheard(p, c);
}

/* ---- start and end ---- */

static int
socket_open(size_t *buffer)
{
    struct sockaddr_in any = { .sin_family = AF_INET };
    int                fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int                bytes = BUFFER;
    socklen_t          size = sizeof bytes;

    if (fd < 0 || bind(fd, (struct sockaddr *)&any, sizeof any) != 0)
        perf_udp_fail("no UDP socket: %s", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, sizeof bytes);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &bytes, sizeof bytes);
    getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &bytes, &size);
    *buffer = (size_t)bytes;
    return fd;
}

/* As Hearth chooses it: what the user says, or what the networks take. */
static size_t
datagram_choose(uint32_t mine, uint32_t theirs)
{
    const char *option = hearth_option("udp_datagram");
    size_t      most = option ? strtoul(option, NULL, 10) : 0;

    if (most == 0)
        most = (mine < theirs ? mine : theirs) - HEADERS;
    if (most > PERF_UDP_MOST)
        most = PERF_UDP_MOST;
    return ((most - PERF_UDP_HEAD) & ~(size_t)7) + PERF_UDP_HEAD;
}

void
perf_udp_open(struct perf *p)
{
    struct card card = { .count = 0 }, own;

    if (p->peer < 0 || p->transport != PERF_OVER_UDP)
        return;
    p->udp = calloc(1, sizeof *p->udp);
    if (!p->udp)
        abort();
    p->udp->fd = socket_open(&p->udp->buffer);
    p->udp->thread = pthread_self();
    own = card_make(p);
    if (perf_is_peer(p)) {
        card = own;
        p->udp->order.word = card.word;
        p->udp->source = p->raw.target;
        p->udp->bytes = p->raw.bytes;
        if (pthread_create(&p->udp->thread, NULL, perf_udp_serve, p->udp))
            perf_udp_fail("no thread for the bare UDP server");
    }
    MPI_Bcast(&card, sizeof card, MPI_BYTE, p->peer, p->raw.comm);
    p->udp->datagram = datagram_choose(own.mtu, card.mtu);
    if (perf_acting(p))
        hello(p, &card);
    perf_meet(p);
}

void
perf_udp_close(struct perf *p)
{
    if (!p->udp)
        return;
    perf_meet(p);
    if (perf_is_peer(p)) {
        pthread_cancel(p->udp->thread); /* recvfrom is where it ends */
        pthread_join(p->udp->thread, NULL);
    }
    close(p->udp->fd);
    free(p->udp);
    p->udp = NULL;
}

void
perf_udp_pin(const struct perf *p, bool pinned)
{
    cpu_set_t set = p->cores;

    if (pinned)
        perf_core(p, &set);
    if (perf_acting(p) || perf_is_peer(p))
        pthread_setaffinity_np(p->udp->thread, sizeof set, &set);
}

/* ---- sending ---- */

static bool
send_together(int fd, struct msghdr *h, size_t each)
{
    union {
        struct cmsghdr align;
        char           room[CMSG_SPACE(sizeof(uint16_t))];
    } control = { .room = { 0 } };
    uint16_t        size = (uint16_t)each;
    struct cmsghdr *c;
    ssize_t         n;

    h->msg_control = control.room;
    h->msg_controllen = sizeof control.room;
    c = CMSG_FIRSTHDR(h);
    c->cmsg_level = IPPROTO_UDP;
    c->cmsg_type = UDP_SEGMENT;
    c->cmsg_len = CMSG_LEN(sizeof size);
    memcpy(CMSG_DATA(c), &size, sizeof size);
    n = sendmsg(fd, h, 0);
    h->msg_control = NULL;
    h->msg_controllen = 0;
    return n >= 0 || errno == ENOBUFS; /* counts as lost */
}

void
perf_udp_send(int fd, const struct sockaddr_in *to, const char *data,
              size_t len, size_t each)
{
    static bool   alone; /* the kernel cannot; one thread of a process sends */
    size_t        count = PERF_UDP_MOST / each;
    size_t        most = each * (count < TOGETHER ? count : TOGETHER);
    struct iovec  part = { .iov_base = (void *)(uintptr_t)data };
    struct msghdr h = { .msg_name = (void *)(uintptr_t)to,
                        .msg_namelen = sizeof *to,
                        .msg_iov = &part,
                        .msg_iovlen = 1 };

    for (size_t at = 0; at < len; at += part.iov_len) {
        size_t left = len - at;

        part.iov_len = left < most ? left : most;
        if (!alone && part.iov_len > each) {
            if (send_together(fd, &h, each))
                continue;
            alone = true;
        }
        part.iov_len = left < each ? left : each;
        sendmsg(fd, &h, 0);
    }
}
