/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls of the C library that hand memory to the kernel, which does not fault
 * as the program would: it says EFAULT, or stops in the middle.  So what is in
 * the heap is pinned for as long as the call lasts.
 *
 * For each row of system.def there are two functions: the one with the name of
 * the call sees whether anything of it is in the heap and is a comparison for
 * each address and one jump otherwise; the other holds.  They have the names
 * only for the linker, since the headers' own declarations and what the
 * compiler knows of these calls would be in the way.
 *
 * They may be called before anything else of Hearth is, by constructors, in
 * signal handlers and by malloc(): nothing is allocated here, but for a timer
 * that calls a function (sigmask.c).
 */
#include "config.h"

#include "system.h"

#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <mqueue.h>
#include <poll.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <spawn.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/msg.h>
#include <sys/random.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/sem.h>
#include <sys/shm.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <sys/times.h>
#include <sys/timex.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>
#include <utime.h>

#include "base/dlsym_next.h"
#include "base/min.h"
#include "base/thread.h"
#include "syscall_buffers.h"

#define GIVE(p, bytes) HEARTHI_SYSCALL_BUFFER(s, p, bytes, HEARTH_READ)
#define TAKE(p, bytes) HEARTHI_SYSCALL_BUFFER(s, p, bytes, HEARTH_WRITE)
#define BOTH(p, bytes) \
    HEARTHI_SYSCALL_BUFFER(s, p, bytes, HEARTH_READ | HEARTH_WRITE)
#define TEXT(p)   GIVE(p, strlen(p) + 1)
#define EDIT(p)   BOTH(p, strlen(p) + 1)
#define TEXTS(v)  hearthi_syscall_buffers_texts(s, v)
#define MASK(set) MASK_IF(true, set)
#define MASK_IF(yes, set) \
    sigset_t open_set;    \
    set = (yes) ? hearthi_sigmask_open(set, &open_set) : (set)
#define NOTIFY(e)               \
    struct sigevent open_event; \
    e = hearthi_notify_open(e, &open_event)
#define GIVE_ALL(v, n) \
    hearthi_syscall_buffers_vector(s, v, (size_t)(n), HEARTH_READ)
#define TAKE_ALL(v, n) \
    hearthi_syscall_buffers_vector(s, v, (size_t)(n), HEARTH_WRITE)
#define LENGTH(p, len)      \
    BOTH(len, sizeof *len); \
    TAKE(p, (len) != NULL ? *(len) : 0)

/* The kernel takes sets of descriptors as whole words. */
#define SET_BYTES(n) (((size_t)(n) + 63) / 64 * 8)

/* More than this the kernel allows in no set (SEMMSL). */
enum { SEMAPHORES = 32000 };

/* pthread_cleanup_push() is setjmp() in C, after which gcc believes that
 * arguments may have changed: no thread comes back by it to code that uses
 * them.
 */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

/* A program that has a function of that name keeps it, also where the library
 * is linked into it. */
#define FRONT __attribute__((weak))

/* Some of these calls take further arguments (open(2)).  On ppc64 such a
 * function writes to memory that its caller has for that: a caller has it who
 * knows it by a declaration with dots, or by one that does not say what it
 * takes. */
#if defined(__powerpc64__)
#pragma GCC diagnostic ignored "-Wstrict-prototypes"
#define NEXT_PARAMS(params) ()
#else
#define NEXT_PARAMS(params) params
#endif

#define SYSTEM(type, name, params, args, memory)                 \
    static type(*next_##name) NEXT_PARAMS(params);               \
    HEARTH_API FRONT type system_##name params __asm__(#name);   \
                                                                 \
    static __attribute__((noinline)) type hold_##name params     \
    {                                                            \
        struct hearthi_syscall_buffers spans, *const s = &spans; \
        type result;                                             \
                                                                 \
        s->call = #name;                                         \
        s->n = 0;                                                \
        memory;                                                  \
        hearthi_syscall_buffers_hold(s);                         \
        pthread_cleanup_push(hearthi_syscall_buffers_drop, s);   \
        result = next_##name args;                               \
        pthread_cleanup_pop(1);                                  \
        return result;                                           \
    }                                                            \
                                                                 \
    type system_##name params                                    \
    {                                                            \
        struct hearthi_syscall_buffers spans, *const s = &spans; \
                                                                 \
        s->n = 0;                                                \
        memory;                                                  \
        if (next_##name == NULL)                                 \
            hearthi_dlsym_next(&next_##name, #name);             \
        if (s->n == 0)                                           \
            return next_##name args;                             \
        return hold_##name args;                                 \
    }
#include "system.def"
#undef SYSTEM

/* Other names of setvbuf(), which is above: NULL means no buffer here, and
 * there one of the stream's own. */
#define SETBUF(name, params, n)                                \
    HEARTH_API FRONT void buffer_##name params __asm__(#name); \
    void buffer_##name params                                  \
    {                                                          \
        setvbuf(f, p, p != NULL ? _IOFBF : _IONBF, n);         \
    }

SETBUF(setbuf, (FILE * f, char *p), BUFSIZ)
SETBUF(setbuffer, (FILE * f, char *p, size_t n), n)
SETBUF(_IO_setbuffer, (FILE * f, char *p, size_t n), n)

/* It has nothing to return that would say that the kernel has refused memory:
 * the C library's ends the process then.  The same where there is none. */
HEARTH_API FRONT void
system_arc4random_buf(void *p, size_t n) __asm__("arc4random_buf");

void
system_arc4random_buf(void *p, size_t n)
{
    char    aside[256];
    ssize_t did;

    for (char *at = p; n > 0; at += did, n -= (size_t)did) {
        bool in = hearthi_in_heap(at);

        did = getrandom(in ? aside : at, in ? hearthi_min(n, sizeof aside) : n,
                        0);
        if (did < 0 && errno != EINTR)
            abort();
        did = did < 0 ? 0 : did;
        if (in)
            memcpy(at, aside, (size_t)did);
    }
    explicit_bzero(aside, sizeof aside);
}

/* When the library is loaded, so that a signal handler does not have to look
 * for them. */
__attribute__((constructor)) void
hearthi_system_open(void)
{
#define SYSTEM(type, name, params, args, memory) \
    hearthi_dlsym_next(&next_##name, #name);
#include "system.def"
#undef SYSTEM
    hearthi_fault_signals_unblock();
}

hearthi_read *
hearthi_system_read_by(hearthi_read *by)
{
    hearthi_read *before = next_read;

    next_read = by;
    return before;
}
