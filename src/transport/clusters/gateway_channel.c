/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "gateway_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <sched.h>
#include <stdio.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "node/event.h"
#include "transport/transport.h"
#include "world.h"

enum {
    NAP_MS = 1,
    PAUSE_MS = 64,
    CROWDED_NS = 20000,
    MOMENT = 1 /* s */
};

struct hearthi_gateway_channel {
    int      fd;
    uint32_t slot;
    bool     used;
};

static struct {
    int                            gateway; /* its place here */
    struct hearthi_gateway_channel all[HEARTHI_WAN_THREADS];
    unsigned                       n;
    pthread_mutex_t                mutex;
    void (*progress)(void);
} ch = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void
hearthi_gateway_channels_open(const struct hearthi_listener *listener)
{
    hearthi_gateway_connect_at(listener);
    ch.gateway = listener->gateway;
    ch.n = 0;
    ch.progress = NULL;
}

void
hearthi_gateway_channels_progress(void (*progress)(void))
{
    ch.progress = progress;
}

void
hearthi_gateway_channels_close(void)
{
    for (unsigned i = 0; i < ch.n; i++)
        close(ch.all[i].fd);
    ch.n = 0;
}

/* How many ranks of this cluster speak before this one does. */
static unsigned
turn_of(void)
{
    int place = hearthi_world.rank - hearthi_world.first;

    return (unsigned)(place - (place > ch.gateway));
}

/* Whatever ends the gateway's rank says why, and its launcher ends this one,
 * in a moment; after a time-out at its end, which looks for this one in the
 * same way, by a look later (rank_listener.c).  All ranks find out, and the
 * first of them says it: its launcher ends the others before their turn comes,
 * also where it only sees that the first one has ended, unless that is gone,
 * too, or computes. */
_Noreturn static void
gone(const char *what, int code)
{
    enum { SECOND = 1000000000, LOOKS = 4, TURNS = 10 };
    enum { TURN = HEARTHI_ABORT_SECONDS + 2 };
    unsigned wait = MOMENT, turn = turn_of();

    if (hearthi_doubt_hook != NULL && hearthi_doubt_hook())
        hearthi_end_wait();
    if (hearthi_listener_silent(code))
        wait += (unsigned)(hearthi_opt.gateway_giveup / LOOKS / SECOND);
    for (wait += TURN * (turn < TURNS ? turn : TURNS); wait > 0;)
        wait = sleep(wait);
    if (hearthi_listener_silent(code))
        hearthi_fatal(what,
                      "no answer from the gateway of this cluster for long "
                      "(%s): the network between its host and this rank's, or "
                      "one of the two hosts, is down",
                      strerror(code));
    hearthi_fatal(what, "the gateway of this cluster is gone (%s)",
                  code == 0 ? "it has closed the connection" : strerror(code));
}

/* ---- waiting ---- */

/* A gateway answers from its own cluster in less time than it takes to wake a
 * sleeper, and from another after a round trip, which is worth a sleep. */
static uint64_t
spin_ns(void)
{
    if (!hearthi_crowded())
        return HEARTHI_SPIN_NS;
    return ch.progress != NULL ? CROWDED_NS : 0;
}

static bool
fd_ready(int fd, short events, int ms)
{
    struct pollfd p = { .fd = fd, .events = events };

    if (ch.progress != NULL)
        ch.progress();
    return poll(&p, 1, ms) > 0;
}

static void
nap(int ms)
{
    if (ch.progress != NULL)
        ch.progress();
    poll(NULL, 0, ms);
}

/* Where this rank must drive the progress of others it looks at least each
 * millisecond. */
static void
fd_wait(int fd, short events)
{
    uint64_t begin = hearthi_now(), most = spin_ns();

    while (hearthi_now() - begin < most) {
        if (fd_ready(fd, events, 0))
            return;
        sched_yield();
    }
    while (!fd_ready(fd, events, ch.progress != NULL ? NAP_MS : -1))
        continue;
}

/* So many bytes have gone; parts that have none left go, too. */
static void
parts_advance(struct iovec **part, int *n, size_t bytes)
{
    for (; *n > 0 && bytes >= (*part)->iov_len; ++*part, --*n)
        bytes -= (*part)->iov_len;
    if (bytes > 0) {
        (*part)->iov_base = (char *)(*part)->iov_base + bytes;
        (*part)->iov_len -= bytes;
    }
}

static void
bytes_send(struct hearthi_gateway_channel *c, struct iovec *part, int n)
{
    while (n > 0) {
        struct msghdr m = { .msg_iov = part, .msg_iovlen = (size_t)n };
        ssize_t       k = sendmsg(c->fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL);

        if (k < 0 && errno != EAGAIN && errno != EINTR)
            gone("gateway", errno);
        if (k < 0)
            fd_wait(c->fd, POLLOUT);
        parts_advance(&part, &n, k > 0 ? (size_t)k : 0);
    }
}

static void
bytes_read(struct hearthi_gateway_channel *c, void *to, size_t len,
           const char *what)
{
    char *at = to;

    while (len > 0) {
        ssize_t k = recv(c->fd, at, len, MSG_DONTWAIT);

        if (k == 0 || (k < 0 && errno != EAGAIN && errno != EINTR))
            gone(what, k == 0 ? 0 : errno);
        if (k < 0) {
            fd_wait(c->fd, POLLIN);
            continue;
        }
        at += k;
        len -= (size_t)k;
    }
}

/* ---- connections ---- */

_Noreturn static void
no_connection(int code)
{
    if (code == EMFILE || code == ENFILE)
        hearthi_fatal("gateway",
                      "no connection to the gateway of this cluster: %s: "
                      "raise the limit on open files (ulimit -n)",
                      strerror(code));
    if (ch.n > 0 && code == ECONNREFUSED)
        gone("gateway", code);
    hearthi_fatal("gateway",
                  "no TCP connection to the gateway of this cluster (%s): let "
                  "a firewall pass TCP between its hosts, or choose their "
                  "network by HEARTH_NETWORK",
                  strerror(code));
}

/* Others may keep this rank out for a while; but a gateway that listens no
 * more, or cannot be reached from here, is not there a moment later. */
static bool
may_pass(int code)
{
    return code == ETIMEDOUT || code == ECONNRESET || code == EPIPE ||
           code == ECONNABORTED;
}

/* A rank is not sent away any more once its hello is answered: so it may ask
 * what must be asked once. */
static int
listener_pass(unsigned slot)
{
    uint64_t end = hearthi_clock_kernel() + hearthi_opt.gateway_giveup;
    int      fd, pause = NAP_MS;

    while ((fd = hearthi_gateway_connect(slot, fd_wait)) < 0) {
        int code = errno;

        if (!may_pass(code) || hearthi_clock_kernel() >= end)
            no_connection(code);
        nap(pause);
        pause = pause < PAUSE_MS ? 2 * pause : PAUSE_MS;
    }
    return fd;
}

static void
channel_make(struct hearthi_gateway_channel *c, unsigned slot)
{
    *c = (struct hearthi_gateway_channel){ .fd = listener_pass(slot),
                                           .slot = slot,
                                           .used = true };
}

/* To wait for one would be for ever where all others wait for what this thread
 * is about to say. */
static struct hearthi_gateway_channel *
channel_more(void)
{
    struct hearthi_gateway_channel *c = &ch.all[ch.n];

    if (ch.n == HEARTHI_WAN_THREADS)
        hearthi_fatal("gateway",
                      "more than %d threads of this rank wait for pages, "
                      "locks, flags or barriers",
                      HEARTHI_WAN_THREADS);
    channel_make(c, ch.n);
    ch.n++;
    return c;
}

struct hearthi_gateway_channel *
hearthi_gateway_channel_take(void)
{
    struct hearthi_gateway_channel *c = NULL;

    hearthi_mutex_lock(&ch.mutex, HEARTHI_MUTEX_CHANNELS);
    for (unsigned i = 0; i < ch.n && c == NULL; i++)
        if (!ch.all[i].used)
            c = &ch.all[i];
    if (c == NULL)
        c = channel_more();
    c->used = true;
    hearthi_mutex_unlock(&ch.mutex, HEARTHI_MUTEX_CHANNELS);
    return c;
}

void
hearthi_gateway_channel_give(struct hearthi_gateway_channel *c)
{
    hearthi_mutex_lock(&ch.mutex, HEARTHI_MUTEX_CHANNELS);
    HEARTHI_ASSERT(c->used);
    c->used = false;
    hearthi_mutex_unlock(&ch.mutex, HEARTHI_MUTEX_CHANNELS);
}

/* ---- asks ---- */

void
hearthi_gateway_channel_send(struct hearthi_gateway_channel *c,
                             struct hearthi_wan_message      msg,
                             const struct iovec *body, int n)
{
    enum { MOST = 192 };
    static const char zeros[8];
    struct iovec      part[MOST + 2];
    size_t            len = 0;

    for (int i = 0; i < n; i++) {
        part[1 + i] = body[i];
        len += body[i].iov_len;
    }
    msg.len = (uint32_t)len;
    msg.rank = (uint32_t)hearthi_world.rank;
    msg.slot = c->slot;
    part[0] = (struct iovec){ &msg, sizeof msg };
    part[1 + n] =
        (struct iovec){ (void *)zeros, hearthi_wan_round(len) - len };
    bytes_send(c, part, n + 2);
}

struct hearthi_wan_message
hearthi_gateway_channel_hear(struct hearthi_gateway_channel *c,
                             const char                     *what)
{
    struct hearthi_wan_message answer;

    bytes_read(c, &answer, sizeof answer, what);
    return answer;
}

void
hearthi_gateway_channel_read(struct hearthi_gateway_channel *c, void *to,
                             size_t len)
{
    bytes_read(c, to, len, "gateway");
}

struct hearthi_wan_message
hearthi_gateway_channel_ask(struct hearthi_gateway_channel *c,
                            struct hearthi_wan_message msg, const void *body,
                            size_t len, const char *what)
{
    hearthi_gateway_channel_send(c, msg, &(struct iovec){ (void *)body, len },
                                 1);
    return hearthi_gateway_channel_hear(c, what);
}

struct hearthi_wan_message
hearthi_gateway_channel_call(struct hearthi_wan_message msg, const void *body,
                             size_t len, const char *what)
{
    struct hearthi_gateway_channel *c = hearthi_gateway_channel_take();
    struct hearthi_wan_message      answer =
        hearthi_gateway_channel_ask(c, msg, body, len, what);

    hearthi_gateway_channel_give(c);
    return answer;
}

int
hearthi_gateway_channel_unasked(void)
{
    return listener_pass(HEARTHI_WAN_HEARS);
}

/* On a connection of its own, since others may be in the midst of something:
 * the gateway need not know which rank it is.  One that is gone, too, has told
 * the others itself, and this rank has still to say its line: so nothing here
 * ends the job.  A new connection has room for all of it. */
bool
hearthi_gateway_channel_ending(const char *line)
{
    enum { SECOND = 1000 };
    char                       body[HEARTHI_ENDING_MAX] = "";
    struct hearthi_wan_message msg = { .op = HEARTHI_WAN_ENDING,
                                       .len = sizeof body,
                                       .rank = (uint32_t)hearthi_world.rank,
                                       .slot = HEARTHI_WAN_ENDS };
    struct iovec part[] = { { &msg, sizeof msg }, { body, sizeof body } };
    struct hearthi_wan_message answer = { .kind = HEARTHI_WAN_TAKEN };

    snprintf(body, sizeof body, "%s", line);
    hearthi_gateway_connect_and_say(HEARTHI_WAN_ENDS, part, 2, &answer,
                                    SECOND);
    return (answer.kind & HEARTHI_WAN_TAKEN) != 0;
}
