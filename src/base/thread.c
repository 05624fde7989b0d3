/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "thread.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <string.h>
#include <sys/eventfd.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "clock.h"
#include "descriptor.h"
#include "mutex.h"
#include "report.h"

/* ---- Hearth's own threads ---- */

enum { OWN_MOST = 32 };

static atomic_int own[OWN_MOST]; /* as the kernel numbers them; 0: none */

static atomic_int *
own_slot(int was, int is)
{
    for (int i = 0; i < OWN_MOST; i++)
        if (atomic_compare_exchange_strong(&own[i], &(int){ was }, is))
            return &own[i];
    return NULL;
}

static void *
own_run(void *at)
{
    void *(*body)(void *);
    int   me = (int)syscall(SYS_gettid);
    void *result;

    memcpy(&body, &at, sizeof body);
    own_slot(0, me);
    result = body(NULL);
    own_slot(me, 0);
    return result;
}

bool
hearthi_thread_is_own(int thread)
{
    for (int i = 0; i < OWN_MOST; i++)
        if (atomic_load(&own[i]) == thread)
            return true;
    return false;
}

void
hearthi_thread_start(pthread_t  *thread, void *(*body)(void *),
                     const char *call, const char *what, const char *without)
{
    sigset_t all, before;
    void    *at;
    int      code;

    memcpy(&at, &body, sizeof at);
    HEARTHI_ASSERT_HAS_NONE(); /* which the job would end with */
    sigfillset(&all);
    hearthi_fault_signals_open(&all);
    pthread_sigmask(SIG_SETMASK, &all, &before);
    code = pthread_create(thread, NULL, own_run, at);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    if (code != 0)
        hearthi_fatal(call, "no %s: %s; allow more threads%s%s", what,
                      strerror(code), without != NULL ? ", or set " : "",
                      without != NULL ? without : "");
}

/* ---- a thread that waits for descriptors ---- */

void
hearthi_poller_start(struct hearthi_poller *t, void *(*body)(void *),
                     const char            *what)
{
    t->stop = false;
    t->wake = hearthi_descriptor(eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK));
    if (t->wake < 0)
        hearthi_fatal("hearth_init", "no eventfd: %s", strerror(errno));
    hearthi_thread_start(&t->thread, body, "hearth_init", what, NULL);
}

void
hearthi_poller_wake(struct hearthi_poller *t)
{
    uint64_t one = 1;

    (void)!write(t->wake, &one, sizeof one);
}

void
hearthi_poller_wait(struct hearthi_poller *t, struct pollfd *fd, unsigned n,
                    uint64_t due)
{
    uint64_t        now = hearthi_now(), left = due > now ? due - now : 0;
    struct timespec most = hearthi_timespec(left);
    struct pollfd  *wake = &fd[n - 1];
    uint64_t        count;

    *wake = (struct pollfd){ .fd = t->wake, .events = POLLIN };
    ppoll(fd, n, &most, NULL);
    if (wake->revents & POLLIN)
        (void)!read(t->wake, &count, sizeof count);
}

void
hearthi_poller_end(struct hearthi_poller *t)
{
    t->stop = true;
    hearthi_poller_wake(t);
    pthread_join(t->thread, NULL);
    hearthi_poller_forked(t);
}

void
hearthi_poller_forked(struct hearthi_poller *t)
{
    close(t->wake);
}

/* ---- short slices ---- */

enum { SLICE_NS = 100000 }; /* the least */

/* As the kernel has it; the C library has no name for it before 2.41. */
struct attributes {
    uint32_t size, policy;
    uint64_t flags;
    int32_t  nice;
    uint32_t priority;
    uint64_t runtime, deadline, period;
};

void
hearthi_sched_slice_short(void)
{
    struct attributes a;

    if (syscall(SYS_sched_getattr, 0, &a, sizeof a, 0) != 0 ||
        a.policy != SCHED_OTHER)
        return;
    a.runtime = SLICE_NS;
    syscall(SYS_sched_setattr, 0, &a, 0);
}

/* ---- the timer that yields ----
 *
 * SIGURG is a signal that no program misses: it is ignored unless a program
 * asks for it, so one that comes late does nothing. */

/* Shorter ones help no further: a yield is a turn of all that spin there.
 * After MANY of them each is twice as long: what a signal makes begin again
 * from its beginning (fallocate(2) of much memory) gets done at last. */
enum { TURN_NS = 200000, MANY = 2000, DOUBLINGS = 20 };

static int              timer; /* as the kernel numbers them */
static unsigned         turns;
static volatile bool    runs;
static struct sigaction before;

/* Only once, so that the thread that has waited for the core has it for a
 * while. */
static bool
timer_set(void)
{
    unsigned more = turns > MANY ? turns - MANY : 0;
    uint64_t ns = (uint64_t)TURN_NS << (more < DOUBLINGS ? more : DOUBLINGS);
    struct itimerspec once = { .it_value = hearthi_timespec(ns) };

    turns++;
    return syscall(SYS_timer_settime, timer, 0, &once, NULL) == 0;
}

static void
yield(int sig)
{
    int saved = errno;

    (void)sig;
    sched_yield();
    if (runs)
        timer_set();
    errno = saved;
}

static bool
is_free(void)
{
    sigset_t blocked;

    pthread_sigmask(SIG_BLOCK, NULL, &blocked);
    return sigismember(&blocked, SIGURG) == 0 &&
           sigaction(SIGURG, NULL, &before) == 0 &&
           (before.sa_flags & SA_SIGINFO) == 0 &&
           (before.sa_handler == SIG_DFL || before.sa_handler == SIG_IGN);
}

/* Without the C library's timers: before 2.34 they are another library. */
static bool
timer_start(void)
{
    struct sigevent event = { .sigev_notify = SIGEV_THREAD_ID,
                              .sigev_signo = SIGURG };

    event._sigev_un._tid = (pid_t)syscall(SYS_gettid);
    if (syscall(SYS_timer_create, CLOCK_MONOTONIC, &event, &timer) != 0)
        return false;
    if (timer_set())
        return true;
    syscall(SYS_timer_delete, timer);
    return false;
}

void
hearthi_yield_timer_begin(bool crowded)
{
    struct sigaction act = { .sa_handler = yield,
                             .sa_flags = SA_RESTART | SA_ONSTACK };

    if (runs || !crowded || !is_free())
        return;
    sigemptyset(&act.sa_mask);
    if (sigaction(SIGURG, &act, NULL) != 0)
        return;
    runs = true;
    turns = 0;
    if (!timer_start()) {
        runs = false;
        sigaction(SIGURG, &before, NULL);
    }
}

/* A signal that is on its way comes before the first of these calls returns.
 */
void
hearthi_yield_timer_end(void)
{
    if (!runs)
        return;
    runs = false;
    syscall(SYS_timer_delete, timer);
    sigaction(SIGURG, &before, NULL);
}
