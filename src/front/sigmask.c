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
 * threads that are there before hearth_init() may use the heap afterwards.  A
 * mask that the program has inherited over exec is opened when the library is
 * loaded.  What goes past this is a mask that is set by a system call or by
 * what was loaded before libhearth; hearth_init() looks for threads that have
 * one.
 */
#include "config.h"

#include <errno.h>
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/clock.h"
#include "base/dlsym_next.h"
#include "base/hash.h"
#include "base/report.h"
#include "base/thread.h"
#include "hearth/hearth.h"
#include "profile/caller.h"
#include "system.h"
#include "world.h"

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

/* ---- threads that the C library starts ----
 *
 * It blocks all signals in the one that calls the function of a timer
 * (timer_create(2)), by system calls, and opens them for the functions of
 * mq_notify(3), aio_read(3) and getaddrinfo_a(3).
 */

/* What a timer calls.  One whose timer is deleted may be in use still, by a
 * thread that is about to begin: so it stays, for all timers with the same
 * function and value. */
struct notified {
    struct notified *next;
    void (*function)(union sigval);
    union sigval value;
};

enum { CHAINS = 4096 };

static _Atomic(struct notified *) chain[CHAINS];

static void
notified_call(union sigval with)
{
    const struct notified *n = with.sival_ptr;

    hearthi_fault_signals_unblock();
    n->function(n->value);
}

/* NULL: no memory. */
static struct notified *
notified_of(const struct sigevent *event)
{
    const union sigval value = event->sigev_value;
    uint64_t           hash = hearthi_hash(HEARTHI_HASH, &value, sizeof value);
    _Atomic(struct notified *) *at = &chain[hash % CHAINS];
    struct notified            *n;

    for (n = atomic_load(at); n != NULL; n = n->next)
        if (n->function == event->sigev_notify_function &&
            n->value.sival_ptr == value.sival_ptr)
            return n;
    n = malloc(sizeof *n);
    if (n == NULL)
        return NULL;
    n->function = event->sigev_notify_function;
    n->value = value;
    n->next = atomic_load(at);
    while (!atomic_compare_exchange_weak(at, &n->next, n))
        ;
    return n;
}

struct sigevent *
hearthi_notify_open(struct sigevent *event, struct sigevent *room)
{
    struct notified *n;

    if (event == NULL || event->sigev_notify != SIGEV_THREAD ||
        event->sigev_notify_function == notified_call)
        return event;
    n = notified_of(event);
    if (n == NULL)
        return event;
    *room = *event;
    room->sigev_notify_function = notified_call;
    room->sigev_value.sival_ptr = n;
    return room;
}

/* ---- threads that have them blocked all the same ---- */

struct blocked {
    int      first, n;
    char     name[HEARTHI_TASK_NAME]; /* of the first */
    uint64_t until;
};

enum { PATIENCE = 100000000, PAUSE = 1000000 }; /* nanoseconds */

/* MPI's own threads and the C library's do not touch the heap, and sleep, but
 * for moments; and the C library blocks all signals for moments in those of
 * the program.  Only on x86-64 is a return address known from another. */
static bool
is_programs(int thread, char name[HEARTHI_TASK_NAME], uint64_t until)
{
    const struct timespec  pause = { .tv_nsec = PAUSE };
    enum hearthi_caller_of of;

    for (;;) {
        if (!hearthi_task_blocks_faults(thread, name))
            return false;
        of = hearthi_caller_of(thread);
        if (of == HEARTHI_CALLER_SERVES)
            return false;
        if (hearthi_now() > until)
            break;
        nanosleep(&pause, NULL);
    }
#ifdef __x86_64__
    return of == HEARTHI_CALLER_PROGRAMS;
#else
    return false;
#endif
}

static bool
blocked_look(int thread, void *to)
{
    struct blocked *b = to;
    char            name[HEARTHI_TASK_NAME];

    if (!hearthi_thread_is_own(thread) &&
        is_programs(thread, name, b->until) && b->n++ == 0) {
        b->first = thread;
        memcpy(b->name, name, sizeof name);
    }
    return true;
}

void
hearthi_sigmask_check(void)
{
    struct blocked b = { .until = hearthi_now() + PATIENCE };
    char           more[32] = "";

    if (!hearthi_world.multiple)
        return; /* others may not touch it anyway */
    hearthi_tasks_each(blocked_look, &b);
    if (b.n > 1)
        snprintf(more, sizeof more, " and %d more", b.n - 1);
    if (b.n > 0)
        hearthi_warn("hearth_init",
                     "thread %d (%s)%s has SIGSEGV or SIGBUS blocked: if it "
                     "touches the heap, the kernel ends the process without a "
                     "word: unblock both in it (pthread_sigmask) first",
                     b.first, b.name, more);
}
