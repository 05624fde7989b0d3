/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Held pages and false sharing: what a device or another thread writes into a
 * part of a page, while other ranks write other parts of it.
 */
#include <config.h>

#include "holds.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "space/heap.h"

enum { PAGES = 12, ROUNDS = 12 };

/* ---- the device ---- */

/* Each thread has its own: what one leaves there no other finds. */
static int
device(void)
{
    static _Thread_local int fd = -1;

    if (fd < 0)
        fd = memfd_create("device", MFD_CLOEXEC);
    return fd;
}

static size_t
moved(long n)
{
    return n < 0 ? 0 : (size_t)n;
}

/* System calls without the C library: nothing stands in front of them. */
size_t
device_in(void *heap, const void *from, size_t n)
{
    syscall(SYS_pwrite64, device(), from, n, 0L);
    return moved(syscall(SYS_pread64, device(), heap, n, 0L));
}

size_t
device_out(void *to, const void *heap, size_t n)
{
    size_t got = moved(syscall(SYS_pwrite64, device(), heap, n, 0L));

    return moved(syscall(SYS_pread64, device(), to, got, 0L));
}

bool
device_sets(void *heap, int value, size_t n)
{
    char  *from = malloc(n);
    size_t done;

    memset(from, value, n);
    done = device_in(heap, from, n);
    free(from);
    return done == n;
}

bool
device_finds(const void *heap, int value, size_t n)
{
    unsigned char *to = malloc(n);
    bool           good = device_out(to, heap, n) == n;

    for (size_t i = 0; good && i < n; i++)
        good = to[i] == (unsigned char)value;
    free(to);
    return good;
}

/* ---- pages ---- */

size_t
page_bytes(void)
{
    return hearthi_heap.page;
}

unsigned char *
bytes_new(size_t pages)
{
    return hearth_alloc(pages * page_bytes() + 1, 1, hearth_cyclic(1));
}

hearth_stats
counted(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return s;
}

static unsigned char
value(int r, int round)
{
    return (unsigned char)(1 + (r * 31 + round * 7) % 250);
}

/* ---- litmus tests ---- */

static void
parts_write(unsigned char *p, int round)
{
    for (size_t i = 0; i < PAGES; i++)
        expect(device_sets(part(p, i, me), value(me, round), PART));
}

/* By loads and by the device. */
static void
parts_check(unsigned char *p, int r, int round)
{
    for (size_t i = 0; i < PAGES; i++) {
        expect_eq(*part(p, i, r), value(r, round));
        expect(device_finds(part(p, i, r), value(r, round), PART));
    }
}

START_TEST(what_a_device_writes_into_held_pages_meets_what_others_do)
{
    unsigned char *p = bytes_new(PAGES);

    hearth_hold(p, PAGES * page_bytes(), HEARTH_WRITE);
    for (int round = 0; round < ROUNDS; round++) {
        parts_write(p, round);
        barrier();
        for (int r = 0; r < ranks; r++)
            parts_check(p, r, round);
        barrier();
    }
    hearth_drop(p, PAGES * page_bytes(), HEARTH_WRITE);
    barrier();
    for (int r = 0; r < ranks; r++)
        for (size_t i = 0; i < PAGES; i++)
            expect_eq(part(p, i, r)[PART - 1], value(r, ROUNDS - 1));
    hearth_free(p);
    all_expected();
}
END_TEST

/* Ranks that hold and ranks that do not, each in turn. */
START_TEST(holders_and_others_share_a_page)
{
    unsigned char *p = bytes_new(PAGES);

    for (int round = 0; round < ROUNDS; round++) {
        bool holds = (round + me) % 2 == 0;

        if (holds) {
            hearth_hold(p, PAGES * page_bytes(), HEARTH_READ | HEARTH_WRITE);
            parts_write(p, round);
        }
        for (size_t i = 0; !holds && i < PAGES; i++)
            memset(part(p, i, me), value(me, round), PART);
        barrier();
        for (int r = 0; r < ranks; r++)
            for (size_t i = 0; i < PAGES; i++)
                expect_eq(part(p, i, r)[i], value(r, round));
        barrier();
        if (holds)
            hearth_drop(p, PAGES * page_bytes(), HEARTH_READ | HEARTH_WRITE);
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Rounds of each rank under one lock, which say how far each has come in words
 * of a page that all hold, too. */
START_TEST(held_pages_follow_a_lock)
{
    unsigned char *p = bytes_new(PAGES);
    int64_t       *come = pages_new(1);

    hearth_hold(p, PAGES * page_bytes(), HEARTH_WRITE);
    hearth_hold(come, PAGE, HEARTH_WRITE);
    for (int round = 1; round <= ROUNDS; round++) {
        hearth_lock(5);
        for (int r = 0; r < ranks; r++)
            if (come[r] > 0)
                parts_check(p, r, (int)come[r]);
        parts_write(p, round);
        come[me] = round;
        hearth_unlock(5);
        dawdle();
    }
    barrier();
    for (int r = 0; r < ranks; r++)
        parts_check(p, r, ROUNDS);
    hearth_drop(come, PAGE, HEARTH_WRITE);
    hearth_drop(p, PAGES * page_bytes(), HEARTH_WRITE);
    hearth_free(come);
    hearth_free(p);
    all_expected();
}
END_TEST

/* A token goes round by flags, with what was written before each. */
START_TEST(held_pages_follow_a_flag)
{
    unsigned char *p = bytes_new(PAGES);

    hearth_hold(p, PAGES * page_bytes(), HEARTH_WRITE);
    for (int round = 0; round < 3; round++) {
        if (me > 0)
            hearth_flag_wait(me - 1);
        for (int r = 0; r < me; r++)
            parts_check(p, r, round);
        parts_write(p, round);
        hearth_flag_set(me);
        barrier();
        hearth_flag_reset(me);
        barrier();
    }
    hearth_drop(p, PAGES * page_bytes(), HEARTH_WRITE);
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- at every moment ---- */

/* A thread that stores, or lets the device write, with pauses in which the
 * other ranks of a small machine get on.  It is no thread that may fault where
 * only one may. */
static struct beside {
    unsigned char *p;
    bool           device;
    _Atomic bool   stop;
    _Atomic bool   failed;
    unsigned char  last;
} beside;

static void *
write_beside(void *unused)
{
    unsigned char v = 0;

    do {
        v = (unsigned char)(v % 250 + 1);
        for (size_t i = 0; i < PAGES; i++) {
            unsigned char *at = part(beside.p, i, me);

            if (!beside.device)
                memset(at, v, PART);
            else if (!device_sets(at, v, PART))
                beside.failed = true;
        }
        usleep(50);
    } while (!beside.stop);
    beside.last = v;
    return unused;
}

/* A part of each page behind those of the ranks, under a lock. */
static void
rounds_beside(unsigned char *p, int rounds)
{
    for (int round = 0; round < rounds; round++) {
        size_t i = (size_t)(round + me) % PAGES;

        hearth_lock(9);
        part(p, i, ranks)[0]++;
        part(p, i, ranks)[PART + me]++;
        hearth_unlock(9);
        if (round % 4 == 3)
            barrier();
    }
}

static void
sums_check(unsigned char *p, int rounds)
{
    int sum = 0, own = 0;

    for (size_t i = 0; i < PAGES; i++) {
        sum += part(p, i, ranks)[0];
        own += part(p, i, ranks)[PART + me];
    }
    expect_eq(sum, ranks * rounds);
    expect_eq(own, rounds);
}

static void
nothing_is_lost_beside(bool by_device)
{
    enum { MANY = 12 };
    unsigned char *p = bytes_new(PAGES);
    unsigned char *last = bytes_new(1);
    pthread_t      thread;

    hearth_hold(p, PAGES * page_bytes(), HEARTH_WRITE);
    beside.p = p;
    beside.device = by_device;
    beside.stop = beside.failed = false;
    expect_eq(pthread_create(&thread, NULL, write_beside, NULL), 0);
    rounds_beside(p, MANY);
    beside.stop = true;
    pthread_join(thread, NULL);
    expect(!beside.failed);
    *part(last, 0, me) = beside.last;
    barrier();
    sums_check(p, MANY);
    for (int r = 0; r < ranks; r++)
        for (size_t i = 0; i < PAGES; i++)
            expect(device_finds(part(p, i, r), *part(last, 0, r), PART));
    barrier();
    hearth_drop(p, PAGES * page_bytes(), HEARTH_WRITE);
    hearth_free(last);
    hearth_free(p);
    all_expected();
}

START_TEST(nothing_is_lost_while_a_device_writes_at_every_moment)
{
    nothing_is_lost_beside(true);
}
END_TEST

START_TEST(nothing_is_lost_while_a_thread_stores_at_every_moment)
{
    nothing_is_lost_beside(false);
}
END_TEST

/* ---- several threads ---- */

static void *
hold_and_drop(void *p)
{
    for (int i = 0; i < 60; i++) {
        size_t at = (size_t)(i % PAGES) * page_bytes();
        size_t n = (PAGES * page_bytes() - at) / (size_t)(1 + i % 3);
        int    how = i % 3 == 0 ? HEARTH_READ : HEARTH_WRITE;
        char  *to = malloc(n);

        hearth_hold((unsigned char *)p + at, n, how);
        if (device_out(to, (unsigned char *)p + at, n) != n)
            beside.failed = true;
        hearth_drop((unsigned char *)p + at, n, how);
        free(to);
    }
    return NULL;
}

START_TEST(several_threads_hold_the_same_pages)
{
    enum { THREADS = 3 };
    unsigned char *p = bytes_new(PAGES);
    pthread_t      thread[THREADS];

    beside.failed = false;
    for (int k = 0; k < THREADS && threads_allowed(); k++)
        pthread_create(&thread[k], NULL, hold_and_drop, p);
    rounds_beside(p, ROUNDS);
    for (int k = 0; k < THREADS && threads_allowed(); k++)
        pthread_join(thread[k], NULL);
    barrier();
    sums_check(p, ROUNDS);
    expect(!beside.failed);
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- all of it again ---- */

static void
start_large(void)
{
    fixture_start_with("PAGE_SIZE", "64k");
}

static void
litmus_add(Suite *s, const char *name, SFun start)
{
    TCase *tc = tcase_create(name);

    tcase_add_unchecked_fixture(tc, start, fixture_stop);
    tcase_add_test(tc,
                   what_a_device_writes_into_held_pages_meets_what_others_do);
    tcase_add_test(tc, holders_and_others_share_a_page);
    tcase_add_test(tc, held_pages_follow_a_lock);
    tcase_add_test(tc, held_pages_follow_a_flag);
    tcase_add_test(tc, nothing_is_lost_while_a_device_writes_at_every_moment);
    tcase_add_test(tc, nothing_is_lost_while_a_thread_stores_at_every_moment);
    tcase_add_test(tc, several_threads_hold_the_same_pages);
    suite_add_tcase(s, tc);
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("holds");

    litmus_add(s, "litmus", fixture_start);
    litmus_add(s, "large pages", start_large);
    holds_rules(s);
    holds_acquires(s);
    return mpi_main(argc, argv, s);
}
