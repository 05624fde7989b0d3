/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "gateway_client.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "gateway_server.h"

struct hearthi_clients hearthi_clients;

static size_t
connection(uint32_t place, uint32_t slot)
{
    return (size_t)place * HEARTHI_WAN_SLOTS + slot;
}

/* ---- descriptors ---- */

void
hearthi_client_watch(struct hearthi_client *g, int fd, int how,
                     uint32_t events)
{
    struct epoll_event e = { .events = events, .data.ptr = g };

    if (epoll_ctl(hearthi_clients.epoll, how, fd, &e) != 0)
        hearthi_fatal("gateway", "epoll: %s", strerror(errno));
}

/* It has a connection now, which it had not. */
static void
client_up(struct hearthi_client *g)
{
    struct hearthi_client_rank *r = &hearthi_clients.rank[g->rank];

    r->up++;
    if (r->down == 0)
        return;
    r->down = 0;
    hearthi_clients.down--;
}

/* A child of fork() may have the descriptor still, and then epoll would go on
 * to tell of it. */
static void
client_down(struct hearthi_client *g)
{
    struct hearthi_client_rank *r = &hearthi_clients.rank[g->rank];

    if (g->fd < 0)
        return;
    hearthi_client_watch(g, g->fd, EPOLL_CTL_DEL, 0);
    close(g->fd);
    g->fd = -1;
    g->full = false;
    if (!g->known || --r->up > 0)
        return;
    r->down = hearthi_clock_kernel();
    hearthi_clients.down++;
}

static void
client_free(struct hearthi_client *g)
{
    struct hearthi_client **at = &hearthi_clients.going;

    hearthi_stranger_leave(&g->stranger);
    while (*at != NULL && *at != g)
        at = &(*at)->next;
    if (g->touched)
        *at = g->next;
    hearthi_message_stream_free(&g->in);
    hearthi_replay_free(&g->replay);
    free(g);
}

void
hearthi_client_close(struct hearthi_client *g)
{
    if (g->known)
        hearthi_clients.of[connection(g->rank, g->slot)] = NULL;
    else
        hearthi_stranger_count(&g->stranger);
    client_down(g);
    client_free(g);
}

/* ---- what is known ---- */

/* A connection that was there before goes on where both sides say.  A rank may
 * not know that it was: the answer to its first hello did not reach it, and it
 * has said nothing behind that.  Calls may come here in another order than the
 * rank made them; the last one is the only one that it waits on. */
static bool
is_welcome(const struct hearthi_wan_message *hello, uint32_t place)
{
    const bool                   again = hello->kind & HEARTHI_WAN_AGAIN;
    const struct hearthi_client *old =
        hearthi_clients.of[connection(place, hello->slot)];

    if (old == NULL)
        return !again;
    return hello->value > old->calls && (again || old->replay.taken == 0) &&
           hearthi_replay_may(&old->replay, hello->at);
}

enum hearthi_rank_hello
hearthi_client_judge(const struct hearthi_listener_words *w, size_t n)
{
    enum hearthi_rank_hello heard =
        hearthi_listener_hear(&hearthi_clients.listener, w, n);
    uint32_t place = hearthi_gateway_place(w->head.rank);

    if (heard == HEARTHI_LISTENER_GOOD &&
        (place > (uint32_t)hearthi_gateway_server.ranks ||
         w->head.slot >= HEARTHI_WAN_SLOTS || !is_welcome(&w->head, place)))
        return HEARTHI_LISTENER_STRANGER;
    return heard;
}

/* Beside what has a number.  A new connection has room for it; if it is reset
 * already the rank calls once more, and nobody may ask this one any more,
 * since a reset that was told once looks like the end of a process. */
static void
hello_answer(struct hearthi_client *g, struct hearthi_wan_message head)
{
    g->calls = head.value;
    head.answer = 1;
    head.len = 0;
    head.at = g->replay.taken;
    if (send(g->fd, &head, sizeof head, MSG_DONTWAIT | MSG_NOSIGNAL) < 0)
        client_down(g);
}

static void
client_touch(struct hearthi_client *g)
{
    if (g->touched)
        return;
    g->next = hearthi_clients.going;
    hearthi_clients.going = g;
    g->touched = true;
}

/* The old one has what was taken and what is kept, and the descriptor of the
 * new one. */
static void
client_resume(struct hearthi_client *old, struct hearthi_client *g,
              uint64_t taken)
{
    client_down(old);
    old->fd = g->fd;
    client_up(old);
    hearthi_client_watch(old, old->fd, EPOLL_CTL_MOD, EPOLLIN);
    hearthi_replay_taken(&old->replay, taken);
    hearthi_replay_again(&old->replay);
    client_touch(old);
    client_free(g);
}

static void
client_begin(struct hearthi_client *g, const struct hearthi_wan_message *hello)
{
    g->rank = hearthi_gateway_place(hello->rank);
    g->slot = hello->slot;
    g->known = true;
    client_up(g);
    hearthi_stranger_leave(&g->stranger);
    hearthi_clients.of[connection(g->rank, g->slot)] = g;
    hearthi_replay_take(&g->replay, hearthi_message_stream_left(&g->in));
}

/* The client that goes on with the connection: this one, unless it was there
 * before. */
static struct hearthi_client *
client_enter(struct hearthi_client *g, const struct hearthi_wan_message *hello)
{
    struct hearthi_client *old =
        hearthi_clients
            .of[connection(hearthi_gateway_place(hello->rank), hello->slot)];

    if (old == NULL) {
        client_begin(g, hello);
        return g;
    }
    client_resume(old, g, hello->at);
    return old;
}

/* By its hello.  Gives what goes on with the connection; or NULL: it is a
 * stranger, and closed.  Who goes on with one waits for the answer before it
 * says more. */
static struct hearthi_client *
client_hello(struct hearthi_client *g)
{
    const size_t                  all = hearthi_message_stream_left(&g->in);
    struct hearthi_listener_words w = { .head = { .rank = 0 } };
    size_t                        n = all < sizeof w ? all : sizeof w;
    enum hearthi_rank_hello       judged;

    if (n > 0)
        memcpy(&w, g->in.p + g->in.at, n);
    judged = hearthi_client_judge(&w, n);
    if (judged == HEARTHI_LISTENER_IN_PART)
        return g;
    if (judged != HEARTHI_LISTENER_GOOD ||
        ((w.head.kind & HEARTHI_WAN_AGAIN) != 0 && all > n)) {
        hearthi_client_close(g);
        return NULL;
    }
    g->in.at += n;
    g = client_enter(g, &w.head);
    hello_answer(g, w.head);
    return g;
}

/* ---- what ends ---- */

/* A goodbye is answered before a rank closes anything.  A process that is
 * killed ends all its connections, and but for such as have bytes that it has
 * not read, not by a reset: so a rank of which only resets are seen may come
 * back, and is gone if all its connections stay away. */
static void
client_end(struct hearthi_client *g, int why)
{
    if (g->known && hearthi_replay_is_reset(why)) {
        client_down(g);
        return;
    }
    if (g->known && !hearthi_clients.rank[g->rank].bye)
        hearthi_gateway_client_lost(g->rank, why);
    hearthi_client_close(g);
}

void
hearthi_clients_look(void)
{
    uint64_t now = hearthi_clock_kernel();

    for (int i = 0; i < hearthi_gateway_server.ranks; i++) {
        const struct hearthi_client_rank *r = &hearthi_clients.rank[i];

        if (r->down != 0 && !r->bye &&
            now - r->down > hearthi_opt.gateway_giveup)
            hearthi_gateway_client_lost((uint32_t)i, 0);
    }
}

/* ---- what comes ---- */

static void
client_taken(struct hearthi_client *g, uint64_t taken)
{
    if (!hearthi_replay_taken(&g->replay, taken))
        hearthi_fatal("gateway",
                      "a rank says that it has %llu bytes of a connection, "
                      "which makes no sense",
                      (unsigned long long)taken);
}

static void
messages_take(struct hearthi_client *g)
{
    const struct hearthi_wan_message *msg;

    while ((msg = hearthi_message_stream_next(&g->in)) != NULL)
        if (msg->op == HEARTHI_WAN_HEARD) {
            client_taken(g, msg->at);
        } else {
            hearthi_batching_asked(connection(g->rank, g->slot));
            hearthi_gateway_take_own(msg);
        }
}

static void
client_tell(struct hearthi_client *g)
{
    const struct hearthi_wan_message head = { .slot = g->slot, .answer = 1 };

    if (!hearthi_replay_due(&g->replay))
        return;
    hearthi_replay_tell(&g->replay, head);
    client_touch(g);
}

void
hearthi_client_serve(struct hearthi_client *g)
{
    const bool   known = g->known;
    const size_t left = hearthi_message_stream_left(&g->in);
    bool         open;
    int          why;

    if (g->fd < 0)
        return;
    errno = 0;
    open = hearthi_message_stream_read(&g->in, g->fd);
    why = errno;
    if (known)
        hearthi_replay_take(&g->replay,
                            hearthi_message_stream_left(&g->in) - left);
    else
        g = client_hello(g);
    if (g == NULL)
        return;
    if (g->known) {
        messages_take(g);
        client_tell(g);
    }
    if (!open && g->fd >= 0)
        client_end(g, why);
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
    static const char      zeros[8];
    uint32_t               place = hearthi_gateway_place(head->rank);
    struct hearthi_client *g =
        hearthi_clients.of[connection(place, head->slot)];

    if (g == NULL)
        return;
    hearthi_replay_add(&g->replay, head, sizeof *head);
    hearthi_replay_add(&g->replay, body, head->len);
    hearthi_replay_add(&g->replay, zeros,
                       hearthi_wan_round(head->len) - head->len);
    client_touch(g);
}

void
hearthi_client_send(struct hearthi_client *g)
{
    bool full;

    if (g->fd < 0)
        return;
    if (!hearthi_replay_send(&g->replay, g->fd)) {
        client_end(g, errno);
        return;
    }
    full = hearthi_replay_left(&g->replay) > 0;
    if (full != g->full)
        hearthi_client_watch(g, g->fd, EPOLL_CTL_MOD,
                             EPOLLIN | (full ? EPOLLOUT : 0));
    g->full = full;
}
