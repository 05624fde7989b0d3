/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank computes without any call while another needs it: as home of pages
 * and words and as manager of locks.
 *
 * With MPI_THREAD_MULTIPLE the other is served meanwhile, by the fabric or by
 * a helper thread.  The computing rank goes on until the other tells it, by a
 * signal, that it is done: nothing here is measured, and where nobody serves,
 * both would wait for ever but for a deadline.
 */
#include <signal.h>
#include <stdlib.h>
#include <time.h>
#include <unistd.h>

#include "fixture.h"
#include "gets.h"

enum { PAGES = 64, TURNS = 16, DEADLINE_S = 30 };

static volatile sig_atomic_t told;

static void
hear(int sig)
{
    (void)sig;
    told = 1;
}

/* The last rank is the one that computes. */
static int
busy_rank(void)
{
    return ranks - 1;
}

static pid_t
busy_pid(void)
{
    long pid = (long)getpid();

    MPI_Bcast(&pid, 1, MPI_LONG, busy_rank(), MPI_COMM_WORLD);
    return (pid_t)pid;
}

/* True if it was told before the deadline. */
static bool
compute(double seconds)
{
    volatile double x = 1;
    time_t          start = time(NULL);
    clock_t         cpu = clock();

    while (!told && difftime(time(NULL), start) < DEADLINE_S) {
        for (int i = 0; i < 10000; i++)
            x = x * 1.0000001 + 1e-9;
        if (seconds > 0 && (double)(clock() - cpu) / CLOCKS_PER_SEC > seconds)
            break;
    }
    return told;
}

struct shared {
    int64_t *pages, *counter;
    int      lock; /* managed by the rank that computes */
};

static struct shared
shared_new(void)
{
    struct shared s;

    s.pages = hearth_alloc((size_t)PAGES * PAGE / sizeof *s.pages,
                           sizeof *s.pages, hearth_on(busy_rank()));
    s.counter = hearth_alloc(1, sizeof *s.counter, hearth_on(busy_rank()));
    s.lock = busy_rank();
    for (int i = 0; me == busy_rank() && i < PAGES; i++)
        word(s.pages, i)[0] = i * 3;
    return s;
}

static void
shared_free(struct shared s)
{
    hearth_free(s.counter);
    hearth_free(s.pages);
}

static void
need_the_other(struct shared s)
{
    for (int i = 0; i < PAGES; i++)
        expect_eq(word(s.pages, i)[0], i * 3);
    for (int i = 0; i < TURNS; i++) {
        hearth_lock(s.lock);
        word(s.pages, i)[1 + me]++;
        hearth_unlock(s.lock);
        hearth_fetch_add(s.counter, 1);
    }
}

/* The busy rank waits to be told if `until_told`, else computes for a short
 * time. */
static void
work_apart(bool until_told)
{
    struct shared s = shared_new();
    pid_t         pid = busy_pid();

    told = 0;
    signal(SIGUSR1, hear);
    barrier();
    if (me == busy_rank()) {
        if (until_told)
            expect(compute(0));
        else
            compute(0.05);
    } else if (me == 0) {
        need_the_other(s);
        if (until_told)
            kill(pid, SIGUSR1);
    }
    barrier();
    if (ranks > 1) {
        expect_eq(*s.counter, TURNS);
        for (int i = 0; i < TURNS; i++)
            expect_eq(word(s.pages, i)[1], 1);
    }
    shared_free(s);
    all_expected();
}

START_TEST(a_computing_rank_is_needed_and_served)
{
    work_apart(ranks > 1 && threads_allowed());
}
END_TEST

START_TEST(without_a_helper_everything_waits_and_is_right)
{
    work_apart(false);
}
END_TEST

static void
start_with_a_thread(void)
{
    fixture_start_with("PROGRESS", threads_allowed() ? "thread" : "auto");
}

static void
start_without(void)
{
    fixture_start_with("PROGRESS", "none");
}

static TCase *
progress_case(const char *name, SFun setup, const TTest *test)
{
    TCase *tc = tcase_create(name);

    tcase_add_unchecked_fixture(tc, setup, fixture_stop);
    tcase_add_test(tc, test);
    return tc;
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("progress");

    suite_add_tcase(s, progress_case("auto", fixture_start,
                                     a_computing_rank_is_needed_and_served));
    suite_add_tcase(s, progress_case("thread", start_with_a_thread,
                                     a_computing_rank_is_needed_and_served));
    suite_add_tcase(
        s, progress_case("none", start_without,
                         without_a_helper_everything_waits_and_is_right));
    suite_add_tcase(s, gets());
    return mpi_main(argc, argv, s);
}
