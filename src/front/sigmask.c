/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The names by which a program takes SIGSEGV or SIGBUS, or blocks them.
 *
 * There are more ways to install a handler than sigaction(): what "signal" is
 * to the linker depends on the C standard that a program is compiled for.  All
 * of them are sigaction() here where it is about one of these.
 *
 * The kernel ends a process that faults in a thread which has the signal
 * blocked, without calling a handler.  Threads are often started with all
 * signals blocked, so that others get those that come from outside; to block a
 * fault has no use.  So they stay open, from the start of the program on:
 * threads that are there before hearth_init() may use the heap afterwards.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>

#include "base/dlsym_next.h"
#include "base/thread.h"
#include "hearth/hearth.h"

typedef void              handler_function(int);
typedef handler_function *signal_function(int, handler_function *);

/* ---- handlers ---- */

static handler_function *
fault_take(int signum, handler_function *handle, int flags)
{
    struct sigaction act = { .sa_handler = handle, .sa_flags = flags }, old;

    return sigaction(signum, &act, &old) == 0 ? old.sa_handler : SIG_ERR;
}

/* System V's is called once, and then for nothing, nor deferred. */
enum { BSD = SA_RESTART, SYSV = (int)SA_RESETHAND | SA_NODEFER };

#define SIGNAL(name, flags)                                              \
    HEARTH_API handler_function *front_##name(                           \
        int, handler_function *) __asm__(#name);                         \
    handler_function *front_##name(int signum, handler_function *handle) \
    {                                                                    \
        static signal_function *next;                                    \
                                                                         \
        if (hearthi_is_fault_signal(signum))                             \
            return fault_take(signum, handle, flags);                    \
        if (next == NULL)                                                \
            hearthi_dlsym_next(&next, #name);                            \
        return next(signum, handle);                                     \
    }

SIGNAL(signal, BSD)
SIGNAL(bsd_signal, BSD)
SIGNAL(ssignal, BSD)
SIGNAL(sysv_signal, SYSV)
SIGNAL(__sysv_signal, SYSV)

HEARTH_API handler_function *
front_sigset(int, handler_function *) __asm__("sigset");

handler_function *
front_sigset(int signum, handler_function *handle)
{
    static signal_function *next;
    struct sigaction        now;

    if (hearthi_is_fault_signal(signum) && handle == SIG_HOLD)
        return sigaction(signum, NULL, &now) == 0 ? now.sa_handler : SIG_ERR;
    if (hearthi_is_fault_signal(signum))
        return fault_take(signum, handle, 0);
    if (next == NULL)
        hearthi_dlsym_next(&next, "sigset");
    return next(signum, handle);
}

HEARTH_API int front_sigignore(int) __asm__("sigignore");

int
front_sigignore(int signum)
{
    static int (*next)(int);

    if (hearthi_is_fault_signal(signum))
        return fault_take(signum, SIG_IGN, 0) == SIG_ERR ? -1 : 0;
    if (next == NULL)
        hearthi_dlsym_next(&next, "sigignore");
    return next(signum);
}

HEARTH_API int front_sigaction(int, const struct sigaction *,
                               struct sigaction *) __asm__("__sigaction");

int
front_sigaction(int signum, const struct sigaction *act, struct sigaction *old)
{
    return sigaction(signum, act, old);
}

/* ---- masks: for the calls that hand one to the kernel see system.def ---- */

HEARTH_API int
front_attr_setsigmask(pthread_attr_t *,
                      const sigset_t *) __asm__("pthread_attr_setsigmask_np");

int
front_attr_setsigmask(pthread_attr_t *attr, const sigset_t *set)
{
    static int (*next)(pthread_attr_t *, const sigset_t *);
    sigset_t room;

    if (next == NULL)
        hearthi_dlsym_next(&next, "pthread_attr_setsigmask_np");
    return next(attr, hearthi_sigmask_open(set, &room));
}

HEARTH_API int front_sigsetmask(int) __asm__("sigsetmask");
HEARTH_API int front_sigblock(int) __asm__("sigblock");
HEARTH_API int front_sighold(int) __asm__("sighold");

#define OLD_MASK(name, change)                \
    int front_##name(int what)                \
    {                                         \
        static int (*next)(int);              \
                                              \
        if (next == NULL)                     \
            hearthi_dlsym_next(&next, #name); \
        return next(change);                  \
    }

/* Masks of 32 signals, which are deprecated with all that belongs to them. */
enum { FAULTS_OPEN = ~(1 << (SIGSEGV - 1) | 1 << (SIGBUS - 1)) };

OLD_MASK(sigsetmask, what &FAULTS_OPEN)
OLD_MASK(sigblock, what &FAULTS_OPEN)

int
front_sighold(int signum)
{
    static int (*next)(int);

    if (hearthi_is_fault_signal(signum))
        return 0;
    if (next == NULL)
        hearthi_dlsym_next(&next, "sighold");
    return next(signum);
}
