/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Calls of the C library that hand memory to the kernel, which does not fault
 * as the program would: it says EFAULT, or stops in the middle.  So what is in
 * the heap is held for as long as the call lasts.
 *
 * For each row of system.def there are two functions: the one with the name of
 * the call sees whether anything of it is in the heap and is a comparison for
 * each address and one jump otherwise; the other holds.  They have the names
 * only for the linker, since the headers' own declarations and what the
 * compiler knows of these calls would be in the way.
 *
 * They may be called before anything else of Hearth is, by constructors, in
 * signal handlers and by malloc(): nothing is allocated here.
 */
#include "config.h"

#include "system.h"

#include <dirent.h>
#include <poll.h>
#include <pthread.h>
#include <stdio.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/select.h>
#include <sys/stat.h>
#include <sys/statfs.h>
#include <sys/utsname.h>
#include <sys/wait.h>
#include <time.h>

#include "base/dlsym_next.h"
#include "base/thread.h"
#include "syscall_buffers.h"

#define GIVE(p, bytes) HEARTHI_SYSCALL_BUFFER(s, p, bytes, HEARTH_READ)
#define TAKE(p, bytes) HEARTHI_SYSCALL_BUFFER(s, p, bytes, HEARTH_WRITE)
#define BOTH(p, bytes) \
    HEARTHI_SYSCALL_BUFFER(s, p, bytes, HEARTH_READ | HEARTH_WRITE)
#define TEXT(p) GIVE(p, strlen(p) + 1)
#define MASK(set)      \
    sigset_t open_set; \
    set = hearthi_sigmask_open(set, &open_set)
#define GIVE_ALL(v, n) \
    hearthi_syscall_buffers_vector(s, v, (size_t)(n), HEARTH_READ)
#define TAKE_ALL(v, n) \
    hearthi_syscall_buffers_vector(s, v, (size_t)(n), HEARTH_WRITE)
#define LENGTH(p, len)      \
    BOTH(len, sizeof *len); \
    TAKE(p, (len) != NULL ? *(len) : 0)

/* The kernel takes sets of descriptors as whole words. */
#define SET_BYTES(n) (((size_t)(n) + 63) / 64 * 8)

/* pthread_cleanup_push() is setjmp() in C, after which gcc believes that
 * arguments may have changed: nobody comes back by it to code that uses them.
 */
#ifndef __clang__
#pragma GCC diagnostic ignored "-Wclobbered"
#endif

/* A program that has a function of that name keeps it, also where the library
 * is linked into it. */
#define FRONT __attribute__((weak))

#define SYSTEM(type, name, params, args, memory)                 \
    static type(*next_##name) params;                            \
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

/* When the library is loaded, so that a signal handler does not have to look
 * for them. */
__attribute__((constructor)) void
hearthi_system_open(void)
{
#define SYSTEM(type, name, params, args, memory) \
    hearthi_dlsym_next(&next_##name, #name);
#include "system.def"
#undef SYSTEM
}
