/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sockets: sealed datagrams out, good messages in.
 */
#include "config.h"

#include <errno.h>
#include <netinet/udp.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/report.h"
#include "base/stat.h"
#include "space/heap.h"
#include "udp.h"

enum { BUFFER = 4 << 20 };

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103 /* Linux 4.18 */
#endif

struct hearthi_udp hearthi_udp;

/* The kernel gives as much of the buffer as it may.  A datagram goes without
 * "do not fragment": the size was chosen by the MTU of the hosts, and a router
 * in between with a smaller one makes it slow, not dead. */
int
hearthi_udp_socket(in_addr_t address, unsigned port)
{
    struct sockaddr_in own = { .sin_family = AF_INET,
                               .sin_addr.s_addr = address,
                               .sin_port = htons((uint16_t)port) };
    int                fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int                size = BUFFER, no = IP_PMTUDISC_DONT;

    if (fd < 0)
        hearthi_fatal("hearth_init", "no socket: %s", strerror(errno));
    setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &no, sizeof no);
    if (port > UINT16_MAX ||
        bind(fd, (struct sockaddr *)&own, sizeof own) != 0)
        hearthi_fatal("hearth_init",
                      "UDP port %u cannot be had: %s: give HEARTH_UDP_PORT "
                      "another range, or 0 for any",
                      port,
                      port > UINT16_MAX ? "there is none" : strerror(errno));
    return fd;
}

struct sockaddr_in
hearthi_udp_address_of(int fd)
{
    struct sockaddr_in a;
    socklen_t          size = sizeof a;

    if (getsockname(fd, (struct sockaddr *)&a, &size) != 0)
        hearthi_fatal("hearth_init", "a socket has no address: %s",
                      strerror(errno));
    return a;
}

void
hearthi_udp_inbox_open(struct hearthi_udp_inbox *in, int fd)
{
    in->fd = fd;
    in->buffer = hearthi_sparse(HEARTHI_UDP_DATAGRAM);
    in->trouble = hearthi_udp_trouble_open();
}

void
hearthi_udp_inbox_close(struct hearthi_udp_inbox *in)
{
    close(in->fd);
    hearthi_sparse_free(in->buffer, HEARTHI_UDP_DATAGRAM);
    hearthi_udp_trouble_close(in->trouble);
}

/* ---- sending ---- */

void
hearthi_udp_head(struct hearthi_udp_message *m, uint8_t *head)
{
    m->seal = 0;
    hearthi_udp_encode(m, head);
    m->seal = hearthi_udp_seal(head, m->body, m->body_len);
    memcpy(head, &m->seal, sizeof m->seal);
    hearthi_udp_count_sent(m->op, HEARTHI_UDP_HEAD + m->body_len);
}

static ssize_t
message_send(int fd, const struct msghdr *h)
{
    ssize_t n;

    do
        n = sendmsg(fd, h, MSG_NOSIGNAL);
    while (n < 0 && errno == EINTR);
    return n;
}

void
hearthi_udp_send(int fd, const struct sockaddr_in *to,
                 struct hearthi_udp_message *m, uint8_t *head)
{
    uint8_t       own[HEARTHI_UDP_HEAD];
    struct iovec  part[2] = { { own, sizeof own },
                              { (void *)m->body, m->body_len } };
    struct msghdr h = { .msg_name = (void *)to,
                        .msg_namelen = sizeof *to,
                        .msg_iov = part,
                        .msg_iovlen = m->body_len > 0 ? 2 : 1 };

    hearthi_udp_head(m, own);
    if (head != NULL)
        memcpy(head, own, sizeof own);
    if (message_send(fd, &h) < 0 && errno == EMSGSIZE)
        hearthi_fatal("udp",
                      "the network refuses datagrams of %zu bytes: lower "
                      "HEARTH_UDP_DATAGRAM",
                      sizeof own + m->body_len);
}

/* One call, and one way through most of the kernel, for up to 64 datagrams.
 * A kernel or a device that cannot do that gets them one by one. */
void
hearthi_udp_send_together(int fd, const struct sockaddr_in *to,
                          const uint8_t *data, size_t len, size_t each)
{
    static bool   alone; /* of the service thread only */
    union {
        struct cmsghdr align;
        char           room[CMSG_SPACE(sizeof(uint16_t))];
    } control = { .room = { 0 } };
    struct iovec    part = { (void *)data, len };
    struct msghdr   h = { .msg_name = (void *)to,
                          .msg_namelen = sizeof *to,
                          .msg_iov = &part,
                          .msg_iovlen = 1,
                          .msg_control = control.room,
                          .msg_controllen = sizeof control.room };
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    uint16_t        size = (uint16_t)each;

    c->cmsg_level = IPPROTO_UDP;
    c->cmsg_type = UDP_SEGMENT;
    c->cmsg_len = CMSG_LEN(sizeof size);
    memcpy(CMSG_DATA(c), &size, sizeof size);
    if (len > each && !alone) {
        if (message_send(fd, &h) >= 0 || errno == EAGAIN || errno == ENOBUFS)
            return;
        alone = true;
    }
    h.msg_control = NULL;
    h.msg_controllen = 0;
    for (size_t at = 0; at < len; at += each) {
        part.iov_base = (void *)(data + at);
        part.iov_len = len - at < each ? len - at : each;
        message_send(fd, &h);
    }
}

void
hearthi_udp_send_again(int fd, const struct sockaddr_in *to,
                       const uint8_t *datagram, size_t len)
{
    hearthi_count(resends, 1);
    sendto(fd, datagram, len, MSG_NOSIGNAL, (const struct sockaddr *)to,
           sizeof *to);
}

/* ---- receiving ---- */

/* False when `end` has come. */
static bool
readable_wait(int fd, uint64_t end)
{
    struct pollfd   p = { .fd = fd, .events = POLLIN };
    struct timespec most;
    uint64_t        now = hearthi_now(), left;

    if (end == UINT64_MAX) {
        ppoll(&p, 1, NULL, NULL);
        return true;
    }
    if (now >= end)
        return false;
    left = end - now;
    most = (struct timespec){ .tv_sec = (time_t)(left / 1000000000),
                              .tv_nsec = (long)(left % 1000000000) };
    ppoll(&p, 1, &most, NULL);
    return true;
}

/* One datagram, its body in place if it fits, else behind the head in the
 * buffer.  Gives its length, or -1 if there is none. */
static ssize_t
datagram_take(struct hearthi_udp_inbox *in, struct hearthi_udp_place place,
              const uint8_t **body, struct sockaddr_in *from)
{
    uint8_t      *behind = in->buffer + HEARTHI_UDP_HEAD;
    size_t        room = HEARTHI_UDP_DATAGRAM - HEARTHI_UDP_HEAD;
    struct iovec  part[3] = { { in->buffer, HEARTHI_UDP_HEAD },
                              { place.at, place.len },
                              { behind + place.len, room - place.len } };
    struct msghdr h = { .msg_name = from,
                        .msg_namelen = sizeof *from,
                        .msg_iov = part,
                        .msg_iovlen = 3 };
    ssize_t       n;

    n = recvmsg(in->fd, &h, MSG_DONTWAIT);
    *body = place.len > 0 ? place.at : behind;
    if (n < 0 || place.len == 0 ||
        (size_t)n <= HEARTHI_UDP_HEAD + place.len)
        return n < 0 ? -1 : h.msg_flags & MSG_TRUNC ? 0 : n;
    memcpy(behind, place.at, place.len);
    *body = behind;
    return h.msg_flags & MSG_TRUNC ? 0 : n;
}

/* The same through the trouble that was ordered. */
static ssize_t
datagram_trouble(struct hearthi_udp_inbox *in, const uint8_t **body,
                 struct sockaddr_in *from)
{
    const struct hearthi_udp_place none = { NULL, 0 };
    size_t  held = hearthi_udp_trouble_take(in->trouble, in->buffer, from);
    ssize_t n;

    *body = in->buffer + HEARTHI_UDP_HEAD;
    if (held > 0)
        return (ssize_t)held;
    do
        n = datagram_take(in, none, body, from);
    while (n >= 0 && !hearthi_udp_trouble_pass(in->trouble, in->buffer,
                                               (size_t)n, from));
    return n;
}

static bool
message_good(const uint8_t *head, const uint8_t *body, size_t len,
             struct hearthi_udp_message *m)
{
    enum hearthi_udp_reason why;

    why = hearthi_udp_decode_parts(head, body, len, &hearthi_udp.limits, m);
    if (why == HEARTHI_UDP_GOOD &&
        m->seal != hearthi_udp_seal(head, m->body, m->body_len))
        why = HEARTHI_UDP_BAD_SEAL;
    if (why == HEARTHI_UDP_GOOD)
        return true;
    hearthi_udp_count_refused(why);
    return false;
}

bool
hearthi_udp_receive(struct hearthi_udp_inbox *in, uint64_t end,
                    struct hearthi_udp_place    place,
                    struct hearthi_udp_message *m, struct sockaddr_in *from)
{
    for (;;) {
        const uint8_t *body;
        uint64_t       until = end;
        ssize_t        n;

        if (in->trouble != NULL)
            n = datagram_trouble(in, &body, from);
        else
            n = datagram_take(in, place, &body, from);
        if (n >= 0 && message_good(in->buffer, body, (size_t)n, m))
            return true;
        if (n >= 0)
            continue;
        if (in->trouble != NULL && hearthi_now() < end) {
            uint64_t due = hearthi_udp_trouble_due(in->trouble);

            until = due < end ? due : end;
        }
        if (!readable_wait(in->fd, until) && until == end)
            return false;
    }
}
