/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What comes in: good messages.
 *
 * Fragments that are expected are received in the frame where they belong, by
 * vectors of heads and bodies; one call brings up to 64 datagrams of one
 * sender (UDP_GRO), or of several (recvmmsg).
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
#include "count.h"
#include "inbox.h"
#include "job.h"
#include "seal.h"
#include "socket.h"
#include "space/heap.h"
#include "trouble.h"
#include "wire.h"

#ifndef UDP_GRO
#define UDP_GRO 104 /* Linux 5.0 */
#endif

/* A server's buffer has room for MANY datagrams; a client's for what one call
 * brings, and it has a spare one for what came otherwise than expected. */
enum { MANY = 16 };

static size_t
buffer_bytes(const struct hearthi_udp_inbox *in)
{
    return in->server ? (size_t)MANY * HEARTHI_UDP_DATAGRAM
                      : HEARTHI_UDP_CALL + 1;
}

void
hearthi_udp_inbox_open(struct hearthi_udp_inbox *in, int fd, bool server)
{
    const int on = 1;

    memset(in, 0, sizeof *in);
    in->fd = fd;
    in->server = server;
    in->buffer = hearthi_sparse(buffer_bytes(in));
    if (!server)
        in->spare = hearthi_sparse(HEARTHI_UDP_CALL);
    in->trouble = hearthi_udp_trouble_open();
    if (in->trouble != NULL)
        in->held = hearthi_sparse(HEARTHI_UDP_DATAGRAM);
    if (!server) /* an older kernel hands them out one by one */
        setsockopt(fd, IPPROTO_UDP, UDP_GRO, &on, sizeof on);
}

void
hearthi_udp_inbox_close(struct hearthi_udp_inbox *in)
{
    close(in->fd);
    hearthi_sparse_free(in->buffer, buffer_bytes(in));
    hearthi_sparse_free(in->spare, HEARTHI_UDP_CALL);
    hearthi_sparse_free(in->held, HEARTHI_UDP_DATAGRAM);
    hearthi_udp_trouble_close(in->trouble);
}

/* What the kernel says beside the bytes: how they were put together, and how
 * many datagrams this socket has lost for want of room. */
union control {
    struct cmsghdr align;
    char room[CMSG_SPACE(sizeof(int)) + CMSG_SPACE(sizeof(uint32_t))];
};

static size_t
control_read(struct hearthi_udp_inbox *in, struct msghdr *h, size_t len)
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
many_take(struct hearthi_udp_inbox *in, int flags)
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

/* Heads come one behind the other at the start of the buffer, bodies to their
 * places, and what is more than expected behind the heads. */
static size_t
vector_make(const struct hearthi_udp_inbox  *in,
            const struct hearthi_udp_places *places, struct iovec *part)
{
    size_t n = 0, heads;

    for (unsigned i = 0; places != NULL && i < places->n; i++) {
        const struct hearthi_udp_place *p = &places->place[i];

        part[n++] = (struct iovec){ in->buffer + i * HEARTHI_UDP_HEAD,
                                    HEARTHI_UDP_HEAD };
        part[n++] = (struct iovec){ p->at, p->len };
    }
    heads = n / 2 * HEARTHI_UDP_HEAD;
    part[n++] =
        (struct iovec){ in->buffer + heads, HEARTHI_UDP_CALL + 1 - heads };
    return n;
}

static bool
is_expected(const uint8_t *head, const struct hearthi_udp_place *p)
{
    struct hearthi_udp_message m;

    hearthi_udp_head_read(head, &m);
    return m.op == HEARTHI_UDP_GETPGRANT && m.from == p->from &&
           m.seq == p->seq && m.at == p->offset;
}

/* Have all the datagrams, `each` bytes but the last, come to their places? */
static bool
all_placed(struct hearthi_udp_inbox        *in,
           const struct hearthi_udp_places *places, size_t len, size_t each)
{
    unsigned n = 0;

    for (size_t at = 0; at < len; at += each, n++) {
        const struct hearthi_udp_place *p;
        const uint8_t *head = in->buffer + n * HEARTHI_UDP_HEAD;
        size_t         some = len - at < each ? len - at : each;

        if (places == NULL || n == places->n)
            return false;
        p = &places->place[n];
        if (some != HEARTHI_UDP_HEAD + p->len || !is_expected(head, p))
            return false;
        in->item[n] =
            (struct hearthi_udp_item){ head, p->at, some, in->item->from };
    }
    in->n = n;
    return true;
}

/* Not what was expected: put it behind each other before any place is used,
 * since the places may hold each other's bytes. */
static void
all_gather(struct hearthi_udp_inbox *in, const struct iovec *part, size_t len,
           size_t each)
{
    unsigned n = 0;

    for (size_t at = 0; at < len; part++) {
        size_t some = len - at < part->iov_len ? len - at : part->iov_len;

        memcpy(in->spare + at, part->iov_base, some);
        at += some;
    }
    for (size_t at = 0; at < len && n < HEARTHI_UDP_BATCH; at += each)
        in->item[n++] = (struct hearthi_udp_item){
            in->spare + at, in->spare + at + HEARTHI_UDP_HEAD,
            len - at < each ? len - at : each, in->item->from
        };
    in->n = n;
}

/* A client's: what one sender has sent together. */
static void
run_take(struct hearthi_udp_inbox *in, const struct hearthi_udp_places *places)
{
    union control control;
    struct iovec  part[2 * HEARTHI_UDP_BATCH + 1];
    struct msghdr h = { .msg_name = &in->item->from,
                        .msg_namelen = sizeof in->item->from,
                        .msg_iov = part,
                        .msg_iovlen = vector_make(in, places, part),
                        .msg_control = control.room,
                        .msg_controllen = sizeof control.room };
    ssize_t       n = recvmsg(in->fd, &h, MSG_DONTWAIT);
    size_t        each;

    in->n = 0;
    if (n <= 0)
        return;
    each = control_read(in, &h, (size_t)n);
    if (n > HEARTHI_UDP_CALL || (h.msg_flags & MSG_TRUNC))
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_LENGTH);
    else if (!all_placed(in, places, (size_t)n, each))
        all_gather(in, part, (size_t)n, each);
}

/* Ask the kernel.  False if there is nothing. */
static bool
batch_take(struct hearthi_udp_inbox        *in,
           const struct hearthi_udp_places *places, int flags)
{
    in->at = 0;
    if (in->server)
        many_take(in, flags);
    else
        run_take(in, in->trouble == NULL ? places : NULL);
    return in->n > 0;
}

/* Sleep until something may have come or `end`. */
static void
sleep_until(const struct hearthi_udp_inbox *in, uint64_t end)
{
    struct pollfd   p = { .fd = in->fd, .events = POLLIN };
    struct timespec most;
    uint64_t        now = hearthi_now(), left;

    if (in->trouble != NULL) {
        uint64_t due = hearthi_udp_trouble_due(in->trouble);

        end = due < end ? due : end;
    }
    left = end > now ? end - now : 0;
    most = (struct timespec){ .tv_sec = (time_t)(left / 1000000000),
                              .tv_nsec = (long)(left % 1000000000) };
    ppoll(&p, 1, &most, NULL);
}

/* Look for the answer for a moment. */
static bool
spin(struct hearthi_udp_inbox *in, const struct hearthi_udp_places *places,
     uint64_t end)
{
    uint64_t now = hearthi_now(), until = now + HEARTHI_SPIN_NS;

    if (!hearthi_may_spin())
        return false;
    for (; now < until && now < end; now = hearthi_now()) {
        if (batch_take(in, places, MSG_DONTWAIT))
            return true;
        sched_yield();
    }
    return false;
}

/* A service thread sleeps here, until there is something. */
static void
server_wait(struct hearthi_udp_inbox *in)
{
    hearthi_service_end(&in->service);
    if (in->trouble == NULL)
        batch_take(in, NULL, MSG_WAITFORONE);
    else if (!batch_take(in, NULL, MSG_DONTWAIT))
        sleep_until(in, UINT64_MAX);
    hearthi_service_begin(&in->service);
}

/* Datagrams of before or of the next call of the kernel.  False at `end`. */
static bool
batch_wait(struct hearthi_udp_inbox        *in,
           const struct hearthi_udp_places *places, uint64_t end)
{
    if (in->server) {
        server_wait(in);
        return true;
    }
    if (batch_take(in, places, MSG_DONTWAIT) || spin(in, places, end))
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
        m->seal != hearthi_udp_seal(i->head, m->body, m->body_len))
        why = HEARTHI_UDP_BAD_SEAL;
    if (why == HEARTHI_UDP_GOOD)
        return true;
    hearthi_udp_count_refused(why);
    return false;
}

/* One that trouble has held back and is due, or one that it lets through. */
static bool
trouble_take(struct hearthi_udp_inbox *in, struct hearthi_udp_item *i)
{
    i->len = hearthi_udp_trouble_take(in->trouble, in->held, &i->from);
    i->head = in->held;
    i->body = in->held + HEARTHI_UDP_HEAD;
    if (i->len > 0)
        return true;
    while (in->at < in->n) {
        *i = in->item[in->at++];
        if (hearthi_udp_trouble_pass(in->trouble, i->head, i->len, &i->from))
            return true;
    }
    return false;
}

static bool
item_take(struct hearthi_udp_inbox *in, struct hearthi_udp_item *i)
{
    if (in->trouble != NULL)
        return trouble_take(in, i);
    if (in->at == in->n)
        return false;
    *i = in->item[in->at++];
    return true;
}

bool
hearthi_udp_receive(struct hearthi_udp_inbox *in, uint64_t end,
                    const struct hearthi_udp_places *places,
                    struct hearthi_udp_message *m, struct sockaddr_in *from)
{
    struct hearthi_udp_item i;

    for (;;) {
        while (item_take(in, &i)) {
            if (!message_good(&i, m))
                continue;
            *from = i.from;
            return true;
        }
        if (!batch_wait(in, places, end))
            return false;
    }
}
