/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include "system.h"

static int
fd_of(const void *place)
{
    return *(const int *)place;
}

static FILE *
file_of(const void *place)
{
    return *(FILE *const *)place;
}

static bool
all(ssize_t done, size_t n)
{
    return done >= 0 && (size_t)done == n;
}

static bool
by_read(const void *place, char *p, size_t n)
{
    return all(read(fd_of(place), p, n), n);
}

static bool
by_write(const void *place, char *p, size_t n)
{
    return all(write(fd_of(place), p, n), n);
}

static bool
by_pread(const void *place, char *p, size_t n)
{
    return all(pread(fd_of(place), p, n, 0), n);
}

static bool
by_pwrite(const void *place, char *p, size_t n)
{
    return all(pwrite(fd_of(place), p, n, 0), n);
}

/* Pieces of different lengths, one of them empty, one private. */
enum { PIECES = 6, ASIDE = 8 };

static int
pieces(struct iovec *v, char *aside, char *p, size_t n)
{
    const size_t cut[] = { 0, n / 5, n / 5, n / 2, n - ASIDE, n };

    for (int i = 0; i < PIECES - 1; i++) {
        v[i].iov_base = p + cut[i];
        v[i].iov_len = cut[i + 1] - cut[i];
    }
    v[PIECES - 2].iov_base = aside;
    return PIECES - 1;
}

static bool
by_readv(const void *place, char *p, size_t n)
{
    struct iovec v[PIECES];
    char         aside[ASIDE];
    int          count = pieces(v, aside, p, n);
    bool         done = all(readv(fd_of(place), v, count), n);

    memcpy(p + n - ASIDE, aside, ASIDE);
    return done;
}

static bool
by_preadv(const void *place, char *p, size_t n)
{
    struct iovec v[PIECES];
    char         aside[ASIDE];
    int          count = pieces(v, aside, p, n);
    bool         done = all(preadv(fd_of(place), v, count, 0), n);

    memcpy(p + n - ASIDE, aside, ASIDE);
    return done;
}

static bool
by_writev(const void *place, char *p, size_t n)
{
    struct iovec v[PIECES];
    char         aside[ASIDE];

    memcpy(aside, p + n - ASIDE, ASIDE);
    return all(writev(fd_of(place), v, pieces(v, aside, p, n)), n);
}

static bool
by_pwritev(const void *place, char *p, size_t n)
{
    struct iovec v[PIECES];
    char         aside[ASIDE];

    memcpy(aside, p + n - ASIDE, ASIDE);
    return all(pwritev(fd_of(place), v, pieces(v, aside, p, n), 0), n);
}

static bool
by_fread(const void *place, char *p, size_t n)
{
    return fread(p, 1, n, file_of(place)) == n;
}

static bool
by_fread_of_one(const void *place, char *p, size_t n)
{
    return fread_unlocked(p, n, 1, file_of(place)) == 1;
}

static bool
by_fwrite(const void *place, char *p, size_t n)
{
    FILE *f = file_of(place);

    return fwrite(p, 1, n, f) == n && fflush(f) == 0;
}

static bool
by_fputs(const void *place, char *p, size_t n)
{
    FILE *f = file_of(place);
    char  last = p[n]; /* there is one behind all that is handed over */
    bool  done;

    p[n] = '\0';
    done = fputs_unlocked(p, f) >= 0 && fflush(f) == 0;
    p[n] = last;
    return done;
}

static bool
by_recv(const void *place, char *p, size_t n)
{
    return all(recv(fd_of(place), p, n, MSG_WAITALL), n);
}

static bool
by_recvfrom(const void *place, char *p, size_t n)
{
    return all(recvfrom(fd_of(place), p, n, MSG_WAITALL, NULL, NULL), n);
}

static bool
by_recvmsg(const void *place, char *p, size_t n)
{
    struct iovec  v[PIECES];
    char          aside[ASIDE];
    struct msghdr m = { .msg_iov = v,
                        .msg_iovlen = (size_t)pieces(v, aside, p, n) };
    bool          done = all(recvmsg(fd_of(place), &m, MSG_WAITALL), n);

    memcpy(p + n - ASIDE, aside, ASIDE);
    return done;
}

static bool
by_recvmmsg(const void *place, char *p, size_t n)
{
    struct iovec   v[2] = { { p, n / 2 }, { p + n / 2, n - n / 2 } };
    struct mmsghdr m[2] = { { .msg_hdr = { .msg_iov = v, .msg_iovlen = 1 } },
                            { .msg_hdr = { .msg_iov = v + 1,
                                           .msg_iovlen = 1 } } };

    return recvmmsg(fd_of(place), m, 2, MSG_WAITALL, NULL) == 2 &&
           m[0].msg_len + m[1].msg_len == n;
}

static bool
by_send(const void *place, char *p, size_t n)
{
    return all(send(fd_of(place), p, n, 0), n);
}

static bool
by_sendto(const void *place, char *p, size_t n)
{
    return all(sendto(fd_of(place), p, n, 0, NULL, 0), n);
}

static bool
by_sendmsg(const void *place, char *p, size_t n)
{
    struct iovec  v[PIECES];
    char          aside[ASIDE];
    struct msghdr m = { .msg_iov = v,
                        .msg_iovlen = (size_t)pieces(v, aside, p, n) };

    memcpy(aside, p + n - ASIDE, ASIDE);
    return all(sendmsg(fd_of(place), &m, 0), n);
}

static bool
by_sendmmsg(const void *place, char *p, size_t n)
{
    struct iovec   v[2] = { { p, n / 2 }, { p + n / 2, n - n / 2 } };
    struct mmsghdr m[2] = { { .msg_hdr = { .msg_iov = v, .msg_iovlen = 1 } },
                            { .msg_hdr = { .msg_iov = v + 1,
                                           .msg_iovlen = 1 } } };

    return sendmmsg(fd_of(place), m, 2, 0) == 2;
}

const struct transfer transfers[] = {
    { "read", A_FILE, true, by_read },
    { "write", A_FILE, false, by_write },
    { "fread", A_STREAM, true, by_fread },
    { "fwrite", A_STREAM, false, by_fwrite },
    { "recv", A_SOCKET, true, by_recv },
    { "send", A_SOCKET, false, by_send },
    { "pread", A_FILE, true, by_pread },
    { "pwrite", A_FILE, false, by_pwrite },
    { "readv", A_FILE, true, by_readv },
    { "writev", A_FILE, false, by_writev },
    { "preadv", A_FILE, true, by_preadv },
    { "pwritev", A_FILE, false, by_pwritev },
    { "fread_unlocked", A_STREAM, true, by_fread_of_one },
    { "fputs_unlocked", A_STREAM, false, by_fputs },
    { "recvfrom", A_SOCKET, true, by_recvfrom },
    { "recvmsg", A_SOCKET, true, by_recvmsg },
    { "recvmmsg", A_SOCKET, true, by_recvmmsg },
    { "sendto", A_SOCKET, false, by_sendto },
    { "sendmsg", A_SOCKET, false, by_sendmsg },
    { "sendmmsg", A_SOCKET, false, by_sendmmsg },
    { "write to a pipe", A_PIPE, false, by_write },
    { "writev to a pipe", A_PIPE, false, by_writev },
    { NULL, A_FILE, false, NULL },
};
