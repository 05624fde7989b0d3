/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Several threads of a rank in the heap at once (MPI_THREAD_MULTIPLE), with
 * a cache for everything and with one of a few pages; and replacement in a
 * cache of a few pages.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>

#include "fixture.h"

enum { THREADS = 3, PAGES = 48, ROUNDS = 4 };

struct job {
    void (*work)(struct job *);
    int            thread;
    int            round;
    unsigned char *p;
    _Atomic bool  *stop;
    long long      wrong; /* expectations are for the main thread only */
};

static pthread_barrier_t together;

static void *
job_run(void *p)
{
    struct job *job = p;

    pthread_barrier_wait(&together);
    job->work(job);
    return NULL;
}

/* Run work on all threads at once, and main_work (if any) on this one
 * meanwhile; its end is told by *stop. */
static void
on_threads(void (*work)(struct job *), void (*main_work)(struct job *),
           unsigned char *p, int round)
{
    struct job   jobs[THREADS + 1];
    pthread_t    thread[THREADS];
    _Atomic bool stop = false;
    long long    wrong = 0;

    pthread_barrier_init(&together, NULL, THREADS + 1);
    for (int t = 0; t <= THREADS; t++)
        jobs[t] = (struct job){ work, t, round, p, &stop, 0 };
    for (int t = 0; t < THREADS; t++)
        pthread_create(&thread[t], NULL, job_run, &jobs[t]);
    pthread_barrier_wait(&together);
    if (main_work != NULL)
        main_work(&jobs[THREADS]);
    stop = true;
    for (int t = 0; t < THREADS; t++)
        pthread_join(thread[t], NULL);
    for (int t = 0; t <= THREADS; t++)
        wrong += jobs[t].wrong;
    expect_eq(wrong, 0);
    pthread_barrier_destroy(&together);
}

static unsigned char
pattern(size_t i, int round)
{
    return (unsigned char)(i / 7 + i / PAGE + (size_t)round * 31);
}

static void
fill(unsigned char *p, int round)
{
    for (size_t i = 0; i < PAGES * PAGE; i++)
        if ((int)(i / 64) % ranks == me)
            p[i] = pattern(i, round);
}

static void
read_everything(struct job *job)
{
    for (size_t i = 0; i < PAGES * PAGE; i += 61)
        job->wrong += job->p[i] != pattern(i, job->round);
}

static void
read_a_share(struct job *job)
{
    for (size_t page = (size_t)job->thread; page < PAGES; page += THREADS)
        for (size_t i = page * PAGE; i < (page + 1) * PAGE; i += 61)
            job->wrong += job->p[i] != pattern(i, job->round);
}

/* Every byte has one writer: a thread of a rank. */
static int
writer_of(size_t i)
{
    return (int)(i % (size_t)(THREADS * ranks));
}

/* This thread's bytes, from the first-th on, by 1 or 2. */
static void
write_some(struct job *job, size_t first, size_t by, int round)
{
    size_t step = (size_t)(THREADS * ranks) * 11;
    size_t start = (size_t)(me * THREADS + job->thread) + first * step;

    for (size_t i = start; i < PAGES * PAGE; i += by * step)
        job->p[i] = pattern(i, round);
    for (size_t i = start; i < PAGES * PAGE; i += by * step)
        job->wrong += job->p[i] != pattern(i, round);
}

static void
write_bytes(struct job *job)
{
    write_some(job, 0, 1, job->round);
}

static void
check_bytes(const unsigned char *p, int round)
{
    size_t    step = (size_t)(THREADS * ranks);
    long long wrong = 0;

    for (size_t i = 0; i < PAGES * PAGE; i++)
        if ((i - (size_t)writer_of(i)) / step % 11 == 0)
            wrong += p[i] != pattern(i, round);
    expect_eq(wrong, 0);
}

START_TEST(threads_read_the_same_pages_together)
{
    unsigned char *p = hearth_alloc(PAGES * PAGE, 1, hearth_cyclic(1));

    for (int k = 1; threads_allowed() && k <= 2; k++) {
        fill(p, k);
        barrier();
        on_threads(read_everything, NULL, p, k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(threads_read_different_pages_together)
{
    unsigned char *p = hearth_alloc(PAGES * PAGE, 1, hearth_cyclic(1));

    for (int k = 1; threads_allowed() && k <= 2; k++) {
        fill(p, k);
        barrier();
        on_threads(read_a_share, NULL, p, k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(threads_write_the_same_pages_together)
{
    unsigned char *p = hearth_alloc(PAGES * PAGE, 1, hearth_cyclic(1));

    for (int k = 1; threads_allowed() && k <= 2; k++) {
        on_threads(write_bytes, NULL, p, k);
        barrier();
        check_bytes(p, k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Half of the bytes once, so that a loss is not healed; the others again and
 * again, with another value each time. */
static void
write_until_told(struct job *job)
{
    int round = job->round;

    write_some(job, 0, 2, round);
    do
        write_some(job, 1, 2, ++round);
    while (!*job->stop);
    write_some(job, 1, 2, job->round);
}

static void
count_under_lock(struct job *job)
{
    for (int k = 0; k < ROUNDS; k++) {
        hearth_lock(5);
        for (size_t page = 0; page < PAGES; page += 5)
            ++*(job->p + PAGES * PAGE + page * PAGE);
        hearth_unlock(5);
    }
}

static void
count_between_barriers(struct job *job)
{
    for (int k = 0; k < ROUNDS; k++) {
        for (size_t page = 0; page < PAGES; page += 5)
            if (k % ranks == me)
                ++*(job->p + PAGES * PAGE + page * PAGE);
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
            ++job->p[(page * PAGE / (11 * step) + 1) * 11 * step + step];
        hearth_unlock(6);
    }
}

START_TEST(threads_write_while_the_main_thread_locks)
{
    unsigned char *p =
        hearth_alloc((size_t)2 * PAGES * PAGE, 1, hearth_cyclic(1));

    for (int k = 1; threads_allowed() && k <= 2; k++) {
        on_threads(write_until_told, count_under_lock, p, k);
        barrier();
        check_bytes(p, k);
        for (size_t page = 0; page < PAGES; page += 5)
            expect_eq(p[PAGES * PAGE + page * PAGE], ROUNDS * ranks * k);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(threads_write_pages_that_an_acquire_drops)
{
    unsigned char *p = hearth_alloc(PAGES * PAGE + PAGE, 1, hearth_cyclic(1));
    size_t         step = (size_t)(THREADS * ranks);

    for (int k = 1; threads_allowed() && k <= 2; k++) {
        on_threads(write_until_told, count_in_the_same_pages, p, k);
        barrier();
        check_bytes(p, k);
        for (size_t page = 0; page < PAGES; page += 3)
            expect_eq(p[(page * PAGE / (11 * step) + 1) * 11 * step + step],
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
        hearth_alloc((size_t)2 * PAGES * PAGE, 1, hearth_cyclic(1));

    for (int k = 1; threads_allowed() && k <= 2; k++) {
        on_threads(write_until_told, count_between_barriers, p, k);
        barrier();
        check_bytes(p, k);
        for (size_t page = 0; page < PAGES; page += 5)
            expect_eq(p[PAGES * PAGE + page * PAGE], ROUNDS * k);
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
    int64_t *p = hearth_alloc(PAGE / sizeof *p, sizeof *p, hearth_on(0));
    bool     run = threads_allowed() && ranks > 2;

    for (int k = 0; k < 6; k++) {
        expect_eq(*p, 0); /* a copy that is not a first one, nor reported */
        barrier();
    }
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

static void
start_with_few_pages(void)
{
    fixture_start_with("CACHE", "64k");
}

static bool
has_evicted(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return hearth_nodes() == 1 || s.evictions > 0;
}

START_TEST(more_is_read_than_the_cache_holds)
{
    unsigned char *p = hearth_alloc(PAGES * PAGE, 1, hearth_cyclic(1));

    for (int k = 1; k <= 3; k++) {
        struct job job = { NULL, 0, k, p, NULL, 0 };

        fill(p, k);
        barrier();
        read_everything(&job);
        read_everything(&job);
        expect_eq(job.wrong, 0);
        barrier();
    }
    expect(has_evicted());
    hearth_free(p);
    all_expected();
}
END_TEST

/* Dirty pages are given up, come back, are written again. */
START_TEST(more_is_written_than_the_cache_holds)
{
    int64_t *p = pages_new(PAGES);
    uint64_t random = (uint64_t)me;

    for (int k = 1; k <= 4; k++) {
        for (int i = 0; i < 6 * PAGES; i++)
            word(p, (int)(hearthi_random(&random) % PAGES))[me]++;
        barrier();
        for (int i = 0; i < PAGES; i++) {
            hearth_lock(400 + i % 3);
            word(p, i)[100]++;
            hearth_unlock(400 + i % 3);
        }
        barrier();
    }
    for (int r = 0; r < ranks; r++) {
        int64_t sum = 0;

        for (int i = 0; i < PAGES; i++)
            sum += word(p, i)[r];
        expect_eq(sum, 4 * 6 * PAGES);
    }
    for (int i = 0; i < PAGES; i++)
        expect_eq(word(p, i)[100], 4 * ranks);
    expect(has_evicted());
    hearth_free(p);
    all_expected();
}
END_TEST

static TCase *
thread_case(const char *name, SFun setup)
{
    TCase *tc = tcase_create(name);

    tcase_add_unchecked_fixture(tc, setup, fixture_stop);
    tcase_add_test(tc, threads_read_the_same_pages_together);
    tcase_add_test(tc, threads_read_different_pages_together);
    tcase_add_test(tc, threads_write_the_same_pages_together);
    tcase_add_test(tc, threads_write_while_the_main_thread_locks);
    tcase_add_test(tc, threads_write_pages_that_an_acquire_drops);
    tcase_add_test(tc, threads_write_while_the_main_thread_waits_in_barriers);
    tcase_add_test(tc, every_thread_may_lock);
    tcase_add_test(tc, what_is_known_before_a_barrier_is_seen_behind_it);
    return tc;
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("threads");
    TCase *tc = tcase_create("few pages");

    suite_add_tcase(s, thread_case("all pages", fixture_start));
    suite_add_tcase(s,
                    thread_case("threads, few pages", start_with_few_pages));
    tcase_add_unchecked_fixture(tc, start_with_few_pages, fixture_stop);
    tcase_add_test(tc, more_is_read_than_the_cache_holds);
    tcase_add_test(tc, more_is_written_than_the_cache_holds);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
