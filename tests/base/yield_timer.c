/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Waits that spin: on one core they cost turns of the timer, not of the
 * kernel, and nothing of it is left behind.
 */
#define _GNU_SOURCE
#include <config.h>

#include <pthread.h>
#include <sched.h>
#include <signal.h>
#include <stdatomic.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/thread.h"
#include "harness.h"

enum { TURNS = 60, TURN_NS = 400000 };

static volatile sig_atomic_t heard;

static void
hear(int sig)
{
    (void)sig;
    heard++;
}

static void
busy(unsigned ms)
{
    uint64_t until = hearthi_clock_kernel() + ms * UINT64_C(1000000);

    while (hearthi_clock_kernel() < until)
        ;
}

static void
one_core(void)
{
    cpu_set_t all, one;

    ck_assert_int_eq(sched_getaffinity(0, sizeof all, &all), 0);
    CPU_ZERO(&one);
    for (int i = 0; i < CPU_SETSIZE && CPU_COUNT(&one) == 0; i++)
        if (CPU_ISSET(i, &all))
            CPU_SET(i, &one);
    ck_assert_int_eq(sched_setaffinity(0, sizeof one, &one), 0);
}

/* Two processes in turn, each of which spins until it is its own. */
static void
turns_take(atomic_int *turn, int mine, bool yields)
{
    if (yields)
        hearthi_yield_timer_begin(true);
    for (int i = mine; i < TURNS; i += 2) {
        while (atomic_load(turn) != i)
            ;
        atomic_store(turn, i + 1);
    }
    if (yields)
        hearthi_yield_timer_end();
}

/* Nanoseconds of the core that this process and its children that have ended
 * had.  Others may take as much of it as they like. */
static uint64_t
core_time(void)
{
    struct rusage children;

    getrusage(RUSAGE_CHILDREN, &children);
    return hearthi_clock_of(CLOCK_PROCESS_CPUTIME_ID) +
           1000 * ((uint64_t)(children.ru_utime.tv_sec +
                              children.ru_stime.tv_sec) *
                       1000000 +
                   (uint64_t)(children.ru_utime.tv_usec +
                              children.ru_stime.tv_usec));
}

static uint64_t
turns_time(atomic_int *turn, bool yields)
{
    uint64_t start = core_time();
    pid_t    other;

    atomic_store(turn, 0);
    other = fork();
    turns_take(turn, other == 0, yields);
    if (other == 0)
        _exit(0);
    ck_assert_int_eq(waitpid(other, NULL, 0), other);
    return core_time() - start;
}

/* Half of what the kernel lets it spin; or some two turns of the timer, where
 * the kernel takes the core away as soon, since many want it. */
START_TEST(who_spins_gives_way_to_whom_it_waits_for)
{
    atomic_int *turn = mmap(NULL, sizeof *turn, PROT_READ | PROT_WRITE,
                            MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    uint64_t    spins, yields;

    ck_assert(turn != MAP_FAILED);
    one_core();
    spins = turns_time(turn, false);
    yields = turns_time(turn, true);
    ck_assert_msg(yields < spins / 2 || yields < TURNS * TURN_NS,
                  "%d turns: %llu us of the core, and %llu without", TURNS,
                  (unsigned long long)yields / 1000,
                  (unsigned long long)spins / 1000);
}
END_TEST

START_TEST(nothing_is_left_behind)
{
    struct sigaction now;

    hearthi_yield_timer_begin(true);
    sigaction(SIGURG, NULL, &now);
    ck_assert(now.sa_handler != SIG_DFL);
    busy(2);
    hearthi_yield_timer_end();
    sigaction(SIGURG, NULL, &now);
    ck_assert(now.sa_handler == SIG_DFL);
    signal(SIGURG, hear);
    busy(3);
    ck_assert_int_eq(heard, 0);
}
END_TEST

START_TEST(a_handler_of_the_program_is_left_alone)
{
    struct sigaction now;

    signal(SIGURG, hear);
    hearthi_yield_timer_begin(true);
    raise(SIGURG);
    busy(3);
    sigaction(SIGURG, NULL, &now);
    hearthi_yield_timer_end();
    ck_assert(now.sa_handler == hear);
    ck_assert_int_eq(heard, 1);
}
END_TEST

START_TEST(a_signal_that_the_program_blocks_stays_its_own)
{
    struct sigaction now;
    sigset_t         set;

    sigemptyset(&set);
    sigaddset(&set, SIGURG);
    pthread_sigmask(SIG_BLOCK, &set, NULL);
    hearthi_yield_timer_begin(true);
    busy(2);
    sigaction(SIGURG, NULL, &now);
    hearthi_yield_timer_end();
    ck_assert(now.sa_handler == SIG_DFL);
    ck_assert_int_eq(sigpending(&set), 0);
    ck_assert_int_eq(sigismember(&set, SIGURG), 0);
}
END_TEST

START_TEST(calls_that_are_interrupted_go_on)
{
    int   fd[2];
    char  c = 0;
    pid_t other;

    ck_assert_int_eq(pipe(fd), 0);
    hearthi_yield_timer_begin(true);
    other = fork();
    if (other == 0) {
        usleep(20000);
        _exit(write(fd[1], "x", 1) != 1);
    }
    ck_assert_int_eq(read(fd[0], &c, 1), 1);
    ck_assert_int_eq(waitpid(other, NULL, 0), other);
    hearthi_yield_timer_end();
    ck_assert_int_eq(c, 'x');
}
END_TEST

/* It begins again whenever it is interrupted.  Who has no core for so long is
 * done without, and tries once more. */
START_TEST(what_must_not_be_interrupted_gets_done)
{
    const struct timespec nap = { .tv_nsec = 50000000 };
    unsigned              times = 0;

    hearthi_yield_timer_begin(true);
    while (times < 100)
        while (nanosleep(&nap, NULL) != 0)
            times++;
    hearthi_yield_timer_end();
}
END_TEST

START_TEST(who_has_a_core_is_not_interrupted)
{
    struct sigaction now;

    hearthi_yield_timer_begin(false);
    sigaction(SIGURG, NULL, &now);
    hearthi_yield_timer_end();
    ck_assert(now.sa_handler == SIG_DFL);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("spin");
    TCase *tc = tcase_create("timer");

    tcase_add_test(tc, who_spins_gives_way_to_whom_it_waits_for);
    tcase_add_test(tc, nothing_is_left_behind);
    tcase_add_test(tc, a_handler_of_the_program_is_left_alone);
    tcase_add_test(tc, a_signal_that_the_program_blocks_stays_its_own);
    tcase_add_test(tc, calls_that_are_interrupted_go_on);
    tcase_add_test(tc, what_must_not_be_interrupted_gets_done);
    tcase_add_test(tc, who_has_a_core_is_not_interrupted);
    tcase_set_timeout(tc, 60);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
