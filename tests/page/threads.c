/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Several threads of a rank in the heap at once (MPI_THREAD_MULTIPLE), with
 * a cache for everything and with one of a few pages.
 */
#include "threads.h"
#include "levels.h"

#include <pthread.h>
#include <stdlib.h>

static pthread_barrier_t together;

static void *
job_run(void *p)
{
    struct job *job = p;

    pthread_barrier_wait(&together);
    job->work(job);
    return NULL;
}

void
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

/* Cheap, since it is most of what these tests compute. */
static unsigned char
pattern(size_t i, int round)
{
    return (unsigned char)(i / 8 + i / 4096 + (size_t)round * 31);
}

static void
fill(unsigned char *p, int round)
{
    for (size_t i = 0; i < PAGES * page_bytes(); i++)
        if ((int)(i / 64) % ranks == me)
            p[i] = pattern(i, round);
}

static void
read_everything(struct job *job)
{
    for (size_t i = 0; i < PAGES * page_bytes(); i += 61)
        job->wrong += job->p[i] != pattern(i, job->round);
}

static void
read_a_share(struct job *job)
{
    for (size_t page = (size_t)job->thread; page < PAGES; page += THREADS)
        for (size_t i = page * page_bytes(); i < (page + 1) * page_bytes();
             i += 61)
            job->wrong += job->p[i] != pattern(i, job->round);
}

/* Every byte has one writer: a thread of a rank. */
static int
writer_of(size_t i)
{
    return (int)(i % (size_t)(THREADS * ranks));
}

void
write_some(struct job *job, size_t first, size_t by, int round)
{
    size_t step = (size_t)(THREADS * ranks) * 11;
    size_t start = (size_t)(me * THREADS + job->thread) + first * step;

    for (size_t i = start; i < PAGES * page_bytes(); i += by * step)
        job->p[i] = pattern(i, round);
    for (size_t i = start; i < PAGES * page_bytes(); i += by * step)
        job->wrong += job->p[i] != pattern(i, round);
}

static void
write_bytes(struct job *job)
{
    write_some(job, 0, 1, job->round);
}

void
check_bytes(const unsigned char *p, int round)
{
    size_t    step = (size_t)(THREADS * ranks);
    long long wrong = 0;

    for (size_t i = 0; i < PAGES * page_bytes(); i++)
        if ((i - (size_t)writer_of(i)) / step % 11 == 0)
            wrong += p[i] != pattern(i, round);
    expect_eq(wrong, 0);
}

START_TEST(threads_read_the_same_pages_together)
{
    unsigned char *p = hearth_alloc(PAGES * page_bytes(), 1, hearth_cyclic(1));

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
    unsigned char *p = hearth_alloc(PAGES * page_bytes(), 1, hearth_cyclic(1));

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
    unsigned char *p = hearth_alloc(PAGES * page_bytes(), 1, hearth_cyclic(1));

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

static void
start_with_few_pages(void)
{
    fixture_start_with("CACHE", bytes_of_pages(16));
}

static TCase *
thread_case(const char *name, SFun setup)
{
    TCase *tc = tcase_create(name);

    tcase_add_unchecked_fixture(tc, setup, fixture_stop);
    tcase_add_test(tc, threads_read_the_same_pages_together);
    tcase_add_test(tc, threads_read_different_pages_together);
    tcase_add_test(tc, threads_write_the_same_pages_together);
    threads_sync_tests(tc);
    threads_late_tests(tc);
    threads_in_flight_tests(tc);
    threads_messages_tests(tc);
    threads_misses_tests(tc);
    return tc;
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("threads");
    TCase *tc = tcase_create("one rank's threads");

    /* Which fetch is beside which is played here, and none may be foreseen. */
    setenv("HEARTH_PREDICT", "off", 1);

    suite_add_tcase(s, thread_case("all pages", fixture_start));
    suite_add_tcase(s,
                    thread_case("threads, few pages", start_with_few_pages));
    levels_tests(tc);
    suite_add_tcase(s, tc);
    suite_add_tcase(s, threads_arm_case());
    return mpi_main(argc, argv, s);
}
