/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "gateway_channel.h"

#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/report.h"
#include "transport/transport.h"
#include "world.h"

enum { CALL_MS = 5000, NAP_MS = 1, CROWDED_NS = 20000, MOMENT = 1 /* s */ };

struct hearthi_gateway_channel {
    int      fd;
    uint32_t slot;
    bool     used;
};

static struct {
    struct hearthi_listener        door;
    struct hearthi_gateway_channel all[HEARTHI_WAN_SLOTS];
    unsigned                       n;
    pthread_mutex_t                mutex;
    void (*progress)(void);
} ch = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void
hearthi_gateway_channels_open(const struct hearthi_listener *door)
{
    ch.door = *door;
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

/* Who ends the gateway's rank says why, and its launcher ends this one, in a
 * moment. */
_Noreturn static void
gone(const char *what, int code)
{
    if (hearthi_doubt_hook != NULL && hearthi_doubt_hook())
        hearthi_end_wait();
    sleep(MOMENT);
    hearthi_fatal(what, "the gateway of this cluster is gone (%s)",
                  code == 0 ? "it has closed the connection" : strerror(code));
}

/* ---- waiting ---- */

/* A gateway answers from its own cluster in less time than it takes to wake a
 * sleeper, and from another after a round trip, which is worth a sleep. */
static uint64_t
spin_ns(void)
{
    if (hearthi_may_spin())
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
        for (; k > 0 && n > 0 && (size_t)k >= part->iov_len; part++, n--)
            k -= (ssize_t)part->iov_len;
        if (k > 0) {
            part->iov_base = (char *)part->iov_base + k;
            part->iov_len -= (size_t)k;
        }
        for (; n > 0 && part->iov_len == 0; part++)
            n--;
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

/* Whatever signals the program has. */
static bool
ready_within(int fd, short events, int ms)
{
    struct pollfd p = { .fd = fd, .events = events };
    uint64_t      end = hearthi_clock_kernel() + (uint64_t)ms * 1000000, now;
    int           n;

    do {
        now = hearthi_clock_kernel();
        n = poll(&p, 1, now < end ? (int)((end - now) / 1000000) + 1 : 0);
    } while (n < 0 && errno == EINTR);
    return n > 0;
}

static int
address_call(const union hearthi_address *a)
{
    int       fd, code;
    socklen_t room = sizeof code;

    do
        fd = socket(a->any.sa_family,
                    SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0);
    while (fd < 0 && errno == EMFILE && hearthi_listener_more_files());
    if (fd < 0)
        return -1;
    hearthi_listener_prepare(fd);
    code = connect(fd, &a->any, hearthi_address_size(a)) == 0 ? 0 : errno;
    if (code == EINPROGRESS && !ready_within(fd, POLLOUT, CALL_MS))
        code = ETIMEDOUT;
    if (code == EINPROGRESS &&
        getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &room) != 0)
        code = errno;
    if (code == 0)
        return fd;
    close(fd);
    errno = code;
    return -1;
}

static int
door_call(void)
{
    int fd = -1;

    for (int i = 0; i < ch.door.at.n && fd < 0; i++)
        fd = address_call(&ch.door.at.at[i]);
    return fd;
}

static void
hello_send(struct hearthi_gateway_channel *c)
{
    struct hearthi_wan_message hello = { .op = HEARTHI_WAN_HELLO };

    hearthi_gateway_channel_send(
        c, hello, &(struct iovec){ ch.door.token, sizeof ch.door.token }, 1);
}

_Noreturn static void
no_connection(int code)
{
    if (code == EMFILE || code == ENFILE)
        hearthi_fatal("gateway",
                      "no connection to the gateway of this cluster: %s: "
                      "raise the limit on open files (ulimit -n)",
                      strerror(code));
    hearthi_fatal("gateway",
                  "no TCP connection to the gateway of this cluster (%s): let "
                  "a firewall pass TCP between its hosts, or choose their "
                  "network by HEARTH_NETWORK",
                  strerror(code));
}

static void
channel_make(struct hearthi_gateway_channel *c, unsigned slot)
{
    *c = (struct hearthi_gateway_channel){ .fd = door_call(),
                                           .slot = slot,
                                           .used = true };
    if (c->fd < 0)
        no_connection(errno);
    hello_send(c);
}

/* To wait for one would be for ever where all others wait for what this thread
 * is about to say.  The last slot is for who ends the job. */
static struct hearthi_gateway_channel *
channel_more(void)
{
    enum { MOST = HEARTHI_WAN_SLOTS - 1 };
    struct hearthi_gateway_channel *c = &ch.all[ch.n];

    if (ch.n == MOST)
        hearthi_fatal("gateway",
                      "more than %d threads of this rank wait for pages, "
                      "locks, flags or barriers",
                      MOST);
    channel_make(c, ch.n);
    ch.n++;
    return c;
}

struct hearthi_gateway_channel *
hearthi_gateway_channel_take(void)
{
    struct hearthi_gateway_channel *c = NULL;

    pthread_mutex_lock(&ch.mutex);
    for (unsigned i = 0; i < ch.n && c == NULL; i++)
        if (!ch.all[i].used)
            c = &ch.all[i];
    if (c == NULL)
        c = channel_more();
    c->used = true;
    pthread_mutex_unlock(&ch.mutex);
    return c;
}

void
hearthi_gateway_channel_give(struct hearthi_gateway_channel *c)
{
    pthread_mutex_lock(&ch.mutex);
    c->used = false;
    pthread_mutex_unlock(&ch.mutex);
}

/* ---- asks ---- */

void
hearthi_gateway_channel_send(struct hearthi_gateway_channel *c,
                             struct hearthi_wan_message      ask,
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
    ask.len = (uint32_t)len;
    ask.rank = (uint32_t)hearthi_world.rank;
    ask.slot = c->slot;
    part[0] = (struct iovec){ &ask, sizeof ask };
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
                            struct hearthi_wan_message ask, const void *body,
                            size_t len, const char *what)
{
    hearthi_gateway_channel_send(c, ask, &(struct iovec){ (void *)body, len },
                                 1);
    return hearthi_gateway_channel_hear(c, what);
}

struct hearthi_wan_message
hearthi_gateway_channel_call(struct hearthi_wan_message ask, const void *body,
                             size_t len, const char *what)
{
    struct hearthi_gateway_channel *c = hearthi_gateway_channel_take();
    struct hearthi_wan_message      answer =
        hearthi_gateway_channel_ask(c, ask, body, len, what);

    hearthi_gateway_channel_give(c);
    return answer;
}

/* On a connection of its own, since others may be in the midst of something:
 * the gateway needs not know who it is.  One that is gone, too, has told the
 * others itself, and this rank has still to say its line: so nothing here ends
 * the job.  A new connection has room for all of it. */
void
hearthi_gateway_channel_ending(const char *line, size_t len)
{
    struct hearthi_wan_message hello = { .op = HEARTHI_WAN_HELLO,
                                         .len = sizeof ch.door.token,
                                         .rank = (uint32_t)hearthi_world.rank,
                                         .slot = HEARTHI_WAN_SLOTS - 1 };
    struct hearthi_wan_message ask = { .op = HEARTHI_WAN_ENDING,
                                       .len = (uint32_t)len,
                                       .rank = hello.rank,
                                       .slot = hello.slot };
    struct iovec               part[] = { { &hello, sizeof hello },
                                          { ch.door.token, sizeof ch.door.token },
                                          { &ask, sizeof ask },
                                          { (void *)line, len } };
    struct msghdr              m = { .msg_iov = part, .msg_iovlen = 4 };
    int                        fd = door_call();
    enum { SECOND = 1000 };

    if (fd < 0)
        return;
    if (sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) > 0)
        ready_within(fd, POLLIN, SECOND);
    close(fd);
}
