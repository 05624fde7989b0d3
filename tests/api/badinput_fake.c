/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A machine and an MPI that are not good enough, and ranks that are late, by
 * the profiling interface.
 */
#define _GNU_SOURCE /* gettid, unshare */

#include <arpa/inet.h>
#include <errno.h>
#include <fcntl.h>
#include <ifaddrs.h>
#include <mpi.h>
#include <poll.h>
#include <sched.h>
#include <stdarg.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/mount.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "badinput.h"
#include "base/clock.h"
#include "base/dlsym_next.h"
#include "forbid.h"
#include "life/liveness_line.h"
#include "seen.h"

const char *fake = "";

SEEN int
MPI_Win_get_attr(MPI_Win win, int key, void *value, int *found)
{
    static int separate = MPI_WIN_SEPARATE;
    int        rc = PMPI_Win_get_attr(win, key, value, found);

    if (key == MPI_WIN_MODEL && strcmp(fake, "fake_separate") == 0)
        *(void **)value = &separate;
    return rc;
}

static int
window_refused(MPI_Comm comm)
{
    MPI_Comm_call_errhandler(comm, MPI_ERR_WIN);
    return MPI_ERR_WIN;
}

SEEN int
MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info,
               MPI_Comm comm, MPI_Win *win)
{
    return strcmp(fake, "fake_no_windows") == 0
               ? window_refused(comm)
               : PMPI_Win_create(base, size, unit, info, comm, win);
}

SEEN int
MPI_Win_allocate(MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
                 void *base, MPI_Win *win)
{
    return strcmp(fake, "fake_no_windows") == 0
               ? window_refused(comm)
               : PMPI_Win_allocate(size, unit, info, comm, base, win);
}

/* A library of version 1 point something. */
SEEN int
MPI_Get_library_version(char *text, int *length)
{
    int rc = PMPI_Get_library_version(text, length);

    if (strcmp(fake, "fake_older_mpi") == 0)
        text[strcspn(text, "123456789")] = '1';
    return rc;
}

SEEN int
MPI_Get_version(int *major, int *minor)
{
    int rc = PMPI_Get_version(major, minor);

    if (strcmp(fake, "fake_old_standard") == 0) {
        *major = 3;
        *minor = 0;
    }
    return rc;
}

/* Every rank on a machine of its own, which has no address. */
SEEN int
MPI_Comm_split_type(MPI_Comm comm, int type, int key, MPI_Info info,
                    MPI_Comm *part)
{
    int rank;

    if (strcmp(fake, "fake_no_address") != 0)
        return PMPI_Comm_split_type(comm, type, key, info, part);
    PMPI_Comm_rank(comm, &rank);
    return PMPI_Comm_split(comm, rank, key, part);
}

int
getifaddrs(struct ifaddrs **all)
{
    int (*real)(struct ifaddrs **);

    *all = NULL;
    if (strcmp(fake, "fake_no_address") == 0)
        return 0;
    hearthi_dlsym_next(&real, "getifaddrs");
    return real(all);
}

/* As containers forbid it. */
void
memory_hide(void)
{
    if (!forbid(SYS_process_vm_readv, 0, EPERM) ||
        !forbid(SYS_process_vm_writev, 0, EPERM))
        exit(1);
}

/* As in a container of its own on the same host, but for rank 0. */
void
shm_leave(void)
{
    const char *rank = getenv("OMPI_COMM_WORLD_RANK");

    if (rank == NULL)
        rank = getenv("PMI_RANK");
    if (rank == NULL || atoi(rank) == 0)
        return;
    if (unshare(CLONE_NEWNS) != 0 ||
        mount("none", "/", NULL, MS_REC | MS_PRIVATE, NULL) != 0 ||
        mount("own", "/dev/shm", "tmpfs", 0, NULL) != 0)
        exit(1);
}

/* As a container forbids it. */
long
syscall(long number, ...)
{
    static long (*real)(long, ...);
    va_list list;
    long    arg[6];

    va_start(list, number);
    for (int i = 0; i < 6; i++)
        arg[i] = va_arg(list, long);
    va_end(list);
    if (number == SYS_userfaultfd && strcmp(fake, "fake_forbidden") == 0) {
        errno = EPERM;
        return -1;
    }
    if (real == NULL)
        hearthi_dlsym_next(&real, "syscall");
    return real(number, arg[0], arg[1], arg[2], arg[3], arg[4], arg[5]);
}

/* A kernel that has addresses of 39 bits, as for a program that asks for some:
 * what it leaves to the kernel lies higher. */
void *
mmap(void *at, size_t len, int prot, int flags, int fd, off_t offset)
{
    static void *(*real)(void *, size_t, int, int, int, off_t);

    if (strcmp(fake, "fake_39_bits") == 0 &&
        (flags & MAP_FIXED_NOREPLACE) != 0 &&
        (uintptr_t)at + len > (uintptr_t)1 << 39) {
        errno = ENOMEM;
        return MAP_FAILED;
    }
    if (real == NULL)
        hearthi_dlsym_next(&real, "mmap");
    return real(at, len, prot, flags, fd, offset);
}

/* A host that has no IPv4 any more. */
int
bind(int fd, const struct sockaddr *at, socklen_t size)
{
    static int (*real)(int, const struct sockaddr *, socklen_t);
    int       type = 0;
    socklen_t room = sizeof type;

    getsockopt(fd, SOL_SOCKET, SO_TYPE, &type, &room);
    if (type == SOCK_DGRAM && strcmp(fake, "fake_no_port") == 0) {
        errno = EADDRNOTAVAIL;
        return -1;
    }
    if (real == NULL)
        hearthi_dlsym_next(&real, "bind");
    return real(fd, at, size);
}

int
memfd_create(const char *name, unsigned flags)
{
    static int (*real)(const char *, unsigned);

    if (strcmp(fake, "fake_no_memfd") == 0) {
        errno = EPERM;
        return -1;
    }
    if (real == NULL)
        hearthi_dlsym_next(&real, "memfd_create");
    return real(name, flags);
}

/* Other processes' files are not seen. */
int
open(const char *name, int flags, ...)
{
    static int (*real)(const char *, int, ...);
    va_list list;
    mode_t  mode;

    va_start(list, flags);
    mode = (mode_t)va_arg(list, int); /* anything where it is not given */
    va_end(list);
    if (strcmp(fake, "fake_hidden") == 0 && strncmp(name, "/proc/", 6) == 0 &&
        strstr(name, "/fd/") != NULL) {
        errno = EACCES;
        return -1;
    }
    if (real == NULL)
        hearthi_dlsym_next(&real, "open");
    return real(name, flags, mode);
}

static volatile bool is_last, telling, exchanged, bye_said;

/* A rank tells the one before where it listens (rendezvous.c). */
enum { TAG_CARD = 0 };

SEEN int
MPI_Isend(const void *out, int n, MPI_Datatype type, int to, int tag,
          MPI_Comm comm, MPI_Request *request)
{
    int rank, size;

    PMPI_Comm_rank(comm, &rank);
    PMPI_Comm_size(comm, &size);
    is_last = rank == size - 1;
    telling |= tag == TAG_CARD;
    return PMPI_Isend(out, n, type, to, tag, comm, request);
}

/* The last rank has told where it listens, and is late itself; and all but
 * rank 0 are when goodbye was said. */
SEEN int
MPI_Testall(int n, MPI_Request *request, int *done, MPI_Status *status)
{
    int rc = PMPI_Testall(n, request, done, status);

    if (!*done)
        return rc;
    if (telling && is_last && !exchanged && strcmp(fake, "fake_late") == 0)
        sleep(2);
    exchanged |= telling;
    if (bye_said && me > 0)
        usleep(500000);
    return rc;
}

/* Who calls the next rank gets no core for longer than a call may take. */
int
poll(struct pollfd *p, nfds_t n, int ms)
{
    static bool done;
    int (*real)(struct pollfd *, nfds_t, int);

    if (exchanged && !done && strcmp(fake, "fake_slow_call") == 0) {
        done = true;
        sleep(2);
    }
    hearthi_dlsym_next(&real, "poll");
    return real(p, n, ms);
}

/* The last rank takes a call late, or when its maker has long given up. */
int
accept4(int fd, struct sockaddr *address, socklen_t *size, int flags)
{
    static bool   done;
    struct pollfd p = { .fd = fd, .events = POLLIN };
    int (*real)(int, struct sockaddr *, socklen_t *, int);
    bool late = strcmp(fake, "fake_late_answer") == 0;

    if (is_last && !done && (late || strcmp(fake, "fake_slow_answer") == 0) &&
        poll(&p, 1, 0) == 1) {
        done = true;
        sleep(late ? 10 : 2);
    }
    hearthi_dlsym_next(&real, "accept4");
    return real(fd, address, size, flags);
}

/* The thread of rank 0 takes its line when goodbye has been said, if that may
 * be; and the others end late, so that they still look at their lines when
 * those of rank 0 end. */

static bool
thread_is_slow(void)
{
    return strcmp(fake, "fake_slow_thread") == 0;
}

ssize_t
send(int fd, const void *data, size_t n, int flags)
{
    const struct hearthi_record *r = data;
    ssize_t (*real)(int, const void *, size_t, int);
    ssize_t sent;

    hearthi_dlsym_next(&real, "send");
    sent = real(fd, data, n, flags);
    if (thread_is_slow() && n == sizeof *r && r->said == HEARTHI_SAID_BYE)
        bye_said = true;
    return sent;
}

/* For a second in all, however long each nap takes: others would take it for
 * silent. */
static void
bye_await(void)
{
    static uint64_t end;

    if (end == 0)
        end = hearthi_now() + 1000000000;
    while (!bye_said && hearthi_now() < end)
        usleep(1000);
}

ssize_t
recv(int fd, void *data, size_t n, int flags)
{
    static bool greeted;
    bool        other = thread_is_slow() && me == 0 && getpid() != gettid();
    ssize_t (*real)(int, void *, size_t, int);
    ssize_t got;

    if (other && greeted)
        bye_await();
    hearthi_dlsym_next(&real, "recv");
    got = real(fd, data, n, flags);
    greeted |= other && got > 0;
    if (me == slow && got == sizeof(struct hearthi_record) &&
        ((struct hearthi_record *)data)->said == HEARTHI_SAID_CLAIM)
        usleep(600000);
    return got;
}

/* A launcher that takes its time. */
SEEN int
MPI_Abort(MPI_Comm comm, int code)
{
    if (slow >= 0)
        sleep(1);
    return PMPI_Abort(comm, code);
}

void
port_take(void)
{
    const char        *first = getenv("HEARTH_UDP_PORT");
    int                size, fd = socket(AF_INET, SOCK_DGRAM, 0);
    struct sockaddr_in own = { .sin_family = AF_INET };

    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    own.sin_port = htons((uint16_t)(atoi(first) + size - 1));
    if (me == 0 && bind(fd, (struct sockaddr *)&own, sizeof own) != 0)
        perror("badinput: bind"); /* somebody's it is */
    MPI_Barrier(MPI_COMM_WORLD);
}

static int tests = -1; /* since it has come to its end */

SEEN int
MPI_Test(MPI_Request *request, int *done, MPI_Status *status)
{
    if (tests >= 0)
        tests++;
    return PMPI_Test(request, done, status);
}

void
apart_wait(bool answers, unsigned ms)
{
    int any;

    for (unsigned i = 0; i < ms; i++) {
        if (answers)
            MPI_Iprobe(MPI_ANY_SOURCE, 0, MPI_COMM_WORLD, &any,
                       MPI_STATUS_IGNORE);
        usleep(1000);
    }
    tests = 0;
}

bool
apart_answered(void)
{
#if defined MPICH_NUMVERSION && MPICH_NUMVERSION / 100000 == 400
    return tests > 0;
#else
    return true;
#endif
}
