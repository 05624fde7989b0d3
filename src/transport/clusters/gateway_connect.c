/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "gateway_channel.h"

#include <errno.h>
#include <poll.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "base/clock.h"
#include "world.h"

enum { CALL_MS = 5000 };

static struct {
    struct hearthi_listener listener;
    int                     at; /* its address that has answered */
} k;

void
hearthi_gateway_connect_at(const struct hearthi_listener *listener)
{
    k.listener = *listener;
    k.at = 0;
}

/* Whatever signals the program has. */
static bool
within(int fd, short events, int ms)
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

/* 0, or an errno. */
static int
connection_await(int fd)
{
    int       code = 0;
    socklen_t room = sizeof code;

    if (!within(fd, POLLOUT, CALL_MS))
        return ETIMEDOUT;
    return getsockopt(fd, SOL_SOCKET, SO_ERROR, &code, &room) != 0 ? errno
                                                                   : code;
}

static int
address_call(const union hearthi_address *a)
{
    int fd, code;

    do
        fd = hearthi_connect_begin(&a->any, hearthi_address_size(a));
    while (fd < 0 && errno == EMFILE && hearthi_listener_more_files());
    if (fd < 0)
        return -1;
    hearthi_listener_prepare(fd);
    code = connection_await(fd);
    if (code == 0)
        return fd;
    close(fd);
    errno = code;
    return -1;
}

/* Each address in turn, the one that answered last before others. */
static int
listener_call(void)
{
    int fd = -1, code = ECONNREFUSED;

    for (int i = 0; i < k.listener.at.n && fd < 0; i++) {
        int at = (k.at + i) % k.listener.at.n;

        fd = address_call(&k.listener.at.at[at]);
        if (fd >= 0)
            k.at = at;
        else if (errno != ECONNREFUSED)
            code = errno;
    }
    errno = code;
    return fd;
}

static bool
hello_send(int fd, const struct hearthi_wan_message *hello)
{
    struct hearthi_listener_words w = { .head = *hello };

    w.head.len = sizeof w.token;
    memcpy(w.token, k.listener.token, sizeof w.token);
    return send(fd, &w, sizeof w, MSG_DONTWAIT | MSG_NOSIGNAL) == sizeof w;
}

/* Until the gateway has taken the connection for this rank's; false, with
 * errno: it has closed it, as it may while strangers come. */
static bool
hello_answered(int fd, struct hearthi_wan_message *answer,
               void (*wait)(int fd, short events))
{
    size_t have = 0;

    while (have < sizeof *answer) {
        ssize_t n = recv(fd, (char *)answer + have, sizeof *answer - have,
                         MSG_DONTWAIT);

        if (n == 0)
            errno = ECONNRESET;
        if (n == 0 || (n < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        if (n < 0)
            wait(fd, POLLIN);
        else
            have += (size_t)n;
    }
    return true;
}

int
hearthi_gateway_connect(struct hearthi_wan_message *hello,
                        void (*wait)(int fd, short events))
{
    struct hearthi_wan_message answer;
    int                        fd = listener_call(), code;

    if (fd >= 0 && hello_send(fd, hello) &&
        hello_answered(fd, &answer, wait)) {
        *hello = answer;
        return fd;
    }
    code = errno;
    if (fd >= 0)
        close(fd);
    errno = code;
    return -1;
}

/* So many bytes; false: not all have come. */
static bool
answers_await(int fd, void *to, size_t n, int ms)
{
    char    *at = to;
    uint64_t begin = hearthi_clock_kernel();

    while (n > 0) {
        int     spent = (int)((hearthi_clock_kernel() - begin) / 1000000);
        ssize_t got;

        if (spent >= ms || !within(fd, POLLIN, ms - spent))
            return false;
        got = recv(fd, at, n, MSG_DONTWAIT);
        if (got == 0 || (got < 0 && errno != EAGAIN && errno != EINTR))
            return false;
        at += got > 0 ? got : 0;
        n -= got > 0 ? (size_t)got : 0;
    }
    return true;
}

void
hearthi_gateway_connect_and_say(unsigned slot, struct iovec *part, int n,
                                struct hearthi_wan_message *answer, int ms)
{
    struct msghdr m = { .msg_iov = part, .msg_iovlen = (size_t)n };
    struct hearthi_wan_message heard[2]; /* the former of the hello */
    const struct hearthi_wan_message hello = {
        .op = HEARTHI_WAN_HELLO,
        .rank = (uint32_t)hearthi_world.rank,
        .slot = slot,
        .value = 1
    };
    int                        fd = listener_call();

    if (fd < 0)
        return;
    if (hello_send(fd, &hello) &&
        sendmsg(fd, &m, MSG_DONTWAIT | MSG_NOSIGNAL) > 0 &&
        answers_await(fd, heard, sizeof heard, ms))
        *answer = heard[1];
    close(fd);
}
