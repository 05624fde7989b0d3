/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sockets, and what goes out: sealed datagrams.
 *
 * Fragments are sent by vectors of heads and bodies, up to 64 in one call
 * (UDP_SEGMENT).
 */
#include "config.h"

#include <errno.h>
#include <netinet/udp.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "cluster.h"
#include "count.h"
#include "mac.h"
#include "socket.h"
#include "space/heap.h"
#include "udp_job.h"
#include "wire.h"

#ifndef UDP_SEGMENT
#define UDP_SEGMENT 103 /* Linux 4.18 */
#endif

struct hearthi_udp hearthi_udp;

/* The kernel gives as much of the buffer as it may.  A datagram goes without
 * "do not fragment": the size was chosen by the MTU of the hosts, and a router
 * in between with a smaller one makes it slow, not dead. */
int
hearthi_udp_socket(unsigned port)
{
    in_addr_t any = hearthi_one_machine() ? INADDR_LOOPBACK : INADDR_ANY;
    struct sockaddr_in own = { .sin_family = AF_INET,
                               .sin_addr.s_addr = htonl(any),
                               .sin_port = htons((uint16_t)port) };
    int                fd = socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0);
    int size = (int)hearthi_opt.udp_buffer, no = IP_PMTUDISC_DONT, on = 1;

    if (fd < 0)
        hearthi_fatal("hearth_init", "no socket: %s", strerror(errno));
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
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

/* Some is left for what comes unasked. */
size_t
hearthi_udp_room(int fd)
{
    int       size = 0;
    socklen_t len = sizeof size;

    getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &len);
    return (size_t)size / 4 * 3;
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

/* ---- sending ---- */

void
hearthi_udp_head(struct hearthi_udp_message *m, uint8_t *head)
{
    m->seal = 0;
    hearthi_udp_encode(m, head);
    m->seal = hearthi_udp_mac(head, m->body, m->body_len);
    memcpy(head, &m->seal, sizeof m->seal);
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

/* What has no way out would be sent again for ever. */
static void
error_judge(size_t bytes)
{
    if (errno == EMSGSIZE)
        hearthi_fatal("udp",
                      "the network refuses datagrams of %zu bytes: lower "
                      "HEARTH_UDP_DATAGRAM",
                      bytes);
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
    hearthi_udp_count_sent(m->op, 1, sizeof own + m->body_len);
    if (head != NULL)
        memcpy(head, own, sizeof own);
    if (message_send(fd, &h) < 0)
        error_judge(sizeof own + m->body_len);
}

/* The kernel or the device cannot cut: one by one, in one call. */
static void
parts_send(int fd, const struct sockaddr_in *to, struct iovec *part,
           unsigned n)
{
    struct mmsghdr h[HEARTHI_UDP_BATCH] = { 0 };
    unsigned       sent = 0;

    for (unsigned i = 0; i < n; i++)
        h[i].msg_hdr = (struct msghdr){ .msg_name = (void *)to,
                                        .msg_namelen = sizeof *to,
                                        .msg_iov = part + 2 * i,
                                        .msg_iovlen = 2 };
    while (sent < n) {
        int some = sendmmsg(fd, h + sent, n - sent, MSG_NOSIGNAL);

        if (some < 0 && errno != EINTR) {
            error_judge(part[2 * sent].iov_len + part[2 * sent + 1].iov_len);
            return;
        }
        sent += some > 0 ? (unsigned)some : 0;
    }
}

/* The kernel or the device on the way cannot cut, or not to this size.  Any
 * other error is that of a moment, and what it has lost is asked for again. */
static bool
means_uncut(int code)
{
    return code == EINVAL || code == EIO || code == EOPNOTSUPP ||
           code == EMSGSIZE;
}

/* One way through most of the kernel for all of them.  Where that is refused
 * it is tried again after a while: the way may have changed. */
void
hearthi_udp_send_together(int fd, const struct sockaddr_in *to,
                          struct iovec *part, unsigned n, size_t each)
{
    enum { WHILE = 1000 };
    static unsigned alone; /* such calls to come; of the service thread only */
    union {
        struct cmsghdr align;
        char           room[CMSG_SPACE(sizeof(uint16_t))];
    } control = { .room = { 0 } };
    struct msghdr   h = { .msg_name = (void *)to,
                          .msg_namelen = sizeof *to,
                          .msg_iov = part,
                          .msg_iovlen = 2 * n,
                          .msg_control = control.room,
                          .msg_controllen = sizeof control.room };
    struct cmsghdr *c = CMSG_FIRSTHDR(&h);
    uint16_t        size = (uint16_t)each;

    c->cmsg_level = IPPROTO_UDP;
    c->cmsg_type = UDP_SEGMENT;
    c->cmsg_len = CMSG_LEN(sizeof size);
    memcpy(CMSG_DATA(c), &size, sizeof size);
    if (n > 1 && alone == 0) {
        if (message_send(fd, &h) >= 0 || !means_uncut(errno))
            return;
        alone = WHILE;
    }
    alone -= n > 1;
    parts_send(fd, to, part, n);
}

void
hearthi_udp_send_again(int fd, const struct sockaddr_in *to,
                       const uint8_t *datagram, size_t len)
{
    struct hearthi_udp_message m;

    hearthi_udp_head_read(datagram, &m);
    hearthi_udp_count_sent(m.op, 1, len);
    hearthi_udp_count_resent(m.op);
    sendto(fd, datagram, len, MSG_NOSIGNAL, (const struct sockaddr *)to,
           sizeof *to);
}
