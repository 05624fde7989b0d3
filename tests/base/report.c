/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "base/report.h"

#include <pthread.h>
#include <signal.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/cancel.h"
#include "base/mutex.h"
#include "harness.h"

enum { HOOK_STATUS = 7, THREADS = 4, LINES = 200, LINE = 60 };

static char said[4096]; /* what a child wrote to stderr */

#ifdef HEARTHI_COVERAGE
void __gcov_dump(void); /* of gcc */
#endif

/* Without exit handlers, which are the test's; but what the child ran counts.
 */
static void
child_end(void)
{
#ifdef HEARTHI_COVERAGE
    __gcov_dump();
#endif
    _exit(0);
}

/* Run act in a child with stderr in a pipe; return its wait status. */
static int
child_run(void (*act)(void))
{
    int     out[2], status;
    size_t  len = 0;
    ssize_t n;
    pid_t   pid;

    ck_assert_int_eq(pipe(out), 0);
    pid = fork();
    if (pid == 0) {
        dup2(out[1], STDERR_FILENO);
        act();
        child_end();
    }
    close(out[1]);
    while ((n = read(out[0], said + len, sizeof said - 1 - len)) > 0)
        len += (size_t)n;
    said[len] = '\0';
    close(out[0]);
    waitpid(pid, &status, 0);
    return status;
}

static void
hook(void)
{
    _exit(HOOK_STATUS);
}

static void
warn_twice(void)
{
    hearthi_warn("hearth_init", "value %d", 42);
    hearthi_report_rank = 3;
    hearthi_warn("hearth_lock", "lock %s", "twelve");
}

START_TEST(a_warning_is_one_line_and_the_job_goes_on)
{
    ck_assert_int_eq(child_run(warn_twice), 0);
    ck_assert_str_eq(said, "hearth: hearth_init: value 42\n"
                           "hearth: rank 3: hearth_lock: lock twelve\n");
}
END_TEST

static void
fatal_with_hook(void)
{
    hearthi_abort_hook = hook;
    hearthi_fatal("hearth_free", "not an allocation");
}

START_TEST(a_fatal_report_calls_the_hook)
{
    int status = child_run(fatal_with_hook);

    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status), HOOK_STATUS);
    ck_assert_str_eq(said, "hearth: hearth_free: not an allocation\n");
}
END_TEST

static void
fatal_without_hook(void)
{
    hearthi_fatal("hearth_init", "no heap");
}

START_TEST(without_a_hook_the_process_ends_with_a_status)
{
    int status = child_run(fatal_without_hook);

    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 0);
}
END_TEST

static void
slow_hook(void)
{
    usleep(200000); /* time for the other threads to come here too */
    _exit(HOOK_STATUS);
}

static void *
thread_main(void *arg)
{
    (void)arg;
    hearthi_fatal("hearth_unlock", "not held");
}

static void
fatal_on_threads(void)
{
    pthread_t thread[THREADS];

    hearthi_abort_hook = slow_hook;
    for (int i = 0; i < THREADS; i++)
        pthread_create(&thread[i], NULL, thread_main, NULL);
    for (int i = 0; i < THREADS; i++)
        pthread_join(thread[i], NULL);
}

START_TEST(only_the_first_thread_speaks)
{
    int status = child_run(fatal_on_threads);

    ck_assert_int_eq(WEXITSTATUS(status), HOOK_STATUS);
    ck_assert_str_eq(said, "hearth: hearth_unlock: not held\n");
}
END_TEST

static void
hook_that_fails(void)
{
    hearthi_fatal("MPI", "MPI_Abort failed");
}

static void
fatal_in_the_hook(void)
{
    hearthi_abort_hook = hook_that_fails;
    hearthi_fatal("hearth_barrier", "first");
}

START_TEST(a_hook_that_fails_ends_the_process)
{
    int status = child_run(fatal_in_the_hook);

    ck_assert(WIFEXITED(status) && WEXITSTATUS(status) != 0);
    ck_assert_str_eq(said, "hearth: hearth_barrier: first\n");
}
END_TEST

static void
warn_long(void)
{
    static char text[5000];

    memset(text, 'x', sizeof text - 1);
    text[10] = '\n';
    hearthi_warn("call", "%s", text);
}

START_TEST(a_long_text_with_line_ends_stays_one_line)
{
    ck_assert_int_eq(child_run(warn_long), 0);
    ck_assert_uint_gt(strlen(said), 500);
    ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
}
END_TEST

static void
lines_write(void)
{
    static char text[LINES * LINE + 1];

    for (int i = 0; i < LINES; i++)
        sprintf(text + (ptrdiff_t)i * LINE, "%*d\n", LINE - 1, i);
    hearthi_report_lines(text, LINES * LINE);
}

/* As a launcher does that gets no core for a while before it reads again. */
START_TEST(who_reads_a_part_of_a_table_reads_whole_lines)
{
    int     out[2], all = 0, status;
    ssize_t n;
    pid_t   pid;

    ck_assert_int_eq(pipe(out), 0);
    pid = fork();
    if (pid == 0) {
        dup2(out[1], STDERR_FILENO);
        lines_write();
        child_end();
    }
    close(out[1]);
    for (;;) {
        usleep(20000);
        n = read(out[0], said, sizeof said);
        if (n <= 0)
            break;
        ck_assert_int_eq(said[n - 1], '\n');
        for (ssize_t i = 0; i < n; i += LINE, all++)
            ck_assert_int_eq(atoi(said + i), all);
    }
    ck_assert_int_eq(all, LINES);
    close(out[0]);
    waitpid(pid, &status, 0);
}
END_TEST

/* ---- assertions, which only a library with --enable-debug looks at ---- */

static int looked;

HEARTHI_FOR_ASSERT static bool
look(bool answer)
{
    looked++;
    return answer;
}

/* The library that is tested was configured as this file is compiled. */
#ifdef HEARTHI_DEBUG
static const bool is_debug = true;
#else
static const bool is_debug = false;
#endif

static void
assert_twice(void)
{
    HEARTHI_ASSERT(look(true));
    HEARTHI_ASSERT(look(false));
    _exit(looked == 0 ? 0 : 1);
}

static void
assert_in_handler(int sig)
{
    (void)sig;
    HEARTHI_ASSERT(look(false));
    _exit(0);
}

static void
fault(void)
{
    hearthi_report_rank = 5;
    signal(SIGSEGV, assert_in_handler);
    raise(SIGSEGV);
}

/* One line of an assertion, with this in it, or nothing at all. */
static void
assertion_expect(int status, const char *text)
{
    ck_assert(WIFEXITED(status));
    ck_assert_int_eq(WEXITSTATUS(status) != 0, is_debug);
    if (!is_debug) {
        ck_assert_str_eq(said, "");
        return;
    }
    ck_assert_ptr_eq(strchr(said, '\n'), said + strlen(said) - 1);
    ck_assert_msg(strstr(said, ": assertion: ") != NULL &&
                      strstr(said, text) != NULL,
                  "%s", said);
}

START_TEST(a_failed_assertion_is_one_line_with_its_place_and_condition)
{
    assertion_expect(child_run(assert_twice),
                     "assert_twice: this does not hold: look(false)");
    if (is_debug)
        ck_assert_ptr_nonnull(strstr(said, "tests/base/report.c:"));
}
END_TEST

START_TEST(a_handler_of_faults_may_assert)
{
    assertion_expect(child_run(fault), "assert_in_handler");
    if (is_debug)
        ck_assert_ptr_nonnull(strstr(said, "hearth: rank 5: assertion: "));
}
END_TEST

/* ---- the order of mutexes ---- */

static pthread_mutex_t one = PTHREAD_MUTEX_INITIALIZER,
                       two = PTHREAD_MUTEX_INITIALIZER;

static void
mutexes_in_order(void)
{
    hearthi_mutex_lock(&one, HEARTHI_MUTEX_FREELIST);
    hearthi_mutex_lock(&two, HEARTHI_MUTEX_SERVER);
    HEARTHI_ASSERT_HAS(FREELIST);
    HEARTHI_ASSERT_HAS(SERVER);
    hearthi_mutex_unlock(&one, HEARTHI_MUTEX_FREELIST);
    hearthi_mutex_unlock(&two, HEARTHI_MUTEX_SERVER);
    HEARTHI_ASSERT_HAS_NOT(FREELIST);
}

static void
mutexes_out_of_order(void)
{
    hearthi_mutex_lock(&one, HEARTHI_MUTEX_SERVER);
    hearthi_mutex_lock(&two, HEARTHI_MUTEX_FREELIST);
}

/* Two mutexes of one place in the order: those of two stocks. */
static void
mutexes_twice(void)
{
    hearthi_mutex_lock(&one, HEARTHI_MUTEX_FREELIST);
    hearthi_mutex_lock(&two, HEARTHI_MUTEX_FREELIST);
}

static void
call_with_mutex(void)
{
    HEARTHI_UNCANCELLED;

    hearthi_mutex_lock(&one, HEARTHI_MUTEX_THREAD_STATES);
}

static void
mutex_of_another(void)
{
    pthread_mutex_lock(&one);
    hearthi_mutex_unlock(&one, HEARTHI_MUTEX_THREAD_STATES);
}

START_TEST(mutexes_are_taken_in_their_order_and_once)
{
    ck_assert_int_eq(child_run(mutexes_in_order), 0);
    ck_assert_str_eq(said, "");
    assertion_expect(
        child_run(mutexes_out_of_order),
        "mutex of malloc/central_freelist.c (the free memory of one home) "
        "is taken by a thread that has that of "
        "transport/udp/server.c");
    assertion_expect(child_run(mutexes_twice),
                     "mutex of malloc/central_freelist.c");
    assertion_expect(child_run(mutex_of_another), "has not taken it");
}
END_TEST

START_TEST(a_call_ends_with_the_mutexes_it_began_with)
{
    assertion_expect(child_run(call_with_mutex), "taken and not given");
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("report");
    TCase *tc = tcase_create("lines");

    tcase_add_test(tc, a_warning_is_one_line_and_the_job_goes_on);
    tcase_add_test(tc, a_fatal_report_calls_the_hook);
    tcase_add_test(tc, without_a_hook_the_process_ends_with_a_status);
    tcase_add_test(tc, only_the_first_thread_speaks);
    tcase_add_test(tc, a_hook_that_fails_ends_the_process);
    tcase_add_test(tc, a_long_text_with_line_ends_stays_one_line);
    tcase_add_test(tc, who_reads_a_part_of_a_table_reads_whole_lines);
    tcase_add_test(
        tc, a_failed_assertion_is_one_line_with_its_place_and_condition);
    tcase_add_test(tc, a_handler_of_faults_may_assert);
    tcase_add_test(tc, mutexes_are_taken_in_their_order_and_once);
    tcase_add_test(tc, a_call_ends_with_the_mutexes_it_began_with);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
