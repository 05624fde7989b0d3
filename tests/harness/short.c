/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A system that is short of something: the n-th call of a function of the C
 * library fails, once, as the system would let it fail.  For a program that is
 * linked with --wrap for each of them (short_wraps in local.mk), which brings
 * the calls of the program and of Hearth here, and those of MPI and of the C
 * library itself not.
 *
 *   SHORT_RANK=1 SHORT_CALL=malloc SHORT_AT=7    the seventh on rank 1
 *   SHORT_RANK=1                                 how many of each there are
 */
#define _GNU_SOURCE
#include "short.h"

#include <errno.h>
#include <ifaddrs.h>
#include <poll.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/socket.h>
#include <time.h>

enum call {
#define CALL(name, error) CALL_##name,
#include "short.def"
#undef CALL
    CALLS
};

static const struct {
    const char *name;
    int         error;
} known[CALLS] = {
#define CALL(name, error) { #name, error },
#include "short.def"
#undef CALL
};

static atomic_int count[CALLS];
static int        of = CALLS, at;

bool
short_is(int rank)
{
    const char *mine = getenv("SHORT_RANK");

    return mine != NULL && atoi(mine) == rank;
}

void
short_open(int rank)
{
    const char *call = getenv("SHORT_CALL"), *n = getenv("SHORT_AT");

    if (!short_is(rank) || call == NULL || n == NULL)
        return;
    at = atoi(n);
    for (int i = 0; i < CALLS; i++) {
        atomic_store(&count[i], 0);
        if (strcmp(known[i].name, call) == 0)
            of = i;
    }
}

void
short_print(const char *verdict)
{
    printf("%s\n", verdict);
    for (int i = 0; i < CALLS && of == CALLS; i++)
        if (count[i] > 0)
            printf("calls %s %d\n", known[i].name, (int)count[i]);
}

static bool
is_short(enum call i)
{
    if (atomic_fetch_add(&count[i], 1) + 1 != at || of != (int)i)
        return false;
    errno = known[i].error;
    return true;
}

/* SHORT(what it returns, its name, what it returns where it fails, its
 * arguments with and without their types). */
#define SHORT(type, name, failed, typed, plain) \
    extern type __real_##name typed;            \
    extern type __wrap_##name typed;            \
    type __wrap_##name typed                    \
    {                                           \
        if (is_short(CALL_##name))              \
            return failed;                      \
        return __real_##name plain;             \
    }

SHORT(void *, malloc, NULL, (size_t n), (n))
SHORT(void *, calloc, NULL, (size_t n, size_t size), (n, size))
SHORT(void *, realloc, NULL, (void *p, size_t n), (p, n))
SHORT(void *, mmap, MAP_FAILED,
      (void *p, size_t n, int prot, int flags, int fd, off_t from),
      (p, n, prot, flags, fd, from))
SHORT(int, memfd_create, -1, (const char *name, unsigned flags), (name, flags))
SHORT(int, ftruncate, -1, (int fd, off_t n), (fd, n))
SHORT(int, mprotect, -1, (void *p, size_t n, int prot), (p, n, prot))
SHORT(int, madvise, -1, (void *p, size_t n, int advice), (p, n, advice))
SHORT(int, pthread_create, errno,
      (pthread_t * t, const pthread_attr_t *a, void *(*f)(void *), void *arg),
      (t, a, f, arg))
SHORT(int, sigaltstack, -1, (const stack_t *s, stack_t *old), (s, old))
SHORT(int, getifaddrs, -1, (struct ifaddrs * *all), (all))
SHORT(int, eventfd, -1, (unsigned n, int flags), (n, flags))
SHORT(int, socket, -1, (int domain, int type, int protocol),
      (domain, type, protocol))
SHORT(int, bind, -1, (int fd, const struct sockaddr *a, socklen_t n),
      (fd, a, n))
SHORT(int, listen, -1, (int fd, int n), (fd, n))
SHORT(int, accept4, -1, (int fd, struct sockaddr *a, socklen_t *n, int flags),
      (fd, a, n, flags))
SHORT(int, connect, -1, (int fd, const struct sockaddr *a, socklen_t n),
      (fd, a, n))
SHORT(int, setsockopt, -1,
      (int fd, int level, int name, const void *value, socklen_t n),
      (fd, level, name, value, n))
SHORT(int, getsockopt, -1,
      (int fd, int level, int name, void *value, socklen_t *n),
      (fd, level, name, value, n))
SHORT(int, getsockname, -1, (int fd, struct sockaddr *a, socklen_t *n),
      (fd, a, n))
SHORT(ssize_t, send, -1, (int fd, const void *p, size_t n, int flags),
      (fd, p, n, flags))
SHORT(ssize_t, sendto, -1,
      (int fd, const void *p, size_t n, int flags, const struct sockaddr *a,
       socklen_t len),
      (fd, p, n, flags, a, len))
SHORT(ssize_t, sendmsg, -1, (int fd, const struct msghdr *m, int flags),
      (fd, m, flags))
SHORT(int, sendmmsg, -1, (int fd, struct mmsghdr *m, unsigned n, int flags),
      (fd, m, n, flags))
SHORT(ssize_t, recv, -1, (int fd, void *p, size_t n, int flags),
      (fd, p, n, flags))
SHORT(ssize_t, recvfrom, -1,
      (int fd, void *p, size_t n, int flags, struct sockaddr *a,
       socklen_t *len),
      (fd, p, n, flags, a, len))
SHORT(ssize_t, recvmsg, -1, (int fd, struct msghdr *m, int flags),
      (fd, m, flags))
SHORT(int, recvmmsg, -1,
      (int fd, struct mmsghdr *m, unsigned n, int flags, struct timespec *t),
      (fd, m, n, flags, t))
SHORT(int, poll, -1, (struct pollfd * p, nfds_t n, int ms), (p, n, ms))
SHORT(int, ppoll, -1,
      (struct pollfd * p, nfds_t n, const struct timespec *t,
       const sigset_t *mask),
      (p, n, t, mask))

/* The mode is there only for O_CREAT and O_TMPFILE. */
extern int __real_open(const char *path, int flags, ...);
extern int __wrap_open(const char *path, int flags, ...);

int
__wrap_open(const char *path, int flags, ...)
{
    va_list ap;
    mode_t  mode;

    if (is_short(CALL_open))
        return -1;
    va_start(ap, flags);
    mode = va_arg(ap, mode_t);
    va_end(ap);
    return __real_open(path, flags, mode);
}
