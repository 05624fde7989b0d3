/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "gateway_connection.h"

#include <errno.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <poll.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/format.h"
#include "base/network.h"

/* Records under one key: AES-GCM should not see more than 2^24.5 of 16 KiB
 * (RFC 8446, 5.5), and OpenSSL does not count. */
enum { REKEY = 1 << 22 };

bool
hearthi_connection_fail(struct hearthi_connection  *l,
                        enum hearthi_connection_end end, const char *fmt, ...)
{
    va_list ap;

    if (l->end == HEARTHI_CONNECTION_LIVES) {
        l->end = end;
        va_start(ap, fmt);
        hearthi_format(l->why, sizeof l->why, fmt, ap);
        va_end(ap);
    }
    return false;
}

/* ---- beginning and end ---- */

/* Small messages do not wait for one another. */
static struct hearthi_connection *
conn_new(struct hearthi_tls *tls, int epoll, int fd, bool server)
{
    struct hearthi_connection *l = malloc(sizeof *l);
    struct epoll_event e = { .events = EPOLLIN | EPOLLOUT, .data.ptr = l };
    int                one = 1;

    if (l == NULL)
        return NULL;
    memset(l, 0, offsetof(struct hearthi_connection, out));
    memset(&l->out, 0, offsetof(struct hearthi_connection_out, stage));
    memset(&l->in, 0, offsetof(struct hearthi_connection_in, data));
    l->fd = fd;
    l->epoll = epoll;
    l->cluster = -1;
    l->events = e.events;
    l->out.rekey = REKEY;
    l->since = l->heard = l->said = hearthi_clock_kernel();
    l->state =
        server ? HEARTHI_CONNECTION_SHAKING : HEARTHI_CONNECTION_CONNECTING;
    setsockopt(fd, IPPROTO_TCP, TCP_NODELAY, &one, sizeof one);
    l->ssl = hearthi_tls_new(tls, fd, server);
    if (l->ssl != NULL && epoll_ctl(epoll, EPOLL_CTL_ADD, fd, &e) == 0)
        return l;
    hearthi_tls_free(l->ssl);
    free(l);
    errno = ENOMEM;
    return NULL;
}

struct hearthi_connection *
hearthi_connection_connect(struct hearthi_tls *tls, int epoll,
                           const struct sockaddr *to, socklen_t len)
{
    int                        fd = hearthi_connect_begin(to, len);
    struct hearthi_connection *l;

    if (fd < 0)
        return NULL;
    l = conn_new(tls, epoll, fd, false);
    if (l == NULL)
        close(fd);
    return l;
}

struct hearthi_connection *
hearthi_connection_accept(struct hearthi_tls *tls, int epoll, int fd)
{
    struct hearthi_connection *l = conn_new(tls, epoll, fd, true);

    if (l == NULL)
        close(fd);
    return l;
}

void
hearthi_connection_free(struct hearthi_connection *l)
{
    hearthi_tls_free(l->ssl);
    close(l->fd);
    free(l->in.body);
    free(l);
}

/* ---- the way up ---- */

bool
hearthi_connection_later(struct hearthi_connection *l, int result)
{
    int error = errno, what = SSL_get_error(l->ssl, result);

    if (what == SSL_ERROR_WANT_READ || what == SSL_ERROR_WANT_WRITE)
        return true;
    if (what == SSL_ERROR_SYSCALL && error != 0)
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_GONE, "%s",
                                       strerror(error));
    if (what != SSL_ERROR_SSL ||
        ERR_GET_REASON(ERR_peek_error()) == SSL_R_UNEXPECTED_EOF_WHILE_READING)
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_GONE, "closed");
    /* Inside of TLS a stranger cannot say what makes no sense, but can break
     * it. */
    return hearthi_connection_fail(l,
                                   l->state == HEARTHI_CONNECTION_SHAKING
                                       ? HEARTHI_CONNECTION_FOREIGN
                                       : HEARTHI_CONNECTION_GONE,
                                   "%s", hearthi_tls_error());
}

static bool
connected(struct hearthi_connection *l)
{
    struct pollfd p = { .fd = l->fd, .events = POLLOUT };
    int           error = 0;
    socklen_t     len = sizeof error;

    if (poll(&p, 1, 0) != 1)
        return true;
    if (getsockopt(l->fd, SOL_SOCKET, SO_ERROR, &error, &len) != 0)
        error = errno;
    if (error != 0)
        return hearthi_connection_fail(l,
                                       error == ECONNREFUSED
                                           ? HEARTHI_CONNECTION_MISSED
                                           : HEARTHI_CONNECTION_GONE,
                                       "%s", strerror(error));
    l->state = HEARTHI_CONNECTION_SHAKING;
    l->since = hearthi_clock_kernel();
    return true;
}

/* Without the key there is no session: a server that has a certificate that
 * this machine trusts is none of ours. */
static bool
shake(struct hearthi_connection *l)
{
    int r;

    ERR_clear_error();
    errno = 0;
    r = SSL_do_handshake(l->ssl);
    if (r != 1)
        return hearthi_connection_later(l, r);
    if (!SSL_session_reused(l->ssl))
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_FOREIGN,
                                       "it has no key");
    l->state = HEARTHI_CONNECTION_HELLO;
    l->heard = hearthi_clock_kernel();
    return l->calls->shaken(l);
}

/* Ask to be told when there is room only while something waits for it. */
static bool
events_set(struct hearthi_connection *l)
{
    struct epoll_event e = { .events = EPOLLIN, .data.ptr = l };

    if (l->state == HEARTHI_CONNECTION_CONNECTING ||
        hearthi_tls_waiting(l->ssl) > 0)
        e.events |= EPOLLOUT;
    if (e.events != l->events) {
        l->events = e.events;
        epoll_ctl(l->epoll, EPOLL_CTL_MOD, l->fd, &e);
    }
    return true;
}

static bool
flush(struct hearthi_connection *l)
{
    if (!hearthi_tls_flush(l->ssl))
        return hearthi_connection_fail(l, HEARTHI_CONNECTION_GONE, "%s",
                                       strerror(errno));
    return events_set(l);
}

/* An alert, too, is to reach the other side. */
bool
hearthi_connection_work(struct hearthi_connection *l)
{
    bool good = true;

    if (l->end != HEARTHI_CONNECTION_LIVES)
        return false;
    if (l->state == HEARTHI_CONNECTION_CONNECTING)
        good = connected(l);
    if (good && l->state == HEARTHI_CONNECTION_SHAKING)
        good = shake(l);
    if (good && l->state >= HEARTHI_CONNECTION_HELLO)
        good = hearthi_connection_read(l);
    if (good && l->state == HEARTHI_CONNECTION_UP)
        return hearthi_connection_push(l);
    return flush(l) && good;
}

bool
hearthi_connection_push(struct hearthi_connection *l)
{
    return hearthi_connection_write(l) && flush(l);
}

/* ---- the last words ---- */

/* Wait for room to send, until a time. */
static bool
room_wait(struct hearthi_connection *l, uint64_t until)
{
    struct pollfd p = { .fd = l->fd, .events = POLLOUT };
    uint64_t      now = hearthi_clock_kernel();

    return now < until && poll(&p, 1, (int)((until - now) / 1000000) + 1) > 0;
}

static bool
has_unsent(const struct hearthi_connection *l)
{
    return l->out.queued != NULL || l->out.chunk_len > 0 ||
           hearthi_tls_waiting(l->ssl) > 0;
}

void
hearthi_connection_farewell(struct hearthi_connection *l,
                            enum hearthi_frame_kind kind, const char *text,
                            int ms)
{
    uint64_t until = hearthi_clock_kernel() + (uint64_t)ms * 1000000;

    if (l->state < HEARTHI_CONNECTION_HELLO ||
        l->end == HEARTHI_CONNECTION_GONE)
        return;
    l->out.last = true;
    while (hearthi_connection_push(l) && has_unsent(l))
        if (!room_wait(l, until))
            return;
    hearthi_connection_end_write(l, kind, text);
    while (hearthi_tls_flush(l->ssl) && hearthi_tls_waiting(l->ssl) > 0)
        if (!room_wait(l, until))
            return;
    shutdown(l->fd, SHUT_WR);
}

bool
hearthi_connection_over(struct hearthi_connection *l)
{
    ssize_t n = recv(l->fd, l->in.data, sizeof l->in.data, MSG_DONTWAIT);

    return n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR);
}
