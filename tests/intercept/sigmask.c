/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The heap is there for threads that block signals, and beside handlers that
 * are installed by any of the names there are for it.
 */
#include "config.h"

#include <aio.h>
#include <poll.h>
#include <pthread.h>
#include <semaphore.h>
#include <setjmp.h>
#include <signal.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/select.h>
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"

typedef void              handler_function(int);
typedef handler_function *signal_function(int, handler_function *);

/* Plain "signal" where a program asks for nothing but its C standard; and what
 * headers say of none. */
signal_function __sysv_signal, bsd_signal;

static sigjmp_buf            back;
static volatile sig_atomic_t faults;
static char *volatile memory;

static void catch (int sig)
{
    (void)sig;
    faults++;
    siglongjmp(back, 1);
}

/* Each rank writes into the page of the next, and reads what was written into
 * its own: page k of each. */
static bool
memory_works(int k)
{
    char *page = memory + (size_t)k * (size_t)ranks * page_bytes();
    bool  ok;

    page[(size_t)((me + 1) % ranks) * page_bytes()] = (char)(k + 1);
    barrier();
    ok = page[(size_t)me * page_bytes()] == (char)(k + 1);
    barrier();
    return ok;
}

static void
start(void)
{
    fixture_start();
    memory =
        hearth_alloc((size_t)ranks * 16 * page_bytes(), 1, hearth_cyclic(1));
}

static void
stop(void)
{
    barrier();
    hearth_free(memory);
    fixture_stop();
}

static bool
fault_is_caught(volatile char *none)
{
    int before = faults;

    if (sigsetjmp(back, 1) == 0)
        *none = 1;
    return faults == before + 1;
}

START_TEST(a_handler_may_be_installed_by_every_name_of_signal)
{
    static signal_function *const names[] = { signal,        ssignal,
                                              bsd_signal,    sysv_signal,
                                              __sysv_signal, sigset };
    char *none = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    start();
    for (int i = 0; i < 6; i++) {
        expect(names[i](SIGSEGV, catch) != SIG_ERR);
        expect(memory_works(i));
        expect(fault_is_caught(none));
        signal(SIGSEGV, SIG_DFL);
    }
    stop();
    munmap(none, (size_t)sysconf(_SC_PAGESIZE));
    all_expected();
}
END_TEST

START_TEST(a_name_of_signal_tells_who_was_there)
{
    start();
    signal(SIGSEGV, SIG_DFL);
    expect(__sysv_signal(SIGSEGV, catch) == SIG_DFL);
    expect(sigset(SIGSEGV, SIG_HOLD) == catch);
    expect(bsd_signal(SIGSEGV, SIG_DFL) == catch);
    expect(sigignore(SIGSEGV) == 0);
    expect(memory_works(0));
    expect(bsd_signal(SIGSEGV, SIG_DFL) == SIG_IGN);
    expect(sigignore(SIGUSR2) == 0);
    expect(bsd_signal(SIGUSR2, SIG_DFL) == SIG_IGN);
    expect(__sysv_signal(SIGUSR2, catch) == SIG_DFL);
    expect(bsd_signal(SIGUSR2, SIG_DFL) == catch);
    stop();
    all_expected();
}
END_TEST

/* ---- masks ---- */

static void
block_all(int (*mask)(int, const sigset_t *, sigset_t *), sigset_t *before)
{
    sigset_t all;

    sigfillset(&all);
    mask(SIG_SETMASK, &all, before);
}

START_TEST(who_blocks_all_signals_may_use_the_heap)
{
    sigset_t before;

    block_all(pthread_sigmask, &before); /* before hearth_init() */
    start();
    expect(memory_works(0));
    block_all(sigprocmask, NULL);
    expect(memory_works(1));
    sighold(SIGSEGV);
    sigset(SIGSEGV, SIG_HOLD);
    expect(memory_works(2));
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    stop();
    all_expected();
}
END_TEST

START_TEST(who_blocks_all_signals_by_the_old_names_may_use_the_heap)
{
    int before;

    start();
    before = sigblock(~0);
    expect(memory_works(0));
    sigsetmask(~0);
    expect(memory_works(1));
    sigsetmask(before);
    expect(memory_works(2));
    stop();
    all_expected();
}
END_TEST

/* A pool that is there before Hearth is. */
static pthread_barrier_t ready;
static bool              told;

static void *
pool_run(void *arg)
{
    (void)arg;
    pthread_barrier_wait(&ready);
    told = memory_works(0);
    pthread_barrier_wait(&ready);
    return NULL;
}

static void
pool_start(pthread_t *thread, bool by_attribute)
{
    pthread_attr_t attr;
    sigset_t       before, all;

    sigfillset(&all);
    pthread_attr_init(&attr);
    if (by_attribute)
        pthread_attr_setsigmask_np(&attr, &all);
    else
        block_all(pthread_sigmask, &before);
    pthread_create(thread, &attr, pool_run, NULL);
    if (!by_attribute)
        pthread_sigmask(SIG_SETMASK, &before, NULL);
    pthread_attr_destroy(&attr);
}

START_TEST(threads_that_started_with_all_blocked_may_use_the_heap)
{
    pthread_t thread;

    for (int by_attribute = 0; by_attribute < 2 && threads_allowed();
         by_attribute++) {
        pthread_barrier_init(&ready, NULL, 2);
        pool_start(&thread, by_attribute);
        start();
        pthread_barrier_wait(&ready);
        pthread_barrier_wait(&ready);
        expect(told);
        pthread_join(thread, NULL);
        stop();
        pthread_barrier_destroy(&ready);
    }
    all_expected();
}
END_TEST

/* The C library calls these in a thread of its own. */
static sem_t called;

static void
notice(union sigval page)
{
    told = memory[(size_t)page.sival_int * page_bytes()] == 9;
    sem_post(&called);
}

static bool
by_timer(struct sigevent *event)
{
    struct itimerspec once = { .it_value = { .tv_nsec = 1 } };
    timer_t           timer;

    if (timer_create(CLOCK_MONOTONIC, event, &timer) != 0)
        return false;
    timer_settime(timer, 0, &once, NULL);
    sem_wait(&called);
    return timer_delete(timer) == 0;
}

static bool
by_aio(struct sigevent *event)
{
    char         byte = 1;
    int          end[2];
    struct aiocb write = { .aio_buf = &byte,
                           .aio_nbytes = 1,
                           .aio_sigevent = *event };

    if (pipe(end) != 0)
        return false;
    write.aio_fildes = end[1];
    if (aio_write(&write) == 0)
        sem_wait(&called);
    close(end[0]);
    close(end[1]);
    return true;
}

START_TEST(a_function_that_the_c_library_calls_may_use_the_heap)
{
    static bool (*const ways[])(struct sigevent *) = { by_timer, by_timer,
                                                       by_aio };
    struct sigevent event = { .sigev_notify = SIGEV_THREAD,
                              .sigev_notify_function = notice };

    start();
    sem_init(&called, 0, 0);
    for (int k = 0; k < 3; k++)
        memory[(size_t)(k * ranks + me) * page_bytes()] = 9;
    barrier();
    for (int k = 0; k < 3 && threads_allowed(); k++) {
        told = false;
        event.sigev_value.sival_int = k * ranks + (me + 1) % ranks;
        expect(ways[k](&event));
        expect(told);
    }
    stop();
    sem_destroy(&called);
    all_expected();
}
END_TEST

/* Past libhearth, as a mask that is inherited over exec. */
START_TEST(who_has_all_signals_blocked_may_call_hearth_init)
{
    const uint64_t all = UINT64_MAX;
    uint64_t       before;

    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &all, &before, sizeof all);
    start();
    expect(memory_works(0));
    stop();
    syscall(SYS_rt_sigprocmask, SIG_SETMASK, &before, NULL, sizeof before);
    all_expected();
}
END_TEST

/* With all signals blocked while they run. */
static volatile sig_atomic_t seen;

static void
touch(int sig)
{
    (void)sig;
    seen = memory[(size_t)((me + 1) % ranks) * page_bytes()];
}

START_TEST(a_handler_of_another_signal_may_use_the_heap)
{
    struct sigaction act = { .sa_handler = touch }, old;

    start();
    memory[(size_t)me * page_bytes()] = 9;
    barrier();
    sigfillset(&act.sa_mask);
    sigaction(SIGUSR2, &act, &old);
    raise(SIGUSR2);
    expect_eq(seen, 9);
    sigaction(SIGUSR2, &old, NULL);
    stop();
    all_expected();
}
END_TEST

/* Each of these waits with all signals blocked but the one that comes. */
static void
suspend(const sigset_t *mask)
{
    sigsuspend(mask);
}

static void
poll_masked(const sigset_t *mask)
{
    ppoll(NULL, 0, NULL, mask);
}

static void
select_masked(const sigset_t *mask)
{
    pselect(0, NULL, NULL, NULL, NULL, mask);
}

START_TEST(a_handler_may_use_the_heap_in_a_wait_with_a_mask)
{
    static void (*const waits[])(const sigset_t *) = { suspend, poll_masked,
                                                       select_masked };
    struct sigaction act = { .sa_handler = touch }, old;
    sigset_t         usr2, all;

    start();
    sigemptyset(&usr2);
    sigaddset(&usr2, SIGUSR2);
    sigfillset(&all);
    sigdelset(&all, SIGUSR2);
    sigaction(SIGUSR2, &act, &old);
    pthread_sigmask(SIG_BLOCK, &usr2, NULL);
    for (int i = 0; i < 3; i++) {
        memory[(size_t)me * page_bytes()] = (char)(10 + i);
        barrier();
        seen = 0;
        raise(SIGUSR2);
        waits[i](&all);
        expect_eq(seen, 10 + i);
        barrier();
    }
    pthread_sigmask(SIG_UNBLOCK, &usr2, NULL);
    sigaction(SIGUSR2, &old, NULL);
    stop();
    all_expected();
}
END_TEST

/* A handler with SA_NODEFER may itself fault, into the next call of itself. */
static volatile sig_atomic_t deep;
static char *volatile none_here;

static void
catch_twice(int sig)
{
    (void)sig;
    if (++deep < 3)
        *none_here = 1;
    siglongjmp(back, 1);
}

START_TEST(a_handler_that_is_not_deferred_is_called_in_itself)
{
    struct sigaction act = { .sa_handler = catch_twice,
                             .sa_flags = SA_NODEFER };

    none_here = mmap(NULL, (size_t)sysconf(_SC_PAGESIZE), PROT_NONE,
                     MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    start();
    sigaction(SIGSEGV, &act, NULL);
    if (sigsetjmp(back, 1) == 0)
        *none_here = 1;
    expect_eq(deep, 3);
    expect(memory_works(0));
    signal(SIGSEGV, SIG_DFL);
    stop();
    munmap(none_here, (size_t)sysconf(_SC_PAGESIZE));
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("masks");
    TCase *tc = tcase_create("SIGSEGV");

    tcase_add_test(tc, a_handler_may_be_installed_by_every_name_of_signal);
    tcase_add_test(tc, a_name_of_signal_tells_who_was_there);
    tcase_add_test(tc, who_blocks_all_signals_may_use_the_heap);
    tcase_add_test(tc,
                   who_blocks_all_signals_by_the_old_names_may_use_the_heap);
    tcase_add_test(tc, threads_that_started_with_all_blocked_may_use_the_heap);
    tcase_add_test(tc, a_function_that_the_c_library_calls_may_use_the_heap);
    tcase_add_test(tc, who_has_all_signals_blocked_may_call_hearth_init);
    tcase_add_test(tc, a_handler_of_another_signal_may_use_the_heap);
    tcase_add_test(tc, a_handler_may_use_the_heap_in_a_wait_with_a_mask);
    tcase_add_test(tc, a_handler_that_is_not_deferred_is_called_in_itself);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
