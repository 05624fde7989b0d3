/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Allocations beside threads that synchronise, and those that need more than
 * one window over the segments.
 */
#include <pthread.h>
#include <stdatomic.h>
#include <stdlib.h>

#include "fixture.h"
#include "space/segment.h"
#include "transport/mpi/mpi_fabric.h"
#include "windows.h"

enum { SECONDS_BESIDE = 3, COUNTERS = 8 };

/* A thread that synchronises all the time, under a lock of all ranks, and is
 * often in a fault: so each rank looks at flags and drops first copies, and
 * its main thread has to wait for the page table. */
struct beside {
    pthread_t    thread;
    int64_t     *counter; /* in each of COUNTERS pages */
    int64_t      count;   /* of its own */
    _Atomic bool stop;
};

static void *
lock_beside(void *arg)
{
    struct beside *b = arg;

    for (; !b->stop; b->count++) {
        hearth_lock(17);
        for (int i = 0; i < COUNTERS; i++)
            ++*word(b->counter, i);
        hearth_unlock(17);
    }
    return NULL;
}

static void
beside_start(struct beside *b)
{
    *b = (struct beside){ .counter = pages_new(COUNTERS) };
    pthread_create(&b->thread, NULL, lock_beside, b);
}

/* Nothing that was counted is lost. */
static void
beside_stop(struct beside *b)
{
    b->stop = true;
    pthread_join(b->thread, NULL);
    hearth_fetch_add(b->counter + 1, b->count);
    barrier();
    for (int i = 0; i < COUNTERS; i++)
        expect_eq(*word(b->counter, i), b->counter[1]);
    hearth_free(b->counter);
}

/* Each page is read by all, then written by one rank, which is another in each
 * step, and read by all again. */
static void
pages_go_round(int64_t *p, int pages, int steps)
{
    for (int i = 0; i < pages; i++)
        expect_eq(*word(p, i), 0);
    barrier();
    for (int k = 1; k <= steps; k++) {
        for (int i = 0; i < pages; i++)
            if ((i + k) % ranks == me)
                *word(p, i) += k;
        barrier();
        for (int i = 0; i < pages; i++)
            expect_eq(*word(p, i), k * (k + 1) / 2);
        barrier();
    }
}

/* Who leaves hearth_alloc first fetches pages that others have not placed yet,
 * while another thread of theirs looks at flags; who leaves hearth_free first
 * has cleared flags at which the threads of others still look. */
START_TEST(threads_synchronise_while_others_allocate_and_free)
{
    enum { PAGES = 6 };
    struct beside b;
    double        end = MPI_Wtime() + SECONDS_BESIDE;
    bool          more = threads_allowed();

    if (more)
        beside_start(&b);
    for (int round = 0; more; round++) {
        int64_t *p = hearth_alloc((size_t)PAGES * page_bytes() / 8, 8,
                                  round % 3 ? hearth_cyclic(1)
                                            : hearth_on(round / 3 % ranks));

        pages_go_round(p, PAGES, 3);
        hearth_free(p);
        more = failing_rank(MPI_Wtime() < end) < 0;
    }
    if (threads_allowed())
        beside_stop(&b);
    all_expected();
}
END_TEST

/* Pages around the ends of the first windows over the segments, which each
 * begin where as many frames were covered: frames are given from 0 on, behind
 * the arena for hearth_malloc, which here is a small one. */
enum { AROUND = 3, ENDS = 3, WIDE = 20 << 20 };

static size_t
end_page(int i)
{
    return ((size_t)HEARTHI_WINDOW_FIRST << i) / page_bytes() -
           hearthi_segments.arena;
}

static int64_t
mixed(size_t page, size_t i, int round)
{
    return (int64_t)(page * 1000003 + i * 7 + (size_t)round);
}

/* Every word of these pages, by one rank: a diff that crosses the end. */
static void
pages_fill(int64_t *p, size_t end, int round)
{
    for (size_t k = end - AROUND; k < end + AROUND; k++)
        for (size_t i = 1; i < page_bytes() / 8; i++)
            p[k * page_bytes() / 8 + i] = mixed(k, i, round);
}

/* In one fetch that crosses the end. */
static void
pages_expect(int64_t *p, size_t end, int round)
{
    hearth_prefetch(p + (end - AROUND) * page_bytes() / 8,
                    (size_t)2 * AROUND * page_bytes());
    for (size_t k = end - AROUND; k < end + AROUND; k++) {
        for (size_t i = 1; i < page_bytes() / 8; i++)
            expect_eq(p[k * page_bytes() / 8 + i],
                      round ? mixed(k, i, round) : 0);
        expect_eq(p[k * page_bytes() / 8], (int64_t)round * ranks);
    }
}

static void
cross_the_ends(int64_t *p)
{
    for (int round = 0; round <= ranks; round++) {
        for (int i = 0; i < ENDS; i++)
            pages_expect(p, end_page(i), round);
        barrier();
        for (int i = 0; i < ENDS; i++) {
            size_t end = end_page(i);

            if (round % ranks == me)
                pages_fill(p, end, round + 1);
            for (size_t k = end - AROUND; k < end + AROUND; k++)
                hearth_fetch_add(p + k * page_bytes() / 8, 1);
        }
        barrier();
    }
}

static bool
has_windows(int n)
{
    return !rma_used() || hearthi_windows.n == n;
}

START_TEST(memory_is_reached_as_far_as_it_is_allocated)
{
    size_t bytes = end_page(ENDS - 1) * page_bytes() + WIDE;

    all_assert(has_windows(1));
    for (int i = 0; i < ENDS; i++) {
        hearth_free(
            hearth_alloc(end_page(i) * page_bytes() + WIDE, 1, hearth_on(0)));
        expect(has_windows(i + 2));
    }
    for (int r = 0; r < ranks; r++) {
        int64_t *p = hearth_alloc(bytes / 8, 8, hearth_on(r));

        expect(has_windows(ENDS + 1));
        cross_the_ends(p);
        hearth_free(p);
    }
    all_expected();
}
END_TEST

START_TEST(one_allocation_needs_one_window)
{
    size_t   bytes = end_page(ENDS - 1) * page_bytes() + WIDE;
    int64_t *p = hearth_alloc(bytes / 8, 8, hearth_on(ranks - 1));

    expect(has_windows(2));
    cross_the_ends(p);
    hearth_free(p);
    all_expected();
}
END_TEST

/* New windows come while other threads are in faults, locks and flushes. */
START_TEST(more_is_reached_while_threads_synchronise)
{
    enum { STEPS = 24 };
    int64_t      *p[STEPS];
    struct beside b;

    if (!threads_allowed())
        return;
    beside_start(&b);
    for (int i = 0; i < STEPS; i++) {
        p[i] = hearth_alloc(WIDE / 8, 8, hearth_on(i % 2 * (ranks - 1)));
        pages_go_round(p[i], 4, 2);
    }
    beside_stop(&b);
    expect(has_windows(ENDS));
    for (int i = 0; i < STEPS; i++)
        hearth_free(p[i]);
    all_expected();
}
END_TEST

static void
start_with_several_windows(void)
{
    setenv("HEARTH_MALLOC", "64k", 1);
    fixture_start_with("HOME", "600m");
    unsetenv("HEARTH_MALLOC");
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("windows");
    TCase *beside = tcase_create("beside threads");
    TCase *windows = tcase_create("several windows");
    TCase *one = tcase_create("one window for several steps");
    TCase *threads = tcase_create("several windows, threads");

    tcase_add_unchecked_fixture(beside, fixture_start, fixture_stop);
    windows_freed(beside);
    tcase_add_test(beside, threads_synchronise_while_others_allocate_and_free);
    suite_add_tcase(s, beside);
    tcase_add_unchecked_fixture(windows, start_with_several_windows,
                                fixture_stop);
    tcase_add_test(windows, memory_is_reached_as_far_as_it_is_allocated);
    suite_add_tcase(s, windows);
    tcase_add_unchecked_fixture(one, start_with_several_windows, fixture_stop);
    tcase_add_test(one, one_allocation_needs_one_window);
    suite_add_tcase(s, one);
    tcase_add_unchecked_fixture(threads, start_with_several_windows,
                                fixture_stop);
    tcase_add_test(threads, more_is_reached_while_threads_synchronise);
    suite_add_tcase(s, threads);
    return mpi_main(argc, argv, s);
}
