/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "rank_connection.h"

#include <errno.h>
#include <poll.h>
#include <sched.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "gateway_channel.h"
#include "node/event.h"
#include "world.h"

enum {
    NAP_MS = 1,
    PAUSE_MS = 64,
    CROWDED_NS = 20000,
    MOMENT = 1 /* s */
};

static struct {
    int         gateway; /* its place here */
    atomic_bool any;     /* it has answered one */
    void (*progress)(void);
} ch;

void
hearthi_rank_connections_of(int gateway)
{
    ch.gateway = gateway;
    ch.any = false;
    ch.progress = NULL;
}

void
hearthi_rank_connections_progress(void (*progress)(void))
{
    ch.progress = progress;
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

/* ---- connections ---- */

_Noreturn static void
no_connection(int code)
{
    if (code == EMFILE || code == ENFILE)
        hearthi_fatal("gateway",
                      "no connection to the gateway of this cluster: %s: "
                      "raise the limit on open files (ulimit -n)",
                      strerror(code));
    if (ch.any && code == ECONNREFUSED)
        gone("gateway", code);
    hearthi_fatal("gateway",
                  "no TCP connection to the gateway of this cluster (%s): let "
                  "a firewall pass TCP between its hosts, or choose their "
                  "network by HEARTH_NETWORK",
                  strerror(code));
}

/* Others may keep this rank out for a while; but a gateway that listens no
 * more, or cannot be reached from here, is not there a moment later. */
bool
hearthi_rank_connection_may_pass(int code)
{
    return code == ETIMEDOUT || code == ECONNRESET || code == EPIPE ||
           code == ECONNABORTED;
}

/* One call.  known: the gateway knows of this connection already. */
static bool
call(struct hearthi_rank_connection *c, bool known,
     void (*wait)(int fd, short events))
{
    struct hearthi_wan_message hello = {
        .op = HEARTHI_WAN_HELLO,
        .kind = known ? HEARTHI_WAN_AGAIN : 0,
        .rank = (uint32_t)hearthi_world.rank,
        .slot = c->slot,
        .at = c->replay.taken,
        .value = ++c->calls,
    };

    c->fd = hearthi_gateway_connect(&hello, wait);
    if (c->fd < 0)
        return false;
    ch.any = true;
    if (known) {
        hearthi_rank_connection_taken(c, hello.at);
        hearthi_replay_again(&c->replay);
    }
    return true;
}

/* On a thread of Hearth's own, which drives no progress. */
static void
fd_sleep(int fd, short events)
{
    poll(&(struct pollfd){ .fd = fd, .events = events }, 1, -1);
}

bool
hearthi_rank_connection_again(struct hearthi_rank_connection *c)
{
    if (c->fd >= 0)
        close(c->fd);
    return call(c, true, fd_sleep);
}

/* A rank is not sent away any more once its hello is answered: so it may ask
 * what must be asked once. */
static void
listener_pass(struct hearthi_rank_connection *c, bool known)
{
    uint64_t end = hearthi_clock_kernel() + hearthi_opt.gateway_giveup;
    int      pause = NAP_MS;

    while (!call(c, known, fd_wait)) {
        int code = errno;

        if (!hearthi_rank_connection_may_pass(code) ||
            hearthi_clock_kernel() >= end)
            no_connection(code);
        nap(pause);
        pause = pause < PAUSE_MS ? 2 * pause : PAUSE_MS;
    }
}

void
hearthi_rank_connection_open(struct hearthi_rank_connection *c, unsigned slot)
{
    *c = (struct hearthi_rank_connection){ .fd = -1, .slot = slot };
    listener_pass(c, false);
}

void
hearthi_rank_connection_close(struct hearthi_rank_connection *c)
{
    if (c->fd >= 0)
        close(c->fd);
    c->fd = -1;
    hearthi_replay_free(&c->replay);
}

/* ---- bytes ---- */

/* EPIPE: the gateway has closed it, or a reset came behind another one. */
bool
hearthi_rank_connection_is_reset(int code)
{
    return hearthi_replay_is_reset(code) || code == EPIPE;
}

/* The connection has failed so: another one, or the end of the job. */
static void
renew(struct hearthi_rank_connection *c, const char *what, int code)
{
    if (!hearthi_rank_connection_is_reset(code))
        gone(what, code);
    close(c->fd);
    listener_pass(c, true);
}

static void
kept_send(struct hearthi_rank_connection *c)
{
    while (hearthi_replay_left(&c->replay) > 0)
        if (!hearthi_replay_send(&c->replay, c->fd))
            renew(c, "gateway", errno);
        else if (hearthi_replay_left(&c->replay) > 0)
            fd_wait(c->fd, POLLOUT);
}

void
hearthi_rank_connection_send(struct hearthi_rank_connection *c,
                             const struct iovec *part, int n)
{
    for (int i = 0; i < n; i++)
        hearthi_replay_add(&c->replay, part[i].iov_base, part[i].iov_len);
    kept_send(c);
}

void
hearthi_rank_connection_tell(struct hearthi_rank_connection *c)
{
    struct hearthi_wan_message head = { .rank = (uint32_t)hearthi_world.rank,
                                        .slot = c->slot };

    if (!hearthi_replay_due(&c->replay))
        return;
    hearthi_replay_tell(&c->replay, head);
    kept_send(c);
}

void
hearthi_rank_connection_taken(struct hearthi_rank_connection *c,
                              uint64_t                        taken)
{
    if (!hearthi_replay_taken(&c->replay, taken))
        hearthi_fatal("gateway",
                      "the gateway says that it has %llu bytes of "
                      "a connection, which makes no sense",
                      (unsigned long long)taken);
}

/* A new connection begins by what this rank has sent and the gateway has not
 * taken. */
void
hearthi_rank_connection_read(struct hearthi_rank_connection *c, void *to,
                             size_t len, const char *what)
{
    char *at = to;

    while (len > 0) {
        ssize_t k = recv(c->fd, at, len, MSG_DONTWAIT);

        if (k == 0)
            gone(what, 0);
        if (k > 0) {
            hearthi_replay_take(&c->replay, (size_t)k);
            at += k;
            len -= (size_t)k;
        } else if (errno == EAGAIN || errno == EINTR) {
            fd_wait(c->fd, POLLIN);
        } else {
            renew(c, what, errno);
            kept_send(c);
        }
    }
}
