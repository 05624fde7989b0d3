/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "base/report.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "harness.h"

enum { HOOK_STATUS = 7, THREADS = 4 };

static char said[4096]; /* what a child wrote to stderr */

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
        _exit(0);
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
    suite_add_tcase(s, tc);
    return unit_main(s);
}
