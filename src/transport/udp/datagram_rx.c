/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What comes in: good messages.  One call brings up to 64 datagrams of one
 * sender (UDP_GRO), or of several (recvmmsg).
 *
 * A body lies in the inbox's own buffer until its MAC was found good; its
 * receiver copies it to where it belongs.  (To receive fragments in their
 * frames, by vectors of heads and bodies, made no fetch faster here.)
 */
#include "config.h"

#include <netinet/udp.h>
#include <poll.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/stat.h"
#include "cluster.h"
#include "datagram_rx.h"
#include "node/event.h"
#include "socket.h"
#include "space/heap.h"
#include "udp_job.h"
#include "wire.h"

#ifndef UDP_GRO
#define UDP_GRO 104 /* Linux 5.0 */
#endif

/* A server's buffer has room for MANY datagrams, a client's for what one call
 * brings. */
enum { MANY = 16 };

static size_t
buffer_bytes(const struct hearthi_udp_rx *in)
{
    return in->server ? (size_t)MANY * HEARTHI_UDP_DATAGRAM
                      : HEARTHI_UDP_CALL + 1;
}

void
hearthi_udp_rx_open(struct hearthi_udp_rx *in, int fd, bool server)
{
    const int on = 1;

    memset(in, 0, sizeof *in);
    in->fd = fd;
    in->server = server;
    in->buffer = hearthi_sparse(buffer_bytes(in));
    in->fault = hearthi_udp_fault_open();
    if (in->fault != NULL)
        in->held = hearthi_sparse(HEARTHI_UDP_DATAGRAM);
    if (!server) /* an older kernel hands them out one by one */
        setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
}

void
hearthi_udp_rx_close(struct hearthi_udp_rx *in)
{
    close(in->fd);
    hearthi_sparse_free(in->buffer, buffer_bytes(in));
    hearthi_sparse_free(in->held, HEARTHI_UDP_DATAGRAM);
    hearthi_udp_fault_close(in->fault);
}

/* What the kernel says beside the bytes: how they were put together, and how
 * many datagrams this socket has lost for want of room. */
union control {
    struct cmsghdr align;
    char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint32_t))];
};

static size_t
control_read(struct hearthi_udp_rx *in, struct msghdr *h, size_t len)
{
    uint32_t lost;
    int      size = 0;

    for (struct cmsghdr *c = CMSG_FIRSTHDR(h); c != NULL;
         c = CMSG_NXTHDR(h, c)) {
        if (c->cmsg_level == IPPROTO_UDP && c->cmsg_type == UDP_GRO)
            memcpy(&size, CMSG_DATA(c), sizeof size);
        if (c->cmsg_level == SOL_SOCKET && c->cmsg_type == SO_RXQ_OVFL) {
            memcpy(&lost, CMSG_DATA(c), sizeof lost);
            hearthi_count(overruns, lost - in->overruns);
            in->overruns = lost;
        }
    }
    return size > 0 ? (size_t)size : len;
}

/* A server's: several datagrams, each in a place of its own. */
static void
many_take(struct hearthi_udp_rx *in, int flags)
{
    struct mmsghdr h[MANY];
    struct iovec   part[MANY];
    union control  control[MANY];
    int            n;

    for (int i = 0; i < MANY; i++) {
        part[i] =
            (struct iovec){ in->buffer + (size_t)i * HEARTHI_UDP_DATAGRAM,
                            HEARTHI_UDP_DATAGRAM };
        h[i].msg_hdr =
            (struct msghdr){ .msg_name = &in->item[i].from,
                             .msg_namelen = sizeof in->item->from,
                             .msg_iov = &part[i],
                             .msg_iovlen = 1,
                             .msg_control = control[i].room,
                             .msg_controllen = sizeof control[i].room };
    }
    n = recvmmsg(in->fd, h, MANY, flags, NULL);
    for (int i = 0; i < n; i++) {
        uint8_t *at = part[i].iov_base;
        bool     cut = h[i].msg_hdr.msg_flags & MSG_TRUNC;

        control_read(in, &h[i].msg_hdr, 0);
        in->item[i].head = at;
        in->item[i].body = at + HEARTHI_UDP_HEAD;
        in->item[i].len = cut ? 0 : h[i].msg_len;
    }
    in->n = n > 0 ? (unsigned)n : 0;
}

/* A client's: what one sender has sent together, `each` bytes but the last. */
static void
run_take(struct hearthi_udp_rx *in)
{
    union control control;
    struct iovec  part = { in->buffer, buffer_bytes(in) };
    struct msghdr h = { .msg_name = &in->item->from,
                        .msg_namelen = sizeof in->item->from,
                        .msg_iov = &part,
                        .msg_iovlen = 1,
                        .msg_control = control.room,
                        .msg_controllen = sizeof control.room };
    ssize_t       n = recvmsg(in->fd, &h, MSG_DONTWAIT);
    size_t        each;

    in->n = 0;
    if (n <= 0)
        return;
    each = control_read(in, &h, (size_t)n);
    if (n > HEARTHI_UDP_CALL || (h.msg_flags & MSG_TRUNC)) {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_LENGTH);
        return;
    }
    for (size_t at = 0; at < (size_t)n && in->n < HEARTHI_UDP_BATCH;
         at += each) {
        size_t left = (size_t)n - at;

        in->item[in->n++] = (struct hearthi_udp_item){
            in->buffer + at, in->buffer + at + HEARTHI_UDP_HEAD,
            left < each ? left : each, in->item->from
        };
    }
}

/* Ask the kernel.  False if there is nothing. */
static bool
batch_take(struct hearthi_udp_rx *in, int flags)
{
    in->at = 0;
    if (in->server)
        many_take(in, flags);
    else
        run_take(in);
    return in->n > 0;
}

/* Sleep until something may have come or `end`. */
static void
sleep_until(const struct hearthi_udp_rx *in, uint64_t end)
{
    struct pollfd   p = { .fd = in->fd, .events = POLLIN };
    struct timespec most;
    uint64_t        now = hearthi_now(), left;

    if (in->fault != NULL) {
        uint64_t due = hearthi_udp_fault_due(in->fault);

        end = due < end ? due : end;
    }
    left = end > now ? end - now : 0;
    most = hearthi_timespec(left);
    ppoll(&p, 1, &most, NULL);
}

/* Look for the answer for a moment. */
static bool
spin(struct hearthi_udp_rx *in, uint64_t end)
{
    uint64_t now = hearthi_now(), until = now + HEARTHI_SPIN_NS;

    if (hearthi_crowded())
        return false;
    for (; now < until && now < end; now = hearthi_now()) {
        if (batch_take(in, MSG_DONTWAIT))
            return true;
        sched_yield();
    }
    return false;
}

/* A service thread sleeps here, until there is something. */
static void
server_wait(struct hearthi_udp_rx *in, uint64_t end)
{
    hearthi_service_end(&in->service);
    if (in->fault == NULL && end == UINT64_MAX)
        batch_take(in, MSG_WAITFORONE);
    else if (!batch_take(in, MSG_DONTWAIT))
        sleep_until(in, end);
    hearthi_service_begin(&in->service);
}

/* Datagrams of before or of the next call of the kernel.  False at `end`. */
static bool
batch_wait(struct hearthi_udp_rx *in, uint64_t end)
{
    if (in->server) {
        server_wait(in, end);
        return end == UINT64_MAX || hearthi_now() < end;
    }
    if (batch_take(in, MSG_DONTWAIT) || spin(in, end))
        return true;
    if (hearthi_now() >= end)
        return false;
    sleep_until(in, end);
    return true;
}

static bool
message_good(const struct hearthi_udp_item *i, struct hearthi_udp_message *m)
{
    enum hearthi_udp_reason why;

    why = hearthi_udp_decode_parts(i->head, i->body, i->len,
                                   &hearthi_udp.limits, m);
    if (why == HEARTHI_UDP_GOOD &&
        m->mac != hearthi_udp_mac(i->head, m->body, m->body_len))
        why = HEARTHI_UDP_BAD_MAC;
    if (why == HEARTHI_UDP_GOOD)
        return true;
    hearthi_udp_count_refused(why);
    return false;
}

/* One that fault injection has held back and is due, or one that it lets
 * through. */
static bool
fault_take(struct hearthi_udp_rx *in, struct hearthi_udp_item *i)
{
    i->len = hearthi_udp_fault_take(in->fault, in->held, &i->from);
    i->head = in->held;
    i->body = in->held + HEARTHI_UDP_HEAD;
    if (i->len > 0)
        return true;
    while (in->at < in->n) {
        *i = in->item[in->at++];
        if (hearthi_udp_fault_pass(in->fault, i->head, i->len, &i->from))
            return true;
    }
    return false;
}

static bool
item_take(struct hearthi_udp_rx *in, struct hearthi_udp_item *i)
{
    if (in->fault != NULL)
        return fault_take(in, i);
    if (in->at == in->n)
        return false;
    *i = in->item[in->at++];
    return true;
}

/* What comes in may be endless and not good: it keeps neither a client from
 * what it has to do at `end` nor a server from hearing that it is to stop. */
static bool
is_flooded(const struct hearthi_udp_rx *in, uint64_t end)
{
    return in->n > 0 && (in->server || hearthi_now() >= end);
}

bool
hearthi_udp_receive(struct hearthi_udp_rx *in, uint64_t end,
                    struct hearthi_udp_message *m, struct sockaddr_in *from)
{
    struct hearthi_udp_item i;
    bool                    asked = false; /* the kernel */

    for (;;) {
        while (item_take(in, &i)) {
            if (!message_good(&i, m))
                continue;
            *from = i.from;
            return true;
        }
        if ((asked && is_flooded(in, end)) || !batch_wait(in, end))
            return false;
        asked = true;
    }
}
