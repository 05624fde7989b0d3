/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the kernel does to copies that userfaultfd watches, and what it cannot
 * do to them.  Where the kernel forbids it, or HEARTH_PROTECT does, the same
 * programs are right, and may be slower.
 */
#define _GNU_SOURCE /* memfd_create */

#include <errno.h>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "forbid.h"
#include "page/uffd_pages.h"
#include "scattered.h"
#include "space/userfault.h"

bool
watched(void)
{
    return hearthi_uffd_pages.up;
}

void
watching_start(const char *name, const char *value)
{
    const char *asked = getenv("HEARTH_PROTECT");
    char        saved[16];
    bool        can = hearthi_userfault_open() == NULL;

    hearthi_userfault_close();
    snprintf(saved, sizeof saved, "%s", asked == NULL ? "auto" : asked);
    if (can && strcmp(saved, "mprotect") != 0)
        setenv("HEARTH_PROTECT", "userfaultfd", 1);
    fixture_start_with(name, value);
    setenv("HEARTH_PROTECT", saved, 1);
}

int64_t
value_of(int i, int turn)
{
    return (int64_t)i * 1009 + turn;
}

/* ---- entries that the kernel loses ---- */

/* As it may, where it wants the memory. */
static void
entry_lose(void *page)
{
    if (hearthi_is_uffd_page(hearthi_page_of(page)))
        madvise(page, page_bytes(), MADV_DONTNEED);
}

enum { PAGES = 8 };

START_TEST(an_entry_that_the_kernel_loses_comes_back)
{
    int64_t *p;

    watching_start("CONSISTENCY", "release");
    p = pages_new(PAGES * ranks);
    for (int turn = 1; turn < 4; turn++) {
        for (int i = 0; i < PAGES * ranks; i++) {
            entry_lose(word(p, i)); /* not valid, or first copies */
            word(p, i)[me] = value_of(i, turn);
            entry_lose(word(p, i)); /* open */
            word(p, i)[me] += me;
            entry_lose(word(p, i));
        }
        barrier();
        for (int i = 0; i < PAGES * ranks; i++)
            for (int r = 0; r < ranks; r++) {
                expect_eq(word(p, i)[r], value_of(i, turn) + r);
                entry_lose(word(p, i)); /* to be read */
            }
        barrier();
    }
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

/* The kernel does not fault as the program does. */
START_TEST(what_is_held_is_there_for_the_kernel)
{
    int64_t *p, got[4];
    int      ends[2], next;

    watching_start("INTERPOSE", "no");
    next = (me + 1) % ranks;
    p = pages_new(ranks);
    *word(p, me) = value_of(me, 1);
    barrier();
    expect_eq(pipe(ends), 0);
    hearth_hold(word(p, next), page_bytes(), HEARTH_READ);
    entry_lose(word(p, next));
    expect_eq(write(ends[1], word(p, next), 8), 8);
    expect_eq(read(ends[0], got, 8), 8);
    expect_eq(got[0], value_of(next, 1));
    hearth_drop(word(p, next), page_bytes(), HEARTH_READ);
    barrier();
    got[0] = value_of(next, 2);
    hearth_hold(word(p, next), page_bytes(), HEARTH_READ | HEARTH_WRITE);
    entry_lose(word(p, next));
    expect_eq(write(ends[1], got, 8), 8);
    expect_eq(read(ends[0], word(p, next), 8), 8);
    hearth_drop(word(p, next), page_bytes(), HEARTH_READ | HEARTH_WRITE);
    barrier();
    expect_eq(*word(p, me), value_of(me, 2));
    barrier();
    *word(p, next) = value_of(next, 3); /* seen, though it was held */
    barrier();
    expect_eq(*word(p, me), value_of(me, 3));
    close(ends[0]);
    close(ends[1]);
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

/* ---- others ---- */

/* A child that Hearth does not know of: it has no watched page, rather than
 * one without protection. */
START_TEST(a_child_cannot_change_a_copy)
{
    int64_t *p;
    int      next, status = 0;
    pid_t    child;

    watching_start("CONSISTENCY", "release");
    next = (me + 1) % ranks;
    p = pages_new(ranks);
    barrier();
    if (*word(p, next) == 0 &&
        hearthi_is_uffd_page(hearthi_page_of(word(p, next)))) {
        child = (pid_t)syscall(SYS_clone, SIGCHLD, 0L, 0L, 0L, 0L);
        if (child == 0) {
            signal(SIGSEGV, SIG_DFL);
            signal(SIGBUS, SIG_DFL);
            *word(p, next) = 7;
            _exit(0);
        }
        expect_eq(waitpid(child, &status, 0), child);
        expect(WIFSIGNALED(status) || WEXITSTATUS(status) != 0);
        expect_eq(*word(p, next), 0);
    }
    barrier();
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

/* As the handler sees it when another thread was faster. */
static void
bus_error_send(void *at)
{
    siginfo_t info;

    memset(&info, 0, sizeof info);
    info.si_signo = SIGBUS;
    info.si_code = BUS_ADRERR;
    info.si_addr = at;
    expect_eq(syscall(SYS_rt_tgsigqueueinfo, getpid(), syscall(SYS_gettid),
                      SIGBUS, &info),
              0);
}

/* Only one that comes again and again, with nothing between, tells of memory
 * that cannot be had. */
START_TEST(bus_errors_that_come_late_are_none)
{
    int64_t *p;

    watching_start("CONSISTENCY", "release");
    p = pages_new(ranks);
    *word(p, me) = value_of(me, 1);
    for (int i = 0; i < 300; i++)
        bus_error_send(word(p, me) + i % 2);
    expect_eq(*word(p, me), value_of(me, 1));
    barrier();
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

static int
wrong_where_it_fails(void)
{
    int64_t *p;
    int      wrong = 0;

    fixture_start_with("PROTECT", "auto");
    wrong += watched();
    p = pages_new(PAGES * ranks);
    for (int turn = 1; turn < 4; turn++) {
        for (int i = 0; i < PAGES * ranks; i++)
            word(p, i)[me] = value_of(i, turn);
        barrier();
        for (int i = 0; i < PAGES * ranks; i++)
            for (int r = 0; r < ranks; r++)
                wrong += word(p, i)[r] != value_of(i, turn);
        barrier();
    }
    hearth_free(p);
    fixture_stop();
    return wrong;
}

/* From now on in this process: last of all.  A kernel that cannot show a page,
 * a container that forbids it, and a kernel that has none. */
START_TEST(where_it_fails_mprotect_does)
{
    static const struct {
        long     call;
        uint32_t request;
        int      error;
    } way[] = {
        { SYS_ioctl, (uint32_t)UFFDIO_CONTINUE, EINVAL },
        { SYS_userfaultfd, 0, EPERM },
        { SYS_userfaultfd, 0, ENOSYS },
    };

    for (int i = 0; i < 3; i++)
        if (forbid(way[i].call, way[i].request, way[i].error))
            expect_eq(wrong_where_it_fails(), 0);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("scattered");
    TCase *tc = tcase_create("copies");
    TCase *hulls = tcase_create("hulls");

    scattered_many(tc);
    tcase_add_test(tc, an_entry_that_the_kernel_loses_comes_back);
    tcase_add_test(tc, what_is_held_is_there_for_the_kernel);
    tcase_add_test(tc, a_child_cannot_change_a_copy);
    tcase_add_test(tc, bus_errors_that_come_late_are_none);
    uffd_pages_tests(tc);
    tcase_add_test(tc, where_it_fails_mprotect_does);
    hulls_tests(hulls);
    suite_add_tcase(s, hulls);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
