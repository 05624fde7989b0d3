/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A connection says first which rank and slot it is, and the token that MPI
 * brought to this cluster's ranks; who does not is cut off.  One that has said
 * nothing has one of some places.
 */
#include "config.h"

#include "gateway_clients.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/report.h"
#include "batching.h"
#include "gateway_server.h"
#include "message_stream.h"

enum { EVENTS = 64, UNKNOWN = 128 };

/* So long one may say nothing, before it has to give its place to another; and
 * so often it is looked whether one has, while there is no place. */
enum { PATIENCE_NS = 1000000000, LOOK_MS = 10 };

struct guest {
    int                           fd;
    bool                          known, full; /* full: wants to be writable */
    bool                          touched;     /* has something to go out */
    struct guest                 *next;        /* of those that have */
    struct guest                **place;       /* as long as it is not known */
    uint64_t                      since;       /* it came */
    uint32_t                      rank, slot;
    struct hearthi_message_stream in, out;
};

static struct {
    int                     epoll, listen;
    struct hearthi_listener door;
    struct guest          **of;  /* each rank's slots */
    bool                   *bye; /* of each rank, and one that is not seen */
    struct guest           *going;
    struct guest           *unknown[UNKNOWN];
    bool                    crowded; /* others are not let in for the moment */
} h;

static struct guest listening, linked; /* what stands for these descriptors */

/* One more than the program sees may be connected. */
static size_t
of_count(void)
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
watch(struct guest *g, int fd, int how, uint32_t events)
{
    struct epoll_event e = { .events = events, .data.ptr = g };

    if (epoll_ctl(h.epoll, how, fd, &e) != 0)
        hearthi_fatal("gateway", "epoll: %s", strerror(errno));
}

/* A child of fork() may have the descriptor still, and then epoll would go on
 * to tell of it. */
static void
guest_close(struct guest *g)
{
    if (g->known)
        h.of[connection(g->rank, g->slot)] = NULL;
    else
        *g->place = NULL;
    for (struct guest **at = &h.going; *at != NULL; at = &(*at)->next)
        if (*at == g) {
            *at = g->next;
            break;
        }
    watch(g, g->fd, EPOLL_CTL_DEL, 0);
    close(g->fd);
    hearthi_message_stream_free(&g->in);
    hearthi_message_stream_free(&g->out);
    free(g);
}

/* Who says nothing keeps no rank out for long; and of ranks that have come all
 * at once, and had no core yet to say who they are, none is sent away. */
static struct guest **
place_find(void)
{
    struct guest **oldest = &h.unknown[0];

    for (struct guest **at = h.unknown; at < h.unknown + UNKNOWN; at++) {
        if (*at == NULL)
            return at;
        if ((*at)->since < (*oldest)->since)
            oldest = at;
    }
    return hearthi_clock_kernel() - (*oldest)->since < PATIENCE_NS ? NULL
                                                                   : oldest;
}

static void
guest_add(int fd, struct guest **place)
{
    struct guest *g = calloc(1, sizeof *g);

    if (g == NULL)
        hearthi_fatal("gateway", "no memory for a connection");
    hearthi_listener_prepare(fd);
    if (*place != NULL)
        guest_close(*place);
    *place = g;
    g->place = place;
    g->fd = fd;
    g->since = hearthi_clock_kernel();
    watch(g, fd, EPOLL_CTL_ADD, EPOLLIN);
}

/* A rank that got no connection would wait for ever. */
static void
guests_accept(void)
{
    struct guest **place;
    int            fd = 0;

    while ((place = place_find()) != NULL && fd >= 0) {
        fd = accept4(h.listen, NULL, NULL, SOCK_CLOEXEC | SOCK_NONBLOCK);
        if (fd >= 0)
            guest_add(fd, place);
        else if (errno == EMFILE && hearthi_listener_more_files())
            fd = 0;
        else if (errno != EAGAIN && errno != EINTR && errno != ECONNABORTED)
            hearthi_fatal("gateway",
                          "a rank's connection cannot be taken: %s: raise "
                          "the limit on open files (ulimit -n)",
                          strerror(errno));
    }
    if (h.crowded == (place != NULL))
        watch(&listening, h.listen, EPOLL_CTL_MOD, h.crowded ? EPOLLIN : 0);
    h.crowded = place == NULL;
}

/* ---- what comes ---- */

/* False: it is a stranger.  No more than its first words are waited for. */
static bool
guest_hello(struct guest *g)
{
    struct hearthi_wan_message head;
    uint32_t                   rank;
    uint8_t                    token[HEARTHI_TOKEN];

    if (hearthi_message_stream_left(&g->in) < sizeof head)
        return true;
    memcpy(&head, g->in.p + g->in.at, sizeof head);
    if (head.op != HEARTHI_WAN_HELLO || head.len != sizeof token)
        return false;
    if (hearthi_message_stream_left(&g->in) < sizeof head + sizeof token)
        return true;
    memcpy(token, g->in.p + g->in.at + sizeof head, sizeof token);
    rank = hearthi_gateway_place(head.rank);
    if (memcmp(token, h.door.token, sizeof token) != 0 ||
        rank > (uint32_t)hearthi_gateway_server.ranks ||
        head.slot >= HEARTHI_WAN_SLOTS ||
        h.of[connection(rank, head.slot)] != NULL)
        return false;
    g->in.at += sizeof head + sizeof token;
    g->rank = rank;
    g->slot = head.slot;
    g->known = true;
    *g->place = NULL;
    h.of[connection(rank, head.slot)] = g;
    return true;
}

/* A goodbye is answered before a rank closes anything. */
static void
guest_end(struct guest *g, int why)
{
    if (g->known && !h.bye[g->rank])
        hearthi_gateway_client_lost(g->rank, why);
    guest_close(g);
}

void
hearthi_gateway_clients_bye(uint32_t place)
{
    h.bye[place] = true;
}

static void
guest_serve(struct guest *g)
{
    const struct hearthi_wan_message *ask;
    bool                              open;
    int                               why;

    errno = 0;
    open = hearthi_message_stream_read(&g->in, g->fd);
    why = errno;

    if (!g->known && !guest_hello(g)) {
        guest_close(g);
        return;
    }
    while (g->known && (ask = hearthi_message_stream_next(&g->in)) != NULL) {
        hearthi_batching_asked(connection(g->rank, g->slot));
        hearthi_gateway_server_take(ask, false);
    }
    if (!open)
        guest_end(g, why);
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
    struct guest     *g = h.of[connection(rank, head->slot)];

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
guest_send(struct guest *g)
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
        struct guest *g = h.going;

        h.going = g->next;
        g->touched = false;
        guest_send(g);
    }
}

/* ---- turns ---- */

/* Who is new comes last, since he may have the place of one that an event is
 * of. */
void
hearthi_gateway_clients_take(int ms)
{
    struct epoll_event e[EVENTS];
    bool               knocks = h.crowded;
    int                n;

    if (h.crowded && (ms < 0 || ms > LOOK_MS))
        ms = LOOK_MS;
    n = epoll_wait(h.epoll, e, EVENTS, ms);
    for (int i = 0; i < n; i++) {
        struct guest *g = e[i].data.ptr;

        if (g == &listening)
            knocks = true;
        else if (g == &linked)
            continue;
        else if (e[i].events & EPOLLOUT)
            guest_send(g);
        else
            guest_serve(g);
    }
    if (knocks)
        guests_accept();
}

/* ---- begin and end ---- */

struct hearthi_listener
hearthi_gateway_clients_listen(void)
{
    h.listen = hearthi_listener_listen(&h.door);
    return h.door;
}

void
hearthi_gateway_clients_open(int other)
{
    memset(h.unknown, 0, sizeof h.unknown);
    h.crowded = false;
    h.going = NULL;
    hearthi_batching_open(of_count());
    h.of = calloc(of_count(), sizeof(struct guest *));
    h.bye = calloc((size_t)hearthi_gateway_server.ranks + 1, sizeof *h.bye);
    h.epoll = epoll_create1(EPOLL_CLOEXEC);
    if (h.of == NULL || h.bye == NULL || h.epoll < 0)
        hearthi_fatal("hearth_init", "no memory for a gateway");
    watch(&listening, h.listen, EPOLL_CTL_ADD, EPOLLIN);
    watch(&linked, other, EPOLL_CTL_ADD, EPOLLIN);
}

void
hearthi_gateway_clients_close(void)
{
    for (size_t i = 0; i < of_count(); i++)
        if (h.of[i] != NULL)
            guest_close(h.of[i]);
    for (int i = 0; i < UNKNOWN; i++)
        if (h.unknown[i] != NULL)
            guest_close(h.unknown[i]);
    free(h.of);
    free(h.bye);
    close(h.listen);
    close(h.epoll);
    hearthi_batching_close();
}
