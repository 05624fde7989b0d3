/* SPDX-License-Identifier: BSD-2-Clause
 *
 * SIGURG is what nobody misses: it is ignored unless a program asks for it,
 * so one that comes late does nothing.
 */
#include "config.h"

#include "yield_timer.h"

#include <errno.h>
#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

/* Shorter ones help no further: a yield is a turn of all that spin there.
 * After MANY of them each is twice as long: what a signal makes begin again
 * from its beginning (fallocate(2) of much memory) gets done at last. */
enum { NS = 200000, MANY = 2000, DOUBLINGS = 20 };

static int              timer; /* as the kernel numbers them */
static unsigned         turns;
static volatile bool    runs;
static struct sigaction before;

/* Only once, so that whoever has waited for the core has it for a while. */
static bool
timer_set(void)
{
    unsigned more = turns > MANY ? turns - MANY : 0;
    uint64_t ns = (uint64_t)NS << (more < DOUBLINGS ? more : DOUBLINGS);
    struct itimerspec once = { .it_value = { (time_t)(ns / 1000000000),
                                             (long)(ns % 1000000000) } };

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
    struct sigaction act = { .sa_handler = yield, .sa_flags = SA_RESTART };

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
