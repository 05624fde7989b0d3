/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Segmentation faults and bus errors that are the program's own: its handler
 * gets them, whether it was installed before hearth_init() or after, and
 * Hearth's page faults go on working.
 */
#define _GNU_SOURCE /* memfd_create */

#include <limits.h>
#include <pthread.h>
#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>
#include <sys/mman.h>
#include <ucontext.h>
#include <unistd.h>

#include "base/thread.h"
#include "fixture.h"
#include "page/altstack.h"
#include "page/fault_arch.h"

static sigjmp_buf back;
static void *volatile fault_address;
static volatile sig_atomic_t faults;

static size_t
system_page(void)
{
    return (size_t)sysconf(_SC_PAGESIZE);
}

static void
catch_info(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    (void)context;
    fault_address = info->si_addr;
    faults++;
    siglongjmp(back, 1);
}

static void
catch_plain(int sig)
{
    (void)sig;
    fault_address = NULL;
    faults++;
    siglongjmp(back, 1);
}

static void
install_info(void)
{
    struct sigaction act;

    memset(&act, 0, sizeof act);
    act.sa_sigaction = catch_info;
    act.sa_flags = SA_SIGINFO;
    sigaction(SIGSEGV, &act, NULL);
}

static void
install_plain(void)
{
    signal(SIGSEGV, catch_plain);
}

/* Do we come back through the handler? */
static bool
load_faults(const volatile char *p)
{
    int before = faults;

    if (sigsetjmp(back, 1) == 0)
        (void)*p;
    return faults == before + 1;
}

static bool
store_faults(volatile char *p)
{
    int before = faults;

    if (sigsetjmp(back, 1) == 0)
        *p = 1;
    return faults == before + 1;
}

/* Pages go round between the ranks without any fault for the program. */
static bool
memory_works(char *p, int pages)
{
    int  before = faults;
    bool ok = true;

    for (int k = 1; k <= 3; k++) {
        for (int i = 0; i < pages; i++)
            if ((i + k) % ranks == me)
                p[i * page_bytes() + k] = (char)(k + i);
        barrier();
        for (int i = 0; i < pages; i++)
            ok = ok && p[i * page_bytes() + k] == (char)(k + i);
        barrier();
    }
    return ok && faults == before;
}

static void
faults_reach_the_program(bool addresses)
{
    enum { PAGES = 8 };
    char *p = hearth_alloc(PAGES * page_bytes(), 1, hearth_cyclic(1));
    char *none = mmap(NULL, system_page(), PROT_NONE,
                      MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *beyond = p + PAGES * page_bytes() + 8;

    expect(memory_works(p, PAGES));
    expect(load_faults(beyond));
    expect(!addresses || fault_address == beyond);
    expect(store_faults(beyond + page_bytes() * 100));
    expect(memory_works(p, PAGES));
    expect(store_faults(none + 5));
    expect(!addresses || fault_address == none + 5);
    expect(load_faults(NULL));
    faults = 0;
    if (sigsetjmp(back, 1) == 0)
        raise(SIGSEGV);
    expect_eq(faults, 1);
    hearth_free(p);
    expect(load_faults(p));
    p = hearth_alloc(PAGES * page_bytes(), 1, hearth_block());
    expect(memory_works(p, PAGES));
    hearth_free(p);
    munmap(none, system_page());
    all_expected();
}

START_TEST(a_handler_from_before_gets_its_faults)
{
    install_info();
    fixture_start();
    faults_reach_the_program(true);
    fixture_stop();
}
END_TEST

START_TEST(a_handler_from_after_gets_its_faults)
{
    signal(SIGSEGV, SIG_DFL);
    fixture_start();
    install_info();
    faults_reach_the_program(true);
    fixture_stop();
}
END_TEST

START_TEST(a_plain_handler_gets_its_faults)
{
    install_plain();
    fixture_start();
    faults_reach_the_program(false);
    install_info(); /* and is replaced */
    faults_reach_the_program(true);
    install_plain();
    faults_reach_the_program(false);
    fixture_stop();
}
END_TEST

START_TEST(sigaction_tells_of_the_programs_handler)
{
    struct sigaction now;

    install_info();
    fixture_start();
    sigaction(SIGSEGV, NULL, &now);
    expect((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == catch_info);
    install_plain();
    sigaction(SIGSEGV, NULL, &now);
    expect(now.sa_handler == catch_plain);
    fixture_stop();
    sigaction(SIGSEGV, NULL, &now);
    expect(now.sa_handler == catch_plain);
    all_expected();
}
END_TEST

START_TEST(the_handler_is_there_after_finalize)
{
    static char *none;

    none = mmap(NULL, system_page(), PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS,
                -1, 0);
    fixture_start();
    install_info();
    fixture_stop();
    expect(load_faults(none + 7) && fault_address == none + 7);
    munmap(none, system_page());
    all_expected();
}
END_TEST

/* The kernel's rule for SA_RESETHAND: the second time it is nobody's. */
START_TEST(a_one_shot_handler_is_called_once)
{
    struct sigaction act = { .sa_sigaction = catch_info,
                             .sa_flags = SA_SIGINFO | (int)SA_RESETHAND };
    struct sigaction now;
    char            *none = mmap(NULL, system_page(), PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    fixture_start();
    sigaction(SIGSEGV, &act, NULL);
    expect(load_faults(none));
    sigaction(SIGSEGV, NULL, &now);
    expect(now.sa_handler == SIG_DFL);
    munmap(none, system_page());
    fixture_stop();
    all_expected();
}
END_TEST

/* Only on a stack of its own can a handler see that a stack has overflown. */
static volatile sig_atomic_t on_own_stack;
static char                 *own_stack;
static size_t                own_stack_size;

enum { OWN_STACK = 1 << 18 };

static void
catch_on_stack(int sig)
{
    const char here = 0;

    (void)sig;
    on_own_stack = &here >= own_stack && &here < own_stack + own_stack_size;
    faults++;
    siglongjmp(back, 1);
}

/* Does the program's handler come, and there? */
static bool
load_faults_there(const volatile char *p)
{
    on_own_stack = 0;
    if (sigsetjmp(back, 1) == 0)
        (void)*p;
    return on_own_stack;
}

START_TEST(a_handler_keeps_its_own_stack)
{
    struct sigaction act = { .sa_handler = catch_on_stack,
                             .sa_flags = SA_ONSTACK };
    stack_t          old, own = { .ss_size = OWN_STACK };
    char            *none = mmap(NULL, system_page(), PROT_NONE,
                                 MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    own.ss_sp = own_stack = malloc(OWN_STACK);
    own_stack_size = OWN_STACK;
    sigaltstack(&own, &old);
    fixture_start();
    sigaction(SIGSEGV, &act, NULL);
    expect(load_faults_there(none));
    expect(
        memory_works(hearth_alloc(page_bytes() * 8, 1, hearth_cyclic(1)), 8));
    fixture_stop();
    sigaltstack(&old, NULL);
    signal(SIGSEGV, SIG_DFL);
    free(own_stack);
    munmap(none, system_page());
    all_expected();
}
END_TEST

/* A runtime's: a handler on a stack for signals that has no room for a page
 * fault, and code on stacks that have still less. */
enum { BELOW = 24 << 10, APART = 1024, SIGN = 0x5a, ROOM = 2 << 10 };

static volatile sig_atomic_t alarms;

static void
scribble(int sig)
{
    volatile char room[ROOM / 2];

    (void)sig;
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = (char)i;
    alarms++;
}

static void
small_stack_set(stack_t *old)
{
    struct sigaction segv = { .sa_handler = catch_on_stack,
                              .sa_flags = SA_ONSTACK };
    struct sigaction alrm = { .sa_handler = scribble,
                              .sa_flags = SA_ONSTACK | SA_RESTART };
    stack_t          small = { .ss_size = getauxval(AT_MINSIGSTKSZ) + ROOM };
    char            *area = malloc(BELOW + small.ss_size);

    memset(area, SIGN, BELOW);
    small.ss_sp = own_stack = area + BELOW;
    own_stack_size = small.ss_size;
    sigaltstack(&small, old);
    sigaction(SIGSEGV, &segv, NULL);
    sigaction(SIGALRM, &alrm, NULL);
}

static void
small_stack_drop(const stack_t *old)
{
    for (const char *at = own_stack - BELOW; at < own_stack; at++)
        expect(*at == SIGN);
    sigaltstack(old, NULL);
    signal(SIGSEGV, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    free(own_stack - BELOW);
}

/* What a load or store writes below the stack pointer.  No call is made. */
static __attribute__((noinline)) size_t
bytes_written_below(volatile char *p, bool store)
{
    volatile char *end = (volatile char *)__builtin_frame_address(0) - APART;
    size_t         n = 0;

    for (volatile char *at = end - BELOW; at < end; at++)
        *at = SIGN;
    if (store)
        *p = 1;
    else
        (void)*p;
    for (volatile char *at = end - BELOW; at < end; at++)
        n += *at != SIGN;
    return n;
}

START_TEST(a_page_fault_leaves_a_small_stack_alone)
{
    enum { PAGES = 16 };
    stack_t old;
    size_t  bytes = 0;
    char   *p;

    small_stack_set(&old);
    fixture_start();
    p = hearth_alloc(PAGES * page_bytes(), 1, hearth_cyclic(1));
    for (int round = 0; round < 2; round++) {
        for (int i = 0; i < PAGES; i++)
            bytes +=
                bytes_written_below(p + i * page_bytes() + me, i % 2 == 0);
        barrier();
    }
    expect_eq(bytes, 0);
    hearth_free(p);
    fixture_stop();
    small_stack_drop(&old);
    all_expected();
}
END_TEST

/* As UCX does it, whose handler comes after the program's, on a stack that has
 * the room. */
START_TEST(a_handler_without_the_signal_stack_is_not_called_there)
{
    struct sigaction act = { .sa_handler = catch_on_stack };
    stack_t          old;
    char            *p;

    small_stack_set(&old);
    sigaction(SIGSEGV, &act, NULL);
    fixture_start();
    p = hearth_alloc(page_bytes() * 8, 1, hearth_cyclic(1));
    expect_eq(bytes_written_below(p, true), 0);
    for (int i = 0; i < 3; i++) {
        expect(load_faults(p + page_bytes() * 8) && !on_own_stack);
        expect(memory_works(p, 8));
    }
    hearth_free(p);
    fixture_stop();
    small_stack_drop(&old);
    all_expected();
}
END_TEST

/* What a page fault may do: use much of a stack, and be interrupted.  Where
 * the kernel goes back to lies on the stack for signals meanwhile. */
static bool
much_is_done(const siginfo_t *info, const void *context)
{
    volatile char room[160 << 10];

    (void)context;
    for (size_t i = 0; i < sizeof room; i++)
        room[i] = (char)i;
    raise(SIGALRM);
    return room[info->si_signo] == (char)info->si_signo;
}

static bool (*to_do)(const siginfo_t *, const void *);
static volatile sig_atomic_t done;

static void
do_it(int sig, siginfo_t *info, void *context)
{
    (void)sig;
    done += hearthi_altstack_run(to_do, info, context);
}

/* SIGUSR1 does it on the stack that a page fault would have. */
static void
do_at_signal(bool (*what)(const siginfo_t *, const void *), int flags)
{
    struct sigaction act = { .sa_sigaction = do_it,
                             .sa_flags = SA_SIGINFO | flags };

    to_do = what;
    done = 0;
    sigaction(SIGUSR1, &act, NULL);
}

START_TEST(a_page_fault_has_room_where_a_signal_stack_has_none)
{
    stack_t old, now;

    alarms = 0;
    small_stack_set(&old);
    do_at_signal(much_is_done, SA_ONSTACK);
    raise(SIGUSR1);
    raise(SIGUSR1);
    expect(done == 2 && alarms == 2);
    sigaltstack(NULL, &now);
    expect(now.ss_sp == own_stack && now.ss_size == own_stack_size);
    signal(SIGUSR1, SIG_DFL);
    small_stack_drop(&old);
    all_expected();
}
END_TEST

/* ---- threads without a stack for signals ---- */

/* How far below its stack pointer a load or store writes.  No call is made. */
static __attribute__((noinline)) size_t
depth_written_below(volatile char *p)
{
    volatile char *end = (volatile char *)__builtin_frame_address(0) - APART;
    volatile char *at;

    for (at = end - BELOW; at < end; at++)
        *at = SIGN;
    *p = 1;
    for (at = end - BELOW; at < end && *at == SIGN; at++)
        ;
    return (size_t)(end - at) + APART;
}

/* What the kernel puts there, and what Hearth's handler takes to leave it. */
enum { HANDLER = 2 << 10 };

static void *
depths_take(void *pages)
{
    size_t deepest = 0;

    for (int i = 0; i < 16; i++) {
        size_t d = depth_written_below((char *)pages + i * page_bytes() + me);

        deepest = d > deepest ? d : deepest;
    }
    return (void *)deepest; /* expectations are for the main thread only */
}

#ifdef __SANITIZE_ADDRESS__
enum { MORE = 16 << 10 };
#else
enum { MORE = 0 };
#endif

static void *
thread_of(size_t stack, void *(*f)(void *), void *pages)
{
    pthread_attr_t attr;
    pthread_t      thread;
    void          *result = NULL;
    int            code;

    pthread_attr_init(&attr);
    pthread_attr_setstacksize(&attr, stack + MORE);
    code = pthread_create(&thread, &attr, f, pages);
    expect_eq(code, 0);
    if (code == 0)
        pthread_join(thread, &result);
    pthread_attr_destroy(&attr);
    return result;
}

/* Libraries of user-level threads make their stacks themselves. */
static ucontext_t user_thread, its_caller;
static size_t     its_depth;
static char      *its_pages;

static void
user_thread_run(void)
{
    its_depth = (size_t)depths_take(its_pages);
}

static size_t
user_thread_depth(char *pages)
{
    enum { STACK = 128 << 10 };
    char *stack = malloc(STACK);

    its_pages = pages;
    getcontext(&user_thread);
    user_thread.uc_stack.ss_sp = stack;
    user_thread.uc_stack.ss_size = STACK;
    user_thread.uc_link = &its_caller;
    makecontext(&user_thread, user_thread_run, 0);
    swapcontext(&its_caller, &user_thread);
    free(stack);
    return its_depth;
}

START_TEST(a_fault_takes_no_more_of_a_small_stack_than_any_signal)
{
    size_t frame = getauxval(AT_MINSIGSTKSZ), deepest;
    size_t most = (frame == 0 ? 8 << 10 : frame) + HANDLER;
    char  *p;

    fixture_start();
    p = hearth_alloc(32 * page_bytes(), 1, hearth_cyclic(1));
    if (threads_allowed()) {
        deepest = (size_t)thread_of(128 << 10, depths_take, p);
        expect(deepest <= most);
        expect(deepest > APART || !apart(0, ranks - 1));
    }
    deepest = user_thread_depth(p + 16 * page_bytes());
    expect(deepest <= most);
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

static bool
is_near(const siginfo_t *info, const void *context)
{
    const char *here = __builtin_frame_address(0);

    (void)info;
    return (size_t)(hearthi_fault_stack(context) - here) < system_page() * 8;
}

/* A collector that stops this thread by a signal looks for its stack there. */
START_TEST(a_thread_with_room_keeps_its_own_stack)
{
    do_at_signal(is_near, 0);
    fixture_start();
    raise(SIGUSR1);
    raise(SIGUSR1);
    expect(done == 2);
    fixture_stop();
    signal(SIGUSR1, SIG_DFL);
    all_expected();
}
END_TEST

/* The other end of the stack says that it is Hearth's. */
static bool
is_marked(void)
{
    enum { BYTES = 256 << 10 };
    const void *volatile const *at = __builtin_frame_address(0);

    for (size_t i = 0; i < BYTES / sizeof *at; i++)
        if (at[i] == &hearthi_fault_stack_mark)
            return true;
    return false;
}

static bool
much_is_done_there(const siginfo_t *info, const void *context)
{
    return is_marked() && much_is_done(info, context);
}

enum { LEAST_PAGES = 64 };

static void *
least_run(void *pages)
{
    volatile char *p = pages;

    raise(SIGUSR1);
    for (int i = 0; i < LEAST_PAGES; i++)
        p[(size_t)i * page_bytes() + (size_t)me] = (char)(me + 1);
    return NULL;
}

/* With a cache of a few pages, whose diffs go while others come. */
START_TEST(a_thread_with_the_least_stack_may_use_the_heap)
{
    struct sigaction alrm = { .sa_handler = scribble,
                              .sa_flags = SA_ONSTACK | SA_RESTART };
    char            *p;

    alarms = 0;
    do_at_signal(much_is_done_there, SA_ONSTACK);
    sigaction(SIGALRM, &alrm, NULL);
    fixture_start_with("CACHE", bytes_of_pages(16));
    p = hearth_alloc(LEAST_PAGES * page_bytes(), 1, hearth_cyclic(1));
    if (threads_allowed()) {
        thread_of((size_t)PTHREAD_STACK_MIN, least_run, p);
        expect(done == 1 && alarms == 1);
        barrier();
        for (int i = 0; i < LEAST_PAGES * ranks; i++)
            expect_eq(
                p[(size_t)(i / ranks) * page_bytes() + (size_t)(i % ranks)],
                i % ranks + 1);
        barrier();
    }
    hearth_free(p);
    fixture_stop();
    signal(SIGUSR1, SIG_DFL);
    signal(SIGALRM, SIG_DFL);
    all_expected();
}
END_TEST

static void
catch_bus(int sig, siginfo_t *info, void *context)
{
    if (sig == SIGBUS && info->si_code == BUS_ADRERR)
        catch_info(sig, info, context);
}

static void
bus_errors_reach_the_program(char *beyond)
{
    char            *p = hearth_alloc(8 * page_bytes(), 1, hearth_cyclic(1));
    struct sigaction now;

    sigaction(SIGBUS, NULL, &now);
    expect((now.sa_flags & SA_SIGINFO) && now.sa_sigaction == catch_bus);
    expect(memory_works(p, 8));
    expect(load_faults(beyond + 3) && fault_address == beyond + 3);
    expect(store_faults(beyond + 5) && fault_address == beyond + 5);
    expect(memory_works(p, 8));
    hearth_free(p);
}

START_TEST(bus_errors_are_the_programs)
{
    struct sigaction act = { .sa_sigaction = catch_bus,
                             .sa_flags = SA_SIGINFO };
    int   file = memfd_create("empty", 0); /* a map of it has nothing behind */
    char *beyond =
        mmap(NULL, system_page(), PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    sigaction(SIGBUS, &act, NULL); /* before */
    fixture_start();
    bus_errors_reach_the_program(beyond);
    signal(SIGBUS, SIG_DFL);
    sigaction(SIGBUS, &act, NULL); /* after */
    bus_errors_reach_the_program(beyond);
    fixture_stop();
    expect(load_faults(beyond));
    signal(SIGBUS, SIG_DFL);
    munmap(beyond, system_page());
    close(file);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("signals");
    TCase *tc = tcase_create("SIGSEGV");

    tcase_add_test(tc, a_handler_from_before_gets_its_faults);
    tcase_add_test(tc, a_handler_from_after_gets_its_faults);
    tcase_add_test(tc, a_plain_handler_gets_its_faults);
    tcase_add_test(tc, sigaction_tells_of_the_programs_handler);
    tcase_add_test(tc, the_handler_is_there_after_finalize);
    tcase_add_test(tc, a_one_shot_handler_is_called_once);
    tcase_add_test(tc, a_handler_keeps_its_own_stack);
    tcase_add_test(tc, a_page_fault_leaves_a_small_stack_alone);
    tcase_add_test(tc, a_handler_without_the_signal_stack_is_not_called_there);
    tcase_add_test(tc, a_page_fault_has_room_where_a_signal_stack_has_none);
    tcase_add_test(tc, a_fault_takes_no_more_of_a_small_stack_than_any_signal);
    tcase_add_test(tc, a_thread_with_room_keeps_its_own_stack);
    tcase_add_test(tc, a_thread_with_the_least_stack_may_use_the_heap);
    tcase_add_test(tc, bus_errors_are_the_programs);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
