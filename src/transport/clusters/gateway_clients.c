/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A connection says first which rank and slot it is, and the token that MPI
 * brought to this cluster's ranks, and is answered; else it is cut off.  One
 * that has not said all of it is a stranger (gateway_strangers.c).
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/descriptor.h"
#include "base/report.h"
#include "gateway_client.h"
#include "gateway_server.h"

enum { EVENTS = 64, AT_ONCE = 64 /* new ones of a turn */ };
enum { LOOK_MS = 1000 };

static struct hearthi_client listening,
    linked; /* what stands for these descriptors */

static size_t
of_count(void) /* one more than the program sees may be connected */
{
    return ((size_t)hearthi_gateway_server.ranks + 1) * HEARTHI_WAN_SLOTS;
}

void
hearthi_gateway_clients_bye(uint32_t place)
{
    hearthi_clients.rank[place].bye = true;
}

/* ---- new clients ---- */

/* The connection of a stranger. */
static struct hearthi_client *
client_of(struct hearthi_stranger *stranger)
{
    return (struct hearthi_client *)stranger;
}

static void
client_add(int fd, const struct hearthi_stranger *stranger, bool good)
{
    struct hearthi_client   *g = calloc(1, sizeof *g);
    struct hearthi_stranger *last;

    if (g == NULL)
        hearthi_fatal("gateway", "no memory for a connection");
    hearthi_listener_prepare(fd);
    g->fd = fd;
    g->stranger = *stranger;
    if (!good) {
        if ((last = hearthi_strangers_last()) != NULL)
            hearthi_client_close(client_of(last));
        hearthi_stranger_enter(&g->stranger);
    }
    hearthi_client_watch(g, fd, EPOLL_CTL_ADD, EPOLLIN);
    if (good)
        hearthi_client_serve(g);
}

/* By a look at what it has said, which stays where it is. */
static void
client_judge(int fd, const struct sockaddr *from)
{
    struct hearthi_listener_words w = { .head = { .rank = 0 } };
    ssize_t n = recv(fd, &w, sizeof w, MSG_PEEK | MSG_DONTWAIT);
    enum hearthi_rank_hello       judged =
        hearthi_client_judge(&w, n > 0 ? (size_t)n : 0);
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
        int                   fd =
            hearthi_descriptor(accept4(hearthi_clients.listen, &from.any,
                                       &size, SOCK_CLOEXEC | SOCK_NONBLOCK));

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
hearthi_gateway_clients_send(void)
{
    while (hearthi_clients.going != NULL) {
        struct hearthi_client *g = hearthi_clients.going;

        hearthi_clients.going = g->next;
        g->touched = false;
        hearthi_client_send(g);
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
    int                n;

    if (hearthi_clients.down > 0 && (ms < 0 || ms > LOOK_MS))
        ms = LOOK_MS;
    n = epoll_wait(hearthi_clients.epoll, e, EVENTS, ms);

    for (int i = 0; i < n; i++) {
        struct hearthi_client *g = e[i].data.ptr;

        if (g == &listening)
            knocks = true;
        else if (g != &linked)
            (e[i].events & EPOLLOUT ? hearthi_client_send
                                    : hearthi_client_serve)(g);
    }
    if (knocks)
        clients_accept();
    if (hearthi_clients.down > 0)
        hearthi_clients_look();
}

/* ---- begin and end ---- */

struct hearthi_listener
hearthi_gateway_clients_listen(void)
{
    hearthi_clients.listen =
        hearthi_listener_listen(&hearthi_clients.listener);
    return hearthi_clients.listener;
}

void
hearthi_gateway_clients_open(int other)
{
    hearthi_strangers_open();
    hearthi_batching_open(of_count());
    hearthi_clients.of = calloc(of_count(), sizeof(struct hearthi_client *));
    hearthi_clients.rank = calloc((size_t)hearthi_gateway_server.ranks + 1,
                                  sizeof *hearthi_clients.rank);
    hearthi_clients.going = NULL;
    hearthi_clients.down = 0;
    hearthi_clients.epoll = hearthi_descriptor(epoll_create1(EPOLL_CLOEXEC));
    if (hearthi_clients.of == NULL || hearthi_clients.rank == NULL ||
        hearthi_clients.epoll < 0)
        hearthi_fatal("hearth_init", "no memory for a gateway");
    hearthi_client_watch(&listening, hearthi_clients.listen, EPOLL_CTL_ADD,
                         EPOLLIN);
    hearthi_client_watch(&linked, other, EPOLL_CTL_ADD, EPOLLIN);
}

void
hearthi_gateway_clients_forked(void)
{
    for (size_t i = 0; i < of_count(); i++)
        if (hearthi_clients.of[i] != NULL && hearthi_clients.of[i]->fd >= 0)
            close(hearthi_clients.of[i]->fd);
    close(hearthi_clients.listen);
}

void
hearthi_gateway_clients_close(void)
{
    struct hearthi_stranger *stranger;

    for (size_t i = 0; i < of_count(); i++)
        if (hearthi_clients.of[i] != NULL)
            hearthi_client_close(hearthi_clients.of[i]);
    while ((stranger = hearthi_strangers_any()) != NULL)
        hearthi_client_close(client_of(stranger));
    free(hearthi_clients.of);
    free(hearthi_clients.rank);
    close(hearthi_clients.listen);
    close(hearthi_clients.epoll);
    hearthi_batching_close();
}
