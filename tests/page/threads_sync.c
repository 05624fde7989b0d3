/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Threads beside one that synchronises, and that synchronise themselves.
 */
#include <pthread.h>
#include <unistd.h>

#include "threads.h"

enum { PAUSE_US = 50 };

/* Half of the bytes once, so that a loss is not healed; the others again and
 * again, with another value each time. */
static void
write_until_told(struct job *job)
{
    int round = job->round;

    write_some(job, 0, 2, round);
    do {
        write_some(job, 1, 2, ++round);
        usleep(PAUSE_US); /* there are more threads than cores */
    } while (!*job->stop);
    write_some(job, 1, 2, job->round);
}

static void
count_under_lock(struct job *job)
{
    for (int k = 0; k < ROUNDS; k++) {
        hearth_lock(5);
        for (size_t page = 0; page < PAGES; page += 5)
            ++*(job->p + PAGES * page_bytes() + page * page_bytes());
        hearth_unlock(5);
    }
}

static void
count_between_barriers(struct job *job)
{
    for (int k = 0; k < ROUNDS; k++) {
        for (size_t page = 0; page < PAGES; page += 5)
            if (k % ranks == me)
                ++*(job->p + PAGES * page_bytes() + page * page_bytes());
        hearth_barrier();
    }
}

/* Counts and the threads' bytes lie in the same pages, so acquires drop pages
 * under the hands of threads that write them.  A count is a byte that no
 * thread has. */
static void
count_in_the_same_pages(struct job *job)
{
    size_t step = (size_t)(THREADS * ranks);

    for (int k = 0; k < ROUNDS; k++) {
        hearth_lock(6);
        for (size_t page = 0; page < PAGES; page += 3)
            ++job->p[(page * page_bytes() / (11 * step) + 1) * 11 * step +
                     step];
        hearth_unlock(6);
    }
}

START_TEST(threads_write_while_the_main_thread_locks)
{
    unsigned char *p =
        hearth_alloc((size_t)2 * PAGES * page_bytes(), 1, hearth_cyclic(1));

    for (int k = 1; threads_allowed() && k <= 2; k++) {
        on_threads(write_until_told, count_under_lock, p, k);
        barrier();
        check_bytes(p, k);
        for (size_t page = 0; page < PAGES; page += 5)
            expect_eq(p[PAGES * page_bytes() + page * page_bytes()],
                      ROUNDS * ranks * k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(threads_write_pages_that_an_acquire_drops)
{
    unsigned char *p =
        hearth_alloc(PAGES * page_bytes() + page_bytes(), 1, hearth_cyclic(1));
    size_t step = (size_t)(THREADS * ranks);

    for (int k = 1; threads_allowed() && k <= 2; k++) {
        on_threads(write_until_told, count_in_the_same_pages, p, k);
        barrier();
        check_bytes(p, k);
        for (size_t page = 0; page < PAGES; page += 3)
            expect_eq(
                p[(page * page_bytes() / (11 * step) + 1) * 11 * step + step],
                ROUNDS * ranks * k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(threads_write_while_the_main_thread_waits_in_barriers)
{
    unsigned char *p =
        hearth_alloc((size_t)2 * PAGES * page_bytes(), 1, hearth_cyclic(1));

    for (int k = 1; threads_allowed() && k <= 2; k++) {
        on_threads(write_until_told, count_between_barriers, p, k);
        barrier();
        check_bytes(p, k);
        for (size_t page = 0; page < PAGES; page += 5)
            expect_eq(p[PAGES * page_bytes() + page * page_bytes()],
                      ROUNDS * k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Any thread may synchronise: each thread of a rank has a lock that it shares
 * with the same thread of the other ranks, and all share one atomic word. */
static void
lock_and_count(struct job *job)
{
    int64_t *count = (int64_t *)(void *)job->p + job->thread;
    int64_t *all = (int64_t *)(void *)job->p + 600;

    for (int k = 0; k < ROUNDS; k++) {
        hearth_lock(300 + job->thread);
        ++*count;
        hearth_unlock(300 + job->thread);
        hearth_fetch_add(all, 1);
    }
    hearth_flag_set(100 + me * THREADS + job->thread);
    hearth_flag_wait(100 + (me + 1) % ranks * THREADS + job->thread);
}

START_TEST(every_thread_may_lock)
{
    int64_t *p = hearth_alloc(1024, sizeof *p, hearth_cyclic(1));

    if (threads_allowed())
        on_threads(lock_and_count, NULL, (unsigned char *)p, 0);
    barrier();
    for (int t = 0; threads_allowed() && t < THREADS; t++)
        expect_eq(p[t], ROUNDS * ranks);
    expect_eq(p[600], threads_allowed() ? ROUNDS * THREADS * ranks : 0);
    for (int f = 0; f < ranks * THREADS; f++)
        if (f % ranks == me)
            hearth_flag_reset(100 + f);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

struct behind {
    int64_t     *p;
    _Atomic bool entering;
};

static void *
write_behind_the_barrier(void *arg)
{
    struct behind *b = arg;

    while (!b->entering)
        sleep_ms(1);
    sleep_ms(100); /* now the main thread is inside */
    hearth_lock(91);
    *b->p = 1;
    hearth_unlock(91);
    return NULL;
}

static void
write_and_enter(int64_t *p)
{
    struct behind b = { p, false };
    pthread_t     writer;

    pthread_create(&writer, NULL, write_behind_the_barrier, &b);
    b.entering = true;
    barrier();
    pthread_join(writer, NULL);
}

static void
wait_under_lock(const int64_t *p)
{
    for (int64_t seen = 0; seen == 0;) {
        sleep_ms(2);
        hearth_lock(91);
        seen = *p;
        hearth_unlock(91);
    }
}

/* Rank 1 is in the barrier when another of its threads writes; rank 0 learns
 * of that by a lock and only then enters: the last rank must see it behind the
 * barrier, though no rank wrote it before. */
START_TEST(what_is_known_before_a_barrier_is_seen_behind_it)
{
    int64_t *p =
        hearth_alloc(page_bytes() / sizeof *p, sizeof *p, hearth_on(0));
    bool run = threads_allowed() && ranks > 2;

    copies_take(p, 1, 0);
    if (run && me == 1) {
        write_and_enter(p);
    } else {
        if (run && me == 0)
            wait_under_lock(p);
        barrier();
    }
    expect_eq(*p, run);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

void
threads_sync_tests(TCase *tc)
{
    tcase_add_test(tc, threads_write_while_the_main_thread_locks);
    tcase_add_test(tc, threads_write_pages_that_an_acquire_drops);
    tcase_add_test(tc, threads_write_while_the_main_thread_waits_in_barriers);
    tcase_add_test(tc, every_thread_may_lock);
    tcase_add_test(tc, what_is_known_before_a_barrier_is_seen_behind_it);
}
