/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "link_proxy.h"

#include <arpa/inet.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "property.h"
#include "visitor.h"

enum { PAIRS = 16, BYTES = 8192 };

/* One connection through the proxy; what the other side does not take waits.
 */
struct pair {
    int    fd[2];
    size_t from[2], to[2];
    char   data[2][BYTES];
    bool   mute;
};

struct state {
    struct proxy *p;
    int           listener;
    struct pair   pair[PAIRS];
    int           n;
    bool          met;  /* somebody */
    uint64_t      left; /* bytes until the next trouble */
    int           pieces;
    uint64_t      quiet; /* until then nothing is carried */
    uint64_t      calm;  /* until then there is no trouble */
};

static void
pair_end(struct state *s, int i)
{
    const struct linger now = { 1, 0 };

    for (int k = 0; k < 2; k++) {
        setsockopt(s->pair[i].fd[k], SOL_SOCKET, SO_LINGER, &now, sizeof now);
        close(s->pair[i].fd[k]);
    }
    s->pair[i] = s->pair[--s->n];
}

/* When nobody is there any more, nobody is here. */
static void
pair_begin(struct state *s)
{
    struct pair *x = &s->pair[s->n];

    memset(x, 0, sizeof *x);
    x->fd[0] = accept(s->listener, NULL, NULL);
    if (s->n == PAIRS - 1) {
        close(x->fd[0]);
        return;
    }
    x->fd[1] = visitor_or_none(s->p->to);
    if (x->fd[1] < 0) {
        close(x->fd[0]);
        if (s->met)
            close(s->listener);
        s->listener = s->met ? -1 : s->listener;
        return;
    }
    s->met = true;
    x->mute = s->quiet != 0;
    s->n++;
}

static void
left_set(struct state *s)
{
    s->left = s->p->every == 0
                  ? UINT64_MAX
                  : 1 + below(&s->p->seed, 2 * (size_t)s->p->every);
}

static enum trouble
trouble_draw(struct proxy *p)
{
    enum trouble t = p->what;

    if (p->piece == 0)
        do
            t = (enum trouble)below(&p->seed, TROUBLES);
        while (t == TROUBLE_SPOIL && p->unspoilt);
    return t;
}

/* True if the connection is cut. */
static bool
trouble_have(struct state *s, struct pair *x, int k)
{
    enum trouble t = trouble_draw(s->p);

    s->p->had[t]++;
    left_set(s);
    switch (t) {
    case TROUBLE_CUT: return true;
    case TROUBLE_SPOIL: x->data[k][x->from[k]] ^= 4; break;
    default:
        s->quiet = hearthi_clock_kernel() + (uint64_t)(s->p->silent * 1e9);
        s->calm = s->quiet + (uint64_t)(s->p->calm * 1e9);
        for (int i = 0; i < s->n; i++)
            s->pair[i].mute = true;
    }
    return false;
}

/* Take from side k and give to the other; false: the end. */
static bool
carry(struct state *s, struct pair *x, int k, short events, short room)
{
    ssize_t n;

    if (events != 0 && x->to[k] == 0) {
        n = recv(x->fd[k], x->data[k], s->p->slow != 0 ? s->p->slow : BYTES,
                 MSG_DONTWAIT);
        if (n <= 0)
            return false;
        x->to[k] = (size_t)n;
        x->mute |= s->p->most != 0 && n > s->p->most;
        if ((++s->pieces == s->p->piece ||
             ((uint64_t)n >= s->left && hearthi_clock_kernel() > s->calm)) &&
            trouble_have(s, x, k))
            return false;
        if (s->left != UINT64_MAX)
            s->left -= (uint64_t)n < s->left ? (uint64_t)n : s->left;
    }
    if (x->mute) {
        x->from[k] = x->to[k] = 0; /* swallowed */
    } else if (x->to[k] > 0 && (room & POLLOUT) != 0) {
        n = send(x->fd[1 - k], x->data[k] + x->from[k], x->to[k] - x->from[k],
                 MSG_NOSIGNAL | MSG_DONTWAIT);
        if (n < 0)
            return false;
        x->from[k] += (size_t)n;
        if (x->from[k] == x->to[k])
            x->from[k] = x->to[k] = 0;
    }
    return true;
}

static void
events_wait(struct state *s, struct pollfd *p)
{
    p[0] = (struct pollfd){ .fd = s->listener, .events = POLLIN };
    for (int i = 0; i < s->n; i++)
        for (int k = 0; k < 2; k++) {
            const struct pair *x = &s->pair[i];

            p[1 + 2 * i + k] = (struct pollfd){
                .fd = x->fd[k],
                .events = (short)((x->to[k] == 0 ? POLLIN : 0) |
                                  (x->to[1 - k] > 0 ? POLLOUT : 0))
            };
        }
    poll(p, 1 + 2 * (nfds_t)s->n, 20);
}

static void *
run(void *proxy)
{
    struct state *s = calloc(1, sizeof *s);
    struct pollfd p[1 + 2 * PAIRS];

    if (s == NULL)
        abort();
    s->p = proxy;
    s->listener = s->p->listener;
    left_set(s);
    while (!s->p->over && (s->listener >= 0 || s->n > 0)) {
        int n = s->n;

        events_wait(s, p);
        if (s->p->slow != 0)
            usleep(20000);
        if (s->quiet != 0 && hearthi_clock_kernel() > s->quiet)
            s->quiet = 0; /* connections that were mute stay so */
        for (int i = n - 1; i >= 0; i--) {
            const struct pollfd *q = &p[1 + 2 * i];
            struct pair         *x = &s->pair[i];

            if (!carry(s, x, 0, q[0].revents & ~POLLOUT, q[1].revents) ||
                !carry(s, x, 1, q[1].revents & ~POLLOUT, q[0].revents))
                pair_end(s, i);
        }
        if (p[0].revents != 0)
            pair_begin(s);
    }
    while (s->n > 0)
        pair_end(s, 0);
    if (s->listener >= 0)
        close(s->listener);
    free(s);
    return NULL;
}

void
proxy_start(struct proxy *p)
{
    struct sockaddr_in a = { .sin_family = AF_INET };
    socklen_t          len = sizeof a;
    pthread_t          thread;
    sigset_t           all, before;
    int                fd = socket(AF_INET, SOCK_STREAM | SOCK_NONBLOCK, 0);

    a.sin_addr.s_addr = htonl(INADDR_LOOPBACK);
    if (bind(fd, (struct sockaddr *)&a, sizeof a) != 0 ||
        listen(fd, 20) != 0 ||
        getsockname(fd, (struct sockaddr *)&a, &len) != 0)
        abort();
    p->listener = fd;
    p->port = ntohs(a.sin_port);
    sigfillset(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    if (pthread_create(&thread, NULL, run, p) != 0)
        abort();
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_detach(thread);
}
