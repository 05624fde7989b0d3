/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages that are watched by userfaultfd, and what others do to them at the
 * same time: threads of this rank, the program itself, the kernel.
 */
#define _GNU_SOURCE /* syscall */

#include "scattered.h"

#include <dirent.h>
#include <linux/userfaultfd.h>
#include <pthread.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <string.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/dlsym_next.h"
#include "fixture.h"
#include "page/uffd_pages.h"
#include "policy/uffd_policy.h"

enum { RANGE = 64 };

/* Pages at home on rank 0, which the last rank takes. */
static int64_t *
pages_of_first(int n)
{
    int64_t *p = hearth_alloc((size_t)n * page_bytes() / sizeof *p, sizeof *p,
                              hearth_on(0));

    for (int i = 0; me == 0 && i < n; i++)
        *word(p, i) = i + 1;
    barrier();
    return p;
}

static bool
is_taker(void)
{
    return me == ranks - 1 && apart(0, me);
}

/* Is it up to Hearth what is watched? */
static bool
by_itself(void)
{
    return strcmp(hearth_option("protect"), "auto") == 0;
}

static int
wrong_in(const int64_t *p, int n, int more)
{
    int wrong = 0;

    for (int i = 0; i < n; i++)
        wrong += p[(size_t)i * page_bytes() / sizeof *p] != i + 1 + more;
    return wrong;
}

/* ---- what the program tells the kernel of its memory ---- */

/* Such pages are other mappings than those beside them. */
static void
advise_some(int64_t *p)
{
    expect_eq(madvise(word(p, 8), (size_t)4 * page_bytes(), MADV_RANDOM), 0);
    expect_eq(madvise(word(p, 20), page_bytes(), MADV_SEQUENTIAL), 0);
    mlock(word(p, 40),
          (size_t)3 * page_bytes()); /* hidden ones cannot be had */
}

START_TEST(pages_that_the_program_advises_are_as_others)
{
    int64_t *p;

    watching_start("CONSISTENCY", "release");
    p = pages_of_first(RANGE);
    if (is_taker()) {
        expect_eq(*word(p, RANGE - 1), RANGE);
        advise_some(p);
        hearth_prefetch(p, (size_t)RANGE * page_bytes());
        expect_eq(wrong_in(p, RANGE, 0), 0);
        for (int i = 0; i < RANGE; i++)
            ++*word(p, i);
    }
    barrier();
    if (apart(0, ranks - 1))
        expect_eq(wrong_in(p, RANGE, 1), 0);
    barrier();
    munlock(word(p, 40), (size_t)3 * page_bytes());
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

/* ---- threads ---- */

static _Atomic bool slow, between; /* a thread is asleep in mprotect(2) */

_Atomic long protections;

/* What userfaultfd is asked to do for pages.  One argument is all that any
 * request has. */
int
ioctl(int fd, unsigned long request, ...)
{
    static int (*next)(int, unsigned long, ...);
    va_list more;
    void   *arg;

    va_start(more, request);
    arg = va_arg(more, void *);
    va_end(more);
    if (next == NULL)
        hearthi_dlsym_next(&next, "ioctl");
    protections +=
        request == UFFDIO_WRITEPROTECT || request == UFFDIO_CONTINUE;
    return next(fd, request, arg);
}

/* One that loses its processor when pages have just become watched.  Hearth
 * makes its calls of mprotect(2) past the function of that name. */
long
syscall(long number, ...)
{
    static long (*next)(long, ...);
    va_list more;
    long    a[6], got;

    va_start(more, number);
    for (int i = 0; i < 6; i++)
        a[i] = va_arg(more, long);
    va_end(more);
    if (next == NULL)
        hearthi_dlsym_next(&next, "syscall");
    got = next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
    protections += number == SYS_mprotect || number == SYS_madvise;
    if (slow && number == SYS_mprotect && a[2] == (PROT_READ | PROT_WRITE)) {
        slow = false;
        between = true; /* for as long as it takes the other to see it */
        sleep_ms(300);
    }
    return got;
}

static void *
read_between(void *at)
{
    int64_t value;

    while (!between)
        sleep_ms(1);
    value = *(volatile int64_t *)at;
    return (void *)(intptr_t)value;
}

START_TEST(a_thread_faults_while_another_begins_to_watch)
{
    int64_t  *p;
    pthread_t other;
    void     *value = NULL;

    watching_start("CONSISTENCY", "release");
    p = pages_of_first(RANGE);
    if (is_taker() && threads_allowed() && hearthi_uffd_pages.up) {
        between = false;
        slow = true;
        expect_eq(pthread_create(&other, NULL, read_between, word(p, 30)), 0);
        expect_eq(*word(p, 3), 4);
        expect(!slow); /* it came by there */
        between = true;
        pthread_join(other, &value);
        expect_eq((intptr_t)value, 31);
    }
    barrier();
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

static _Atomic bool stop;

/* The kernel takes entries away, as it may at any moment. */
static void *
lose_entries(void *p)
{
    while (!stop) {
        madvise(p, (size_t)RANGE * page_bytes(), MADV_DONTNEED);
        sleep_ms(1);
    }
    return NULL;
}

/* Each thread writes words of its own in all pages. */
struct writer {
    pthread_t thread;
    int64_t  *p;
    int       which;
    int       wrong;
};

enum { WRITERS = 2, TURNS = 40 };

static void *
write_words(void *arg)
{
    struct writer *w = arg;

    for (int turn = 1; turn <= TURNS; turn++) {
        for (int i = 0; i < RANGE; i++)
            word(w->p, i)[1 + me * WRITERS + w->which] = turn;
        for (int i = 0; i < RANGE; i++)
            w->wrong += word(w->p, i)[1 + me * WRITERS + w->which] != turn;
        dawdle();
    }
    return NULL;
}

START_TEST(entries_get_lost_while_threads_write)
{
    struct writer w[WRITERS];
    pthread_t     loser;
    int64_t      *p;

    watching_start("CONSISTENCY", "release");
    p = pages_new(RANGE);
    if (threads_allowed()) {
        stop = false;
        expect_eq(pthread_create(&loser, NULL, lose_entries, p), 0);
        for (int k = 0; k < WRITERS; k++) {
            w[k] = (struct writer){ .p = p, .which = k };
            pthread_create(&w[k].thread, NULL, write_words, &w[k]);
        }
        for (int i = 0; i < TURNS; i++)
            barrier();
        for (int k = 0; k < WRITERS; k++) {
            pthread_join(w[k].thread, NULL);
            expect_eq(w[k].wrong, 0);
        }
        barrier();
        for (int i = 0; i < RANGE; i++)
            for (int k = 0; k < WRITERS * ranks; k++)
                expect_eq(word(p, i)[1 + k], TURNS);
        stop = true;
        pthread_join(loser, NULL);
    }
    barrier();
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

/* Pages that lie beside what is allocated, touched and freed meanwhile. */
static void *
touch_always(void *arg)
{
    struct writer *w = arg;

    while (!stop)
        for (int i = 0; i < RANGE; i++)
            w->wrong += *word(w->p, i) != i + 1;
    return NULL;
}

START_TEST(a_thread_touches_what_lies_beside_what_is_freed)
{
    struct writer w;
    int64_t      *first, *q;

    watching_start("CONSISTENCY", "release");
    first = hearth_alloc(page_bytes(), 1, hearth_on(0));
    w = (struct writer){ .p = pages_of_first(RANGE) };
    hearth_free(first);
    stop = false;
    if (threads_allowed())
        pthread_create(&w.thread, NULL, touch_always, &w);
    for (int i = 0; i < TURNS; i++) {
        first = hearth_alloc(page_bytes(), 1, hearth_on(i % ranks));
        q = pages_new(RANGE);
        *first += me;
        for (int k = 0; k < RANGE; k++)
            word(q, k)[me] = i;
        barrier();
        for (int k = 0; k < RANGE; k++)
            expect_eq(word(q, k)[(me + k) % ranks], i);
        hearth_free(i % 2 ? first : q);
        hearth_free(i % 2 ? q : first);
    }
    stop = true;
    if (threads_allowed())
        pthread_join(w.thread, NULL);
    expect_eq(w.wrong, 0);
    hearth_free(w.p);
    fixture_stop();
    all_expected();
}
END_TEST

/* ---- when pages begin to be watched ---- */

enum { GRANULES = 2 * HEARTHI_UFFD_GRANULE };

static int
watched_of(int64_t *p, int n)
{
    int sum = 0;

    for (int i = 0; i < n; i++)
        sum += hearthi_is_uffd_page(hearthi_page_of(word(p, i)));
    return sum;
}

/* Written one by one, from behind, so that nothing is opened ahead. */
static void
write_each(int64_t *p, int n, int more)
{
    for (int i = n - 1; i >= 0; i -= 3)
        *word(p, i) += more;
}

/* What is held stays where the kernel finds it. */
static void
held_is_read(const int64_t *at, int64_t value)
{
    int64_t got = 0;
    int     ends[2];

    expect_eq(pipe(ends), 0);
    expect_eq(syscall(SYS_write, ends[1], at, sizeof *at), sizeof *at);
    expect_eq(read(ends[0], &got, sizeof got), sizeof got);
    expect_eq(got, value);
    close(ends[0]);
    close(ends[1]);
}

START_TEST(pages_are_watched_when_they_change_one_by_one)
{
    int64_t *p, *held;
    int      wrong = 0;

    fixture_start();
    p = pages_of_first(GRANULES);
    held = word(p, 100);
    if (is_taker()) {
        hearth_prefetch(p, (size_t)GRANULES * page_bytes());
        expect_eq(wrong_in(p, GRANULES, 0), 0);
        if (by_itself())
            expect_eq(watched_of(p, GRANULES), 0);
        hearth_hold(held, page_bytes(), HEARTH_READ);
        write_each(p, GRANULES, 1000);
        if (hearthi_uffd_pages.up) {
            expect(watched_of(p, GRANULES) >= GRANULES - 1);
            expect(!hearthi_is_uffd_page(hearthi_page_of(held)));
        }
        held_is_read(held, *held);
        hearth_drop(held, page_bytes(), HEARTH_READ);
        write_each(p, GRANULES, 1000);
    }
    barrier();
    for (int i = 0; apart(0, ranks - 1) && i < GRANULES; i++)
        wrong +=
            *word(p, i) != i + 1 + ((GRANULES - 1 - i) % 3 == 0 ? 2000 : 0);
    expect_eq(wrong, 0);
    barrier();
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

/* ---- start and end ---- */

static int
descriptors(void)
{
    DIR *d = opendir("/proc/self/fd");
    int  n = 0;

    while (d != NULL && readdir(d) != NULL)
        n++;
    if (d != NULL)
        closedir(d);
    return n;
}

/* MPI may keep some of its own from the first time on. */
START_TEST(nothing_is_left_of_a_heap_that_has_ended)
{
    int      open[4];
    int64_t *p;

    for (int i = 0; i < 4; i++) {
        watching_start("CONSISTENCY", "release");
        p = pages_new(RANGE);
        for (int k = 0; k < RANGE; k++)
            word(p, k)[me] = i;
        barrier();
        for (int k = 0; k < RANGE; k++)
            expect_eq(word(p, k)[(me + 1) % ranks], i);
        barrier();
        if (i % 2)
            hearth_free(p);
        fixture_stop();
        open[i] = descriptors();
    }
    expect_eq(open[3], open[2]);
    all_expected();
}
END_TEST

void
uffd_pages_tests(TCase *tc)
{
    tcase_add_test(tc, pages_that_the_program_advises_are_as_others);
    tcase_add_test(tc, a_thread_faults_while_another_begins_to_watch);
    tcase_add_test(tc, entries_get_lost_while_threads_write);
    tcase_add_test(tc, a_thread_touches_what_lies_beside_what_is_freed);
    tcase_add_test(tc, pages_are_watched_when_they_change_one_by_one);
    tcase_add_test(tc, nothing_is_left_of_a_heap_that_has_ended);
}
