/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A process that connects from outside is a guest until it has said hello,
 * which takes the key.  A guest is told nothing before that, has a bounded
 * time for it, and there is room for some beside all that clusters make: when
 * one more comes, the oldest goes of the host that has most of them, so that a
 * host which opens connections and says nothing, however fast, cannot keep
 * clusters out; nor does it keep the gateway from its work (base/crowd.h).
 * Strangers are counted; the first is told of.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "link_state.h"

enum {
    DEAF = 200000000, /* ns, where no connection can be accepted */
    AT_ONCE = 16,     /* are accepted before others have their turn */
};

bool
hearthi_acceptor_open(struct hearthi_link *k, struct hearthi_link_error *wrong)
{
    struct epoll_event e = { .events = EPOLLIN, .data.ptr = NULL };

    hearthi_crowd_open(&k->crowd);
    k->listener = hearthi_gateway_listen(&k->remote[k->me].at,
                                         &k->conf->cluster[k->me], wrong);
    if (k->listener < 0)
        return false;
    if (epoll_ctl(k->epoll, EPOLL_CTL_ADD, k->listener, &e) == 0)
        return true;
    return hearthi_link_error(wrong, "the link: %s", strerror(errno));
}

static void
listen_for(struct hearthi_link *k, uint32_t events)
{
    struct epoll_event e = { .events = events, .data.ptr = NULL };

    epoll_ctl(k->epoll, EPOLL_CTL_MOD, k->listener, &e);
}

void
hearthi_acceptor_leave(struct hearthi_link *k, struct hearthi_connection *l)
{
    struct hearthi_connection **at = &k->guests;

    while (*at != l)
        at = &(*at)->next;
    *at = l->next;
    l->next = NULL;
    k->n_guests--;
    k->crowd.host[l->host].here--;
}

/* One that comes and goes is nothing to talk of; one that was told a hello has
 * the key (gateway_handshake.c). */
static void
stranger_count(struct hearthi_link *k, const struct hearthi_connection *l)
{
    bool says = l->end != HEARTHI_CONNECTION_GONE;

    if (l->greeted)
        return;
    k->counts.strangers++;
    hearthi_crowd_stranger(&k->crowd, l->host, hearthi_clock_kernel());
    strcpy(k->stranger, l->from);
    if (says && !k->warned)
        hearthi_link_warn(k,
                          "a connection from %s was refused, since it is none "
                          "of a cluster with our key (%s); others are counted",
                          l->from, l->why);
    k->warned |= says;
}

void
hearthi_acceptor_connection_end(struct hearthi_link       *k,
                                struct hearthi_connection *l)
{
    stranger_count(k, l);
    hearthi_acceptor_leave(k, l);
    hearthi_link_bury(k, l);
}

static void
oldest_leave(struct hearthi_link *k)
{
    struct hearthi_connection *l = NULL;
    unsigned                   most = 0;

    for (struct hearthi_connection *one = k->guests; one != NULL;
         one = one->next) {
        unsigned n = k->crowd.host[one->host].here;

        if (n >= most) {
            most = n;
            l = one;
        }
    }
    hearthi_connection_fail(l, HEARTHI_CONNECTION_FOREIGN, "it says nothing");
    hearthi_acceptor_connection_end(k, l);
}

static void
guest_add(struct hearthi_link *k, int fd, unsigned host,
          const struct sockaddr *from, socklen_t len)
{
    struct hearthi_connection *l =
        hearthi_connection_accept(&k->tls, k->epoll, fd);

    if (l == NULL)
        return;
    if (k->n_guests ==
        k->options.guests + HEARTHI_CONNECTIONS_MAX * (k->conf->n - 1))
        oldest_leave(k);
    hearthi_gateway_text(from, len, l->from);
    l->calls = &hearthi_remote_gateway_calls;
    l->owner = k;
    l->host = host;
    if (k->options.rekey > 0)
        l->out.rekey = k->options.rekey;
    l->next = k->guests;
    k->guests = l;
    k->n_guests++;
    k->crowd.host[host].here++;
}

/* Does it begin as TLS does?  A gateway says that at once. */
static bool
says_tls(int fd)
{
    enum { HANDSHAKE = 22, VERSION = 3 };
    unsigned char b[2];

    return recv(fd, b, sizeof b, MSG_PEEK | MSG_DONTWAIT) == sizeof b &&
           b[0] == HANDSHAKE && b[1] == VERSION;
}

/* What a guest takes before it has said a byte, some 100 us, strangers of one
 * host get a hundred times a second.  More of them are closed, and told of as
 * a number. */
static void
guest_judge(struct hearthi_link *k, int fd, const struct sockaddr *from,
            socklen_t len)
{
    unsigned host = hearthi_crowd_host(&k->crowd, from);

    if (hearthi_crowd_may(&k->crowd, host, hearthi_clock_kernel()) ||
        says_tls(fd)) {
        guest_add(k, fd, host, from, len);
        return;
    }
    k->counts.strangers++;
    close(fd);
}

/* Without descriptors the system would tell of the same one for ever. */
void
hearthi_acceptor_answer(struct hearthi_link *k)
{
    for (int i = 0; i < AT_ONCE; i++) {
        struct sockaddr_storage from;
        socklen_t               len = sizeof from;
        int                     fd =
            hearthi_descriptor(accept4(k->listener, (struct sockaddr *)&from,
                                       &len, SOCK_CLOEXEC | SOCK_NONBLOCK));

        if (fd >= 0) {
            guest_judge(k, fd, (struct sockaddr *)&from, len);
        } else if (errno == EAGAIN || errno == EWOULDBLOCK) {
            return;
        } else if (errno != EINTR && errno != ECONNABORTED) {
            k->deaf = hearthi_clock_kernel() + DEAF;
            listen_for(k, 0);
            return;
        }
    }
}

static uint64_t
guest_dead(const struct hearthi_link *k, const struct hearthi_connection *l)
{
    return l->since + hearthi_seconds(k->options.handshake);
}

void
hearthi_acceptor_tend(struct hearthi_link *k, uint64_t now)
{
    struct hearthi_connection *next;

    if (k->deaf != 0 && now >= k->deaf) {
        k->deaf = 0;
        listen_for(k, EPOLLIN);
    }
    for (struct hearthi_connection *l = k->guests; l != NULL; l = next) {
        next = l->next;
        if (now < guest_dead(k, l))
            continue;
        hearthi_connection_fail(l, HEARTHI_CONNECTION_FOREIGN,
                                "it did not say who it is for %.1f s",
                                k->options.handshake);
        hearthi_acceptor_connection_end(k, l);
    }
}

uint64_t
hearthi_acceptor_due(const struct hearthi_link *k)
{
    uint64_t due = k->deaf != 0 ? k->deaf : UINT64_MAX;

    for (const struct hearthi_connection *l = k->guests; l != NULL;
         l = l->next)
        if (guest_dead(k, l) < due)
            due = guest_dead(k, l);
    return due;
}
