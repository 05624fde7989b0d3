/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A connection says first which rank and slot it is, and the token that MPI
 * brought to this cluster's ranks, and is answered; else it is cut off.  One
 * that has not said all of it is a stranger (gateway_strangers.c).
 */
#include "config.h"

#include "gateway_thread.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/report.h"
#include "gateway_server.h"
#include "message_stream.h"

enum { EVENTS = 64, AT_ONCE = 64 /* new ones of a turn */ };

struct client {
    struct hearthi_stranger stranger; /* first */
    int                     fd;
    bool           known, full, touched; /* full: wants to be writable */
    struct client *next; /* of the touched: something is to go out */
    uint32_t       rank, slot;
    struct hearthi_message_stream in, out;
};

static struct {
    int                     epoll, listen;
    struct hearthi_listener listener;
    struct client         **of;  /* each rank's slots */
    bool                   *bye; /* of each rank, and one that is not seen */
    struct client          *going;
} h;

static struct client listening, linked; /* what stands for these descriptors */

static size_t
of_count(void) /* one more than the program sees may be connected */
{
    return ((size_t)hearthi_gateway_server.ranks + 1) * HEARTHI_WAN_SLOTS;
}

static size_t
connection(uint32_t place, uint32_t slot)
{
    return (size_t)place * HEARTHI_WAN_SLOTS + slot;
}

/* ---- descriptors ---- */

static void
watch(struct client *g, int fd, int how, uint32_t events)
{
    struct epoll_event e = { .events = events, .data.ptr = g };

    if (epoll_ctl(h.epoll, how, fd, &e) != 0)
        hearthi_fatal("gateway", "epoll: %s", strerror(errno));
}

/* A child of fork() may have the descriptor still, and then epoll would go on
 * to tell of it. */
static void
client_close(struct client *g)
{
    struct client **at = &h.going;

    if (g->known)
        h.of[connection(g->rank, g->slot)] = NULL;
    else
        hearthi_stranger_count(&g->stranger);
    hearthi_stranger_leave(&g->stranger);
    while (*at != NULL && *at != g)
        at = &(*at)->next;
    if (g->touched)
        *at = g->next;
    watch(g, g->fd, EPOLL_CTL_DEL, 0);
    close(g->fd);
    hearthi_message_stream_free(&g->in);
    hearthi_message_stream_free(&g->out);
    free(g);
}

/* ---- what comes ---- */

/* What the first n bytes of a connection are: of a rank, and of a connection
 * that it has not already? */
static enum hearthi_rank_hello
words_judge(const struct hearthi_listener_words *w, size_t n)
{
    enum hearthi_rank_hello heard = hearthi_listener_hear(&h.listener, w, n);
    uint32_t                rank = hearthi_gateway_place(w->head.rank);

    if (heard == HEARTHI_LISTENER_GOOD &&
        (rank > (uint32_t)hearthi_gateway_server.ranks ||
         w->head.slot >= HEARTHI_WAN_SLOTS ||
         h.of[connection(rank, w->head.slot)] != NULL))
        return HEARTHI_LISTENER_STRANGER;
    return heard;
}

/* False: it is a stranger. */
static bool
client_hello(struct client *g)
{
    size_t                        n = hearthi_message_stream_left(&g->in);
    struct hearthi_listener_words w = { .head = { .rank = 0 } };
    enum hearthi_rank_hello       judged;

    n = n < sizeof w ? n : sizeof w;
    if (n > 0)
        memcpy(&w, g->in.p + g->in.at, n);
    judged = words_judge(&w, n);
    if (judged != HEARTHI_LISTENER_GOOD)
        return judged == HEARTHI_LISTENER_IN_PART;
    g->in.at += sizeof w;
    g->rank = hearthi_gateway_place(w.head.rank);
    g->slot = w.head.slot;
    g->known = true;
    hearthi_stranger_leave(&g->stranger);
    h.of[connection(g->rank, g->slot)] = g;
    w.head.answer = 1;
    w.head.len = 0;
    hearthi_gateway_hand(&w.head, NULL);
    return true;
}

/* A goodbye is answered before a rank closes anything. */
static void
client_end(struct client *g, int why)
{
    if (g->known && !h.bye[g->rank])
        hearthi_gateway_client_lost(g->rank, why);
    client_close(g);
}

void
hearthi_gateway_clients_bye(uint32_t place)
{
    h.bye[place] = true;
}

static void
client_serve(struct client *g)
{
    const struct hearthi_wan_message *msg;
    bool                              open;
    int                               why;

    errno = 0;
    open = hearthi_message_stream_read(&g->in, g->fd);
    why = errno;
    if (!g->known && !client_hello(g)) {
        client_close(g);
        return;
    }
    while (g->known && (msg = hearthi_message_stream_next(&g->in)) != NULL) {
        hearthi_batching_asked(connection(g->rank, g->slot));
        hearthi_gateway_take_own(msg);
    }
    if (!open)
        client_end(g, why);
}

/* ---- new clients ---- */

/* The connection of a stranger. */
static struct client *
client_of(struct hearthi_stranger *stranger)
{
    return (struct client *)stranger;
}

static void
client_add(int fd, const struct hearthi_stranger *stranger, bool good)
{
    struct client           *g = calloc(1, sizeof *g);
    struct hearthi_stranger *last;

    if (g == NULL)
        hearthi_fatal("gateway", "no memory for a connection");
    hearthi_listener_prepare(fd);
    g->fd = fd;
    g->stranger = *stranger;
    if (!good) {
        if ((last = hearthi_strangers_last()) != NULL)
            client_close(client_of(last));
        hearthi_stranger_enter(&g->stranger);
    }
    watch(g, fd, EPOLL_CTL_ADD, EPOLLIN);
    if (good)
        client_serve(g);
}

/* By a look at what it has said, which stays where it is. */
static void
client_judge(int fd, const struct sockaddr *from)
{
    struct hearthi_listener_words w = { .head = { .rank = 0 } };
    ssize_t n = recv(fd, &w, sizeof w, MSG_PEEK | MSG_DONTWAIT);
    enum hearthi_rank_hello judged = words_judge(&w, n > 0 ? (size_t)n : 0);
    struct hearthi_stranger stranger = hearthi_stranger_of(from);

    if (judged == HEARTHI_LISTENER_GOOD ||
        (judged == HEARTHI_LISTENER_IN_PART && n != 0 &&
         hearthi_stranger_may(&stranger)))
        client_add(fd, &stranger, judged == HEARTHI_LISTENER_GOOD);
    else
        close(fd);
}

/* A rank that got no connection would wait for ever. */
static void
clients_accept(void)
{
    for (int i = 0; i < AT_ONCE; i++) {
        union hearthi_address from;
        socklen_t             size = sizeof from;
        int                   fd = hearthi_descriptor(
                              accept4(h.listen, &from.any, &size, SOCK_CLOEXEC | SOCK_NONBLOCK));

        if (fd >= 0)
            client_judge(fd, &from.any);
        else if (errno == EAGAIN)
            return;
        else if (errno != EINTR && errno != ECONNABORTED &&
                 (errno != EMFILE || !hearthi_listener_more_files()))
            hearthi_fatal("gateway",
                          "a rank's connection cannot be taken: %s: raise "
                          "the limit on open files (ulimit -n)",
                          strerror(errno));
    }
}

/* ---- what goes ---- */

void
hearthi_gateway_answered(const struct hearthi_wan_message *head)
{
    if (head->slot < HEARTHI_WAN_SLOTS)
        hearthi_batching_answered(
            connection(hearthi_gateway_place(head->rank), head->slot));
}

void
hearthi_gateway_hand(const struct hearthi_wan_message *head, const void *body)
{
    static const char zeros[8];
    uint32_t          rank = hearthi_gateway_place(head->rank);
    struct client    *g = h.of[connection(rank, head->slot)];

    if (g == NULL)
        return;
    hearthi_message_stream_add(&g->out, head, sizeof *head);
    hearthi_message_stream_add(&g->out, body, head->len);
    hearthi_message_stream_add(&g->out, zeros,
                               hearthi_wan_round(head->len) - head->len);
    if (!g->touched) {
        g->next = h.going;
        h.going = g;
        g->touched = true;
    }
}

static void
client_send(struct client *g)
{
    bool full;

    if (!hearthi_message_stream_write(&g->out, g->fd))
        g->out.at = g->out.end; /* it has gone: its end is told elsewhere */
    full = hearthi_message_stream_left(&g->out) > 0;
    if (full != g->full)
        watch(g, g->fd, EPOLL_CTL_MOD, EPOLLIN | (full ? EPOLLOUT : 0));
    g->full = full;
}

void
hearthi_gateway_clients_send(void)
{
    while (h.going != NULL) {
        struct client *g = h.going;

        h.going = g->next;
        g->touched = false;
        client_send(g);
    }
}

/* ---- turns ---- */

/* New clients come last, since one may have the place of one that an event is
 * of. */
void
hearthi_gateway_clients_take(int ms)
{
    struct epoll_event e[EVENTS];
    bool               knocks = false;
    int                n = epoll_wait(h.epoll, e, EVENTS, ms);

    for (int i = 0; i < n; i++) {
        struct client *g = e[i].data.ptr;

        if (g == &listening)
            knocks = true;
        else if (g != &linked)
            (e[i].events & EPOLLOUT ? client_send : client_serve)(g);
    }
    if (knocks)
        clients_accept();
}

/* ---- begin and end ---- */

struct hearthi_listener
hearthi_gateway_clients_listen(void)
{
    h.listen = hearthi_listener_listen(&h.listener);
    return h.listener;
}

void
hearthi_gateway_clients_open(int other)
{
    hearthi_strangers_open();
    hearthi_batching_open(of_count());
    h.of = calloc(of_count(), sizeof(struct client *));
    h.bye = calloc((size_t)hearthi_gateway_server.ranks + 1, sizeof *h.bye);
    h.epoll = hearthi_descriptor(epoll_create1(EPOLL_CLOEXEC));
    if (h.of == NULL || h.bye == NULL || h.epoll < 0)
        hearthi_fatal("hearth_init", "no memory for a gateway");
    watch(&listening, h.listen, EPOLL_CTL_ADD, EPOLLIN);
    watch(&linked, other, EPOLL_CTL_ADD, EPOLLIN);
}

void
hearthi_gateway_clients_forked(void)
{
    for (size_t i = 0; i < of_count(); i++)
        if (h.of[i] != NULL)
            close(h.of[i]->fd);
    close(h.listen);
}

void
hearthi_gateway_clients_close(void)
{
    struct hearthi_stranger *stranger;

    for (size_t i = 0; i < of_count(); i++)
        if (h.of[i] != NULL)
            client_close(h.of[i]);
    while ((stranger = hearthi_strangers_any()) != NULL)
        client_close(client_of(stranger));
    free(h.of);
    free(h.bye);
    close(h.listen);
    close(h.epoll);
    hearthi_batching_close();
}
