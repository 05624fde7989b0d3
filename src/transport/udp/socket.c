/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sockets, and what goes out: authenticated datagrams; and how many of each
 * operation have, and what was refused of those that came.
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
#include <time.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/network.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "cluster.h"
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
    struct hearthi_addresses told = hearthi_udp.told;
    int fd = hearthi_descriptor(socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
    int size = (int)hearthi_opt.udp_buffer, no = IP_PMTUDISC_DONT, on = 1;

    if (fd < 0)
        hearthi_fatal("hearth_init", "no socket: %s", strerror(errno));
    if (setsockopt(fd, SOL_SOCKET, SO_RCVBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, sizeof size);
    if (setsockopt(fd, SOL_SOCKET, SO_SNDBUFFORCE, &size, sizeof size) != 0)
        setsockopt(fd, SOL_SOCKET, SO_SNDBUF, &size, sizeof size);
    setsockopt(fd, SOL_SOCKET, SO_RXQ_OVFL, &on, sizeof on);
    setsockopt(fd, IPPROTO_IP, IP_MTU_DISCOVER, &no, sizeof no);
    if (port == 0 && !hearthi_bind(fd, &told, port))
        hearthi_fatal("hearth_init",
                      "no UDP port can be had (%s): the udp transport needs "
                      "an IPv4 address of this host%s: bring one up, or use "
                      "HEARTH_TRANSPORT=mpi",
                      strerror(errno),
                      hearthi_one_machine() ? ", 127.0.0.1 at least"
                                            : " that HEARTH_NETWORK takes");
    if (port > UINT16_MAX || (port != 0 && !hearthi_bind(fd, &told, port)))
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

    if (getsockopt(fd, SOL_SOCKET, SO_RCVBUF, &size, &len) != 0)
        hearthi_fatal("hearth_init", "a socket's buffer has no size: %s",
                      strerror(errno));
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

/* ---- counts ---- */

_Static_assert((int)HEARTHI_KINDS >= (int)HEARTHI_UDP_OPS &&
                   (int)HEARTHI_REASONS >= (int)HEARTHI_UDP_REASONS,
               "the tally has room for all");

void
hearthi_udp_count_sent(unsigned op, unsigned messages, size_t bytes)
{
    unsigned i = hearthi_udp_index(op);

    hearthi_stat_add(&hearthi_tally.sent[i], messages);
    hearthi_stat_add(&hearthi_tally.sent_bytes[i], bytes);
    hearthi_count(messages, messages);
    hearthi_count(message_bytes, bytes);
}

void
hearthi_udp_count_resent(unsigned op)
{
    hearthi_stat_add(&hearthi_tally.resent[hearthi_udp_index(op)], 1);
    hearthi_count(resends, 1);
}

void
hearthi_udp_count_refused(enum hearthi_udp_reason reason)
{
    hearthi_stat_add(&hearthi_tally.refused[reason], 1);
    hearthi_count(refused, 1);
}

const char *
hearthi_udp_reason_name(unsigned i)
{
    static const char *const names[HEARTHI_UDP_REASONS] = {
        "good",  "length", "operation", "rank",
        "place", "seal",   "sequence",  "address"
    };

    return i < HEARTHI_UDP_REASONS ? names[i] : NULL;
}

/* ---- sending ---- */

void
hearthi_udp_head(struct hearthi_udp_message *m, uint8_t *head)
{
    m->mac = 0;
    hearthi_udp_encode(m, head);
    m->mac = hearthi_udp_mac(head, m->body, m->body_len);
    memcpy(head, &m->mac, sizeof m->mac);
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

/* ---- threads that sleep at one ---- */

/* It sleeps at the socket that `to` is the address of, and is woken by words
 * to stop, which may get lost, too. */
void
hearthi_udp_receiver_end(pthread_t thread, const atomic_bool *ended, int fd,
                         const struct sockaddr_in *to)
{
    const struct timespec      nap = { .tv_nsec = 200000 };
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_EXIT,
                                     .from = (uint32_t)hearthi_cluster.rank,
                                     .to = (uint32_t)hearthi_cluster.rank };

    while (!*ended) {
        hearthi_udp_send(fd, to, &m, NULL);
        nanosleep(&nap, NULL);
    }
    pthread_join(thread, NULL);
}

/* ---- acknowledgements, as HEARTH_UDP_ACK wants them ---- */

/* What has a grant needs no acknowledgement: if the grant is there, the
 * request was. */
bool
hearthi_udp_acked(unsigned op)
{
    switch (hearthi_opt.udp_ack) {
    case HEARTHI_ACK_ALL: return op != HEARTHI_UDP_NULL;
    case HEARTHI_ACK_PAGE:
        return op != HEARTHI_UDP_NULL && op != HEARTHI_UDP_GETP &&
               op != HEARTHI_UDP_GETPGRANT;
    default: return false;
    }
}

void
hearthi_udp_acknowledge(int fd, const struct hearthi_udp_message *m,
                        const struct sockaddr_in *to)
{
    struct hearthi_udp_message ack = { .op = HEARTHI_UDP_NULL,
                                       .kind = HEARTHI_UDP_ACK,
                                       .slot = m->slot,
                                       .from = m->to,
                                       .to = m->from,
                                       .seq = m->seq,
                                       .at = m->at };

    if (m->reliable)
        hearthi_udp_send(fd, to, &ack, NULL);
}
