/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Copies that lie scattered: many more than the kernel has mappings for, with
 * userfaultfd; and what that must not change.  Where the kernel forbids it, or
 * HEARTH_PROTECT does, the same programs are right, and may be slower.
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
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "fixture.h"
#include "forbid.h"
#include "page/watched.h"
#include "scattered.h"
#include "space/userfault.h"

static bool
watched(void)
{
    return hearthi_watched.up;
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

/* ---- many ---- */

/* 28,000 scattered copies are all that the kernel's mappings allow. */
enum { MANY = 80000, FEWER = 60000, FEW_MAPPINGS = 64 };

static double
gib_free(void)
{
    struct statvfs shm;

    if (statvfs("/dev/shm", &shm) != 0)
        return 0;
    return (double)shm.f_bavail * (double)shm.f_frsize / (1 << 30);
}

/* Every rank has them, and rank 0 the home memory of twice as many. */
static int
how_many(void)
{
    double least = gib_free(), memory;
    int    all;

    memory = (double)sysconf(_SC_AVPHYS_PAGES) * PAGE / (1 << 30);
    if (memory < least)
        least = memory;
    all = watched() && least > 2 + ranks ? MANY : FEWER;
    MPI_Bcast(&all, 1, MPI_INT, 0, MPI_COMM_WORLD);
    return all;
}

/* Mappings of the kernel in the application view. */
static int
mappings(void)
{
    const unsigned long low = (unsigned long)hearthi_heap.base;
    FILE               *f = fopen("/proc/self/maps", "r");
    char                line[512];
    unsigned long       from;
    int                 n = 0;

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        n += sscanf(line, "%lx-", &from) == 1 &&
             from - low < hearthi_heap.bytes;
    if (f != NULL)
        fclose(f);
    return n;
}

static int64_t
value(int i, int turn)
{
    return (int64_t)i * 1009 + turn;
}

/* Every second page, in no order: 7919 is prime. */
static int
nth(int k, int n)
{
    return (int)((int64_t)k * 7919 % n) * 2;
}

static int
wrong_of(int64_t *p, int n, int turn)
{
    int wrong = 0;

    for (int k = 0; k < n; k++)
        wrong += *word(p, nth(k, n)) != value(nth(k, n), turn);
    return wrong;
}

static void
fill(int64_t *p, int n, int turn)
{
    for (int k = 0; k < n; k++)
        *word(p, nth(k, n)) = value(nth(k, n), turn);
}

/* What a round costs beyond touching memory. */
static void
round_check(int64_t *p, int n, int turn, bool again)
{
    struct hearth_stats before, after;

    hearth_get_stats(&before);
    expect_eq(wrong_of(p, n, turn), 0);
    hearth_get_stats(&after);
    if (!watched())
        return;
    expect_eq(after.evictions - before.evictions, 0);
    if (again)
        expect_eq(after.getpages - before.getpages, 0);
    expect(mappings() < FEW_MAPPINGS);
}

START_TEST(scattered_copies_stay_however_many)
{
    int      n;
    int64_t *p;

    fixture_start_with("CACHE", "1g");
    n = how_many();
    p = hearth_alloc((size_t)2 * (size_t)n * PAGE / sizeof *p, sizeof *p,
                     hearth_on(0));
    if (me == 0)
        fill(p, n, 1);
    barrier();
    if (me == ranks - 1) {
        round_check(p, n, 1, false);
        round_check(p, n, 1, true);
        fill(p, n, 2);
        expect(!watched() || mappings() < FEW_MAPPINGS);
        round_check(p, n, 2, true);
    }
    barrier();
    if (me == 0)
        expect_eq(wrong_of(p, n, 2), 0);
    barrier();
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

/* Each has a mapping of its own where nothing beside it is watched, and what
 * is between is one, too: 2 * APART are more than the kernel has. */
enum { APART = 36000, STEP = 1024 };

START_TEST(copies_may_lie_far_from_each_other)
{
    int64_t *p;
    int      n;

    fixture_start_with("CACHE", "1g");
    n = apart(0, ranks - 1) ? APART : 2; /* home memory is in /dev/shm */
    p = hearth_alloc((size_t)n * STEP * PAGE / sizeof *p, sizeof *p,
                     hearth_on(0));
    for (int i = 0; me == 0 && i < n; i++)
        *word(p, i * STEP) = i;
    barrier();
    for (int turn = 0; me == ranks - 1 && turn < 2; turn++)
        for (int k = 0, i; k < n; k++) {
            i = nth(k, n) / 2 * STEP;
            expect_eq(*word(p, i), i / STEP + turn);
            ++*word(p, i);
        }
    barrier();
    for (int i = 0; me == 0 && i < n; i++)
        expect_eq(*word(p, i * STEP), i + 2);
    barrier();
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

/* ---- entries that the kernel loses ---- */

/* As it may, where it wants the memory. */
static void
entry_lose(void *page)
{
    if (hearthi_is_watched(hearthi_page_of(page)))
        madvise(page, PAGE, MADV_DONTNEED);
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
            word(p, i)[me] = value(i, turn);
            entry_lose(word(p, i)); /* open */
            word(p, i)[me] += me;
            entry_lose(word(p, i));
        }
        barrier();
        for (int i = 0; i < PAGES * ranks; i++)
            for (int r = 0; r < ranks; r++) {
                expect_eq(word(p, i)[r], value(i, turn) + r);
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
    *word(p, me) = value(me, 1);
    barrier();
    expect_eq(pipe(ends), 0);
    hearth_hold(word(p, next), PAGE, HEARTH_READ);
    entry_lose(word(p, next));
    expect_eq(write(ends[1], word(p, next), 8), 8);
    expect_eq(read(ends[0], got, 8), 8);
    expect_eq(got[0], value(next, 1));
    hearth_drop(word(p, next), PAGE, HEARTH_READ);
    barrier();
    got[0] = value(next, 2);
    hearth_hold(word(p, next), PAGE, HEARTH_READ | HEARTH_WRITE);
    entry_lose(word(p, next));
    expect_eq(write(ends[1], got, 8), 8);
    expect_eq(read(ends[0], word(p, next), 8), 8);
    hearth_drop(word(p, next), PAGE, HEARTH_READ | HEARTH_WRITE);
    barrier();
    expect_eq(*word(p, me), value(me, 2));
    barrier();
    *word(p, next) = value(next, 3); /* seen, though it was held */
    barrier();
    expect_eq(*word(p, me), value(me, 3));
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
        hearthi_is_watched(hearthi_page_of(word(p, next)))) {
        child = (pid_t)syscall(SYS_fork);
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
    *word(p, me) = value(me, 1);
    for (int i = 0; i < 300; i++)
        bus_error_send(word(p, me) + i % 2);
    expect_eq(*word(p, me), value(me, 1));
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
            word(p, i)[me] = value(i, turn);
        barrier();
        for (int i = 0; i < PAGES * ranks; i++)
            for (int r = 0; r < ranks; r++)
                wrong += word(p, i)[r] != value(i, turn);
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

    tcase_add_test(tc, scattered_copies_stay_however_many);
    tcase_add_test(tc, copies_may_lie_far_from_each_other);
    tcase_add_test(tc, an_entry_that_the_kernel_loses_comes_back);
    tcase_add_test(tc, what_is_held_is_there_for_the_kernel);
    tcase_add_test(tc, a_child_cannot_change_a_copy);
    tcase_add_test(tc, bus_errors_that_come_late_are_none);
    watched_tests(tc);
    tcase_add_test(tc, where_it_fails_mprotect_does);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
