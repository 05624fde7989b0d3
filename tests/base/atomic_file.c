/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "base/atomic_file.h"

#include <dirent.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "harness.h"

static char                       folder[64], path[128];
static struct hearthi_atomic_file whole;

/* The file as others see it. */
static const char *
contents(void)
{
    static char text[32];
    int         fd = open(path, O_RDONLY);
    ssize_t     n;

    if (fd < 0)
        return "none";
    n = read(fd, text, sizeof text - 1);
    close(fd);
    ck_assert_int_ge((int)n, 0);
    text[n] = '\0';
    return text;
}

static int
files(void)
{
    DIR *d = opendir(folder);
    int  n = 0;

    ck_assert_ptr_ne(d, NULL);
    while (readdir(d) != NULL)
        n++;
    closedir(d);
    return n - 2; /* "." and ".." */
}

static void
setup(void)
{
    snprintf(folder, sizeof folder, "/tmp/hearth-whole.XXXXXX");
    ck_assert_ptr_ne(mkdtemp(folder), NULL);
    snprintf(path, sizeof path, "%s/file", folder);
}

static void
teardown(void)
{
    unlink(path);
    ck_assert_int_eq(rmdir(folder), 0); /* nothing else was left */
}

/* Write a file; gives why that failed. */
static const char *
print(const char *text, const char *trouble)
{
    FILE       *out;
    const char *why = hearthi_atomic_file_begin(&whole, &out);

    if (why != NULL)
        return why;
    fputs(text, out);
    return hearthi_atomic_file_end(&whole, out, trouble);
}

START_TEST(a_file_is_there_when_all_of_it_is)
{
    FILE *out;

    ck_assert_ptr_eq(hearthi_atomic_file_open(&whole, path), NULL);
    ck_assert_int_eq(files(), 0);
    ck_assert_ptr_eq(hearthi_atomic_file_begin(&whole, &out), NULL);
    fputs("whole", out);
    ck_assert_int_eq(fflush(out), 0);
    ck_assert_str_eq(contents(), "none");
    ck_assert_ptr_eq(hearthi_atomic_file_end(&whole, out, NULL), NULL);
    ck_assert_str_eq(contents(), "whole");
    ck_assert_int_eq(files(), 1);
    hearthi_atomic_file_close(&whole);
}
END_TEST

START_TEST(a_new_file_takes_the_place_of_the_old)
{
    for (int i = 0; i < 2; i++) {
        ck_assert_ptr_eq(hearthi_atomic_file_open(&whole, path), NULL);
        ck_assert_ptr_eq(print(i == 0 ? "old" : "new", NULL), NULL);
        hearthi_atomic_file_close(&whole);
    }
    ck_assert_str_eq(contents(), "new");
}
END_TEST

START_TEST(the_old_file_stays_if_printing_fails)
{
    ck_assert_ptr_eq(hearthi_atomic_file_open(&whole, path), NULL);
    ck_assert_ptr_eq(print("old", NULL), NULL);
    ck_assert_str_eq(print("ne", "no memory"), "no memory");
    ck_assert_str_eq(contents(), "old");
    ck_assert_int_eq(files(), 1);
}
END_TEST

/* More than what Check writes to a file of its own. */
enum { LIMIT = 16 << 10, TOO_MUCH = LIMIT + 1000 };

/* As on a full disk: no file may grow beyond some bytes. */
START_TEST(the_old_file_stays_if_the_disk_is_full)
{
    const struct rlimit limit = { LIMIT, LIMIT };
    static char         text[TOO_MUCH];

    memset(text, 'x', sizeof text - 1);
    ck_assert_ptr_eq(hearthi_atomic_file_open(&whole, path), NULL);
    ck_assert_ptr_eq(print("old", NULL), NULL);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_str_eq(print(text, NULL),
                     "a file may have 16 KiB (ulimit -f): raise that "
                     "(ulimit -f unlimited)");
    ck_assert_str_eq(contents(), "old");
    ck_assert_int_eq(files(), 1);
}
END_TEST

static volatile sig_atomic_t signals;

static void
signal_count(int signum)
{
    (void)signum;
    signals++;
}

/* One that it has not taken yet comes later, and one of Hearth's never. */
START_TEST(a_program_keeps_its_own_signal_of_files_too_large)
{
    const struct rlimit limit = { LIMIT, LIMIT };
    sigset_t            set, before;
    static char         text[TOO_MUCH];

    memset(text, 'x', sizeof text - 1);
    signal(SIGXFSZ, signal_count);
    sigemptyset(&set);
    sigaddset(&set, SIGXFSZ);
    ck_assert_int_eq(setrlimit(RLIMIT_FSIZE, &limit), 0);
    ck_assert_ptr_eq(hearthi_atomic_file_open(&whole, path), NULL);
    ck_assert_ptr_ne(print(text, NULL), NULL);
    ck_assert_int_eq(signals, 0);
    pthread_sigmask(SIG_BLOCK, &set, &before);
    raise(SIGXFSZ);
    ck_assert_ptr_ne(print(text, NULL), NULL);
    pthread_sigmask(SIG_SETMASK, &before, NULL);
    ck_assert_int_eq(signals, 1);
}
END_TEST

START_TEST(the_program_may_go_elsewhere_meanwhile)
{
    ck_assert_int_eq(chdir(folder), 0);
    ck_assert_ptr_eq(hearthi_atomic_file_open(&whole, "file"), NULL);
    ck_assert_int_eq(chdir("/"), 0);
    ck_assert_ptr_eq(print("there", NULL), NULL);
    ck_assert_str_eq(contents(), "there");
}
END_TEST

START_TEST(a_folder_that_goes_away_is_a_reason)
{
    ck_assert_ptr_eq(hearthi_atomic_file_open(&whole, path), NULL);
    ck_assert_int_eq(rmdir(folder), 0);
    ck_assert_ptr_ne(print("lost", NULL), NULL);
    ck_assert_ptr_ne(mkdtemp(strcpy(folder, "/tmp/hearth-whole.XXXXXX")),
                     NULL);
}
END_TEST

START_TEST(what_cannot_be_a_file_is_refused_at_once)
{
    static char              endless[2 * PATH_MAX];
    static const char *const bad[] = {
        "",  "/",  "/dev/null", "/dev/full",   "/tmp/", "/tmp",
        ".", "..", "/none/at",  "/dev/null/x", endless,
    };

    memset(endless, 'x', sizeof endless - 1);
    for (size_t i = 0; i < sizeof bad / sizeof *bad; i++)
        ck_assert_msg(hearthi_atomic_file_open(&whole, bad[i]) != NULL,
                      "\"%s\"", bad[i]);
    endless[NAME_MAX] = '\0'; /* would do, but the other name is longer */
    ck_assert_ptr_ne(hearthi_atomic_file_open(&whole, endless), NULL);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("whole");
    TCase *tc = tcase_create("file");

    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_add_test(tc, a_file_is_there_when_all_of_it_is);
    tcase_add_test(tc, a_new_file_takes_the_place_of_the_old);
    tcase_add_test(tc, the_old_file_stays_if_printing_fails);
    tcase_add_test(tc, the_old_file_stays_if_the_disk_is_full);
    tcase_add_test(tc, a_program_keeps_its_own_signal_of_files_too_large);
    tcase_add_test(tc, the_program_may_go_elsewhere_meanwhile);
    tcase_add_test(tc, a_folder_that_goes_away_is_a_reason);
    tcase_add_test(tc, what_cannot_be_a_file_is_refused_at_once);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
