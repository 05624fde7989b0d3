/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Segmentation faults and bus errors that are the program's own: its handler
 * gets them, whether it was installed before hearth_init() or after, and
 * Hearth's page faults go on working.
 */
#define _GNU_SOURCE /* memfd_create */

#include <setjmp.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "fixture.h"

static sigjmp_buf back;
static void *volatile fault_address;
static volatile sig_atomic_t faults;

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
                p[i * PAGE + k] = (char)(k + i);
        barrier();
        for (int i = 0; i < pages; i++)
            ok = ok && p[i * PAGE + k] == (char)(k + i);
        barrier();
    }
    return ok && faults == before;
}

static void
faults_reach_the_program(bool addresses)
{
    enum { PAGES = 8 };
    char *p = hearth_alloc(PAGES * PAGE, 1, hearth_cyclic(1));
    char *none =
        mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    char *beyond = p + PAGES * PAGE + 8;

    expect(memory_works(p, PAGES));
    expect(load_faults(beyond));
    expect(!addresses || fault_address == beyond);
    expect(store_faults(beyond + PAGE * 100));
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
    p = hearth_alloc(PAGES * PAGE, 1, hearth_block());
    expect(memory_works(p, PAGES));
    hearth_free(p);
    munmap(none, PAGE);
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

    none = mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    fixture_start();
    install_info();
    fixture_stop();
    expect(load_faults(none + 7) && fault_address == none + 7);
    munmap(none, PAGE);
    all_expected();
}
END_TEST

/* The kernel's rule for SA_RESETHAND: the second time it is nobody's. */
START_TEST(a_one_shot_handler_is_called_once)
{
    struct sigaction act = { .sa_sigaction = catch_info,
                             .sa_flags = SA_SIGINFO | (int)SA_RESETHAND };
    struct sigaction now;
    char            *none =
        mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    fixture_start();
    sigaction(SIGSEGV, &act, NULL);
    expect(load_faults(none));
    sigaction(SIGSEGV, NULL, &now);
    expect(now.sa_handler == SIG_DFL);
    munmap(none, PAGE);
    fixture_stop();
    all_expected();
}
END_TEST

/* Only on a stack of its own can a handler see that a stack has overflown. */
static volatile sig_atomic_t on_own_stack;
static char                 *own_stack;

enum { OWN_STACK = 1 << 18 };

static void
catch_on_stack(int sig)
{
    const char here = 0;

    (void)sig;
    on_own_stack = &here >= own_stack && &here < own_stack + OWN_STACK;
    siglongjmp(back, 1);
}

START_TEST(a_handler_keeps_its_own_stack)
{
    struct sigaction act = { .sa_handler = catch_on_stack,
                             .sa_flags = SA_ONSTACK };
    stack_t          old, own = { .ss_size = OWN_STACK };
    char            *none =
        mmap(NULL, PAGE, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    own.ss_sp = own_stack = malloc(OWN_STACK);
    sigaltstack(&own, &old);
    fixture_start();
    sigaction(SIGSEGV, &act, NULL);
    if (sigsetjmp(back, 1) == 0)
        *(volatile char *)none = 1;
    expect(on_own_stack);
    expect(memory_works(hearth_alloc(PAGE * 8, 1, hearth_cyclic(1)), 8));
    fixture_stop();
    sigaltstack(&old, NULL);
    signal(SIGSEGV, SIG_DFL);
    free(own_stack);
    munmap(none, PAGE);
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
    char            *p = hearth_alloc(8 * PAGE, 1, hearth_cyclic(1));
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
        mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);

    sigaction(SIGBUS, &act, NULL); /* before */
    fixture_start();
    bus_errors_reach_the_program(beyond);
    signal(SIGBUS, SIG_DFL);
    sigaction(SIGBUS, &act, NULL); /* after */
    bus_errors_reach_the_program(beyond);
    fixture_stop();
    expect(load_faults(beyond));
    signal(SIGBUS, SIG_DFL);
    munmap(beyond, PAGE);
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
    tcase_add_test(tc, bus_errors_are_the_programs);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
