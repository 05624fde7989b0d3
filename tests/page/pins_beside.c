/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Held pages while other threads of the rank are busy with them at every
 * moment: they store there, have a device write there, or hold and drop them.
 */
#include "pins.h"

#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

enum { PAGES = 12, ROUNDS = 12 };

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

void
holds_beside(TCase *tc)
{
    tcase_add_test(tc, nothing_is_lost_while_a_device_writes_at_every_moment);
    tcase_add_test(tc, nothing_is_lost_while_a_thread_stores_at_every_moment);
    tcase_add_test(tc, several_threads_hold_the_same_pages);
}
