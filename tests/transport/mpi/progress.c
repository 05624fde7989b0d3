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
#include <pthread.h>
#include <signal.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/dlsym_next.h"
#include "base/mpi_call.h"
#include "fixture.h"
#include "gets.h"
#include "grants.h"
#include "seen.h"
#include "transport/mpi/mpi.h"
#include "transport/mpi/mpi_fabric.h"
#include "transport/mpi/progress.h"

enum { PAGES = 64, TURNS = 16, DEADLINE_S = 30 };
enum { RINGS = 100, RING_NS = 150000, FEW = 12, ROBBED_NS = 30000 };
enum { STAYING = 7 };
enum { FLOOD = 100000 };
enum { STEPS = 200, LONG_ROW = 800, APART_NS = 30000, LATE_NS = 40000 };

static const uint64_t DEADLINE_NS = UINT64_C(1000000000) * 10;

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

    s.pages = hearth_alloc((size_t)PAGES * page_bytes() / sizeof *s.pages,
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

/* How often another thread than the program's looks for what others want, and
 * how often that does. */
static pthread_t  program;
static atomic_int looks, own_looks;

SEEN int
MPI_Request_get_status(MPI_Request request, int *flag, MPI_Status *status)
{
    if (pthread_equal(pthread_self(), program))
        own_looks++;
    else
        looks++;
    return PMPI_Request_get_status(request, flag, status);
}

/* What the threads of this process have used. */
static uint64_t
cores_used(void)
{
    return hearthi_clock_of(CLOCK_PROCESS_CPUTIME_ID);
}

/* Ring at this rank's own helper while the rank spins on a word: how often
 * that looked; negative if other processes had the core meanwhile, so that the
 * helper could not know that its rank spins. */
static int
looks_of_ring(int64_t *mine)
{
    uint64_t start = hearthi_now(), used = cores_used();
    int      before;

    hearth_fetch_add(mine, 0);
    before = looks;
    hearthi_doorbell_ring(me);
    while (looks == before || hearthi_now() - start < RING_NS)
        hearth_fetch_add(mine, 0);
    used = cores_used() - used;
    return hearthi_now() - start > used + ROBBED_NS ? -1 : looks - before;
}

/* A rank that spins on a word is inside Hearth all the time, and serves: its
 * helper, which may have to share its core, looks a few times for who rings
 * and sleeps again.  A rank that computes would have it look a hundred times.
 * The kernel may take the core from one in between two calls, so a few rings
 * suffice; one that the helper has not heard is waited for.  On a machine that
 * never leaves this rank a core nothing is to be seen.
 */
START_TEST(the_helper_of_a_rank_that_spins_sleeps)
{
    int64_t *pages = hearth_alloc((size_t)ranks * page_bytes() / sizeof *pages,
                                  sizeof *pages, hearth_cyclic(1));
    int      few = 0, rings = 0;
    bool     helped = hearthi_help.doorbells && ranks == 2; /* have cores */
    uint64_t start = hearthi_now();

    program = pthread_self();
    while (helped && rings < RINGS && hearthi_now() - start < DEADLINE_NS) {
        int n = looks_of_ring(word(pages, me));

        rings += n >= 0;
        few += n >= 0 && n <= FEW;
    }
    if (rings == RINGS)
        expect_timely(few >= RINGS / 20); /* or none, if the helper looks on */
    barrier();
    hearth_free(pages);
    all_expected();
}
END_TEST

/* Where pages need their home and steps on words do not, as in Open MPI 5. */
static int
looks_of_step(int64_t *mine)
{
    enum hearthi_need need[HEARTHI_OPERATIONS];
    int               before;

    memcpy(need, hearthi_help.need, sizeof need);
    hearthi_help.need[HEARTHI_PAGE] = HEARTHI_WAITS;
    hearthi_help.need[HEARTHI_WORD] = HEARTHI_FREE;
    before = own_looks;
    hearth_fetch_add(mine, 1);
    memcpy(hearthi_help.need, need, sizeof need);
    return own_looks - before;
}

/* As it does while a request of the program's for a file is pending. */
START_TEST(a_rank_whose_helper_stays_out_of_mpi_serves)
{
    int64_t *words = hearth_alloc((size_t)ranks * page_bytes() / sizeof *words,
                                  sizeof *words, hearth_cyclic(1));

    program = pthread_self();
    if (hearthi_mpi.helper) {
        expect_eq(looks_of_step(word(words, me)), 0);
        hearthi_mpi_exclusion_begin();
        expect(looks_of_step(word(words, me)) > 0);
        hearthi_mpi_exclusion_end();
    }
    barrier();
    hearth_free(words);
    all_expected();
}
END_TEST

/* Messages that were sent for a flush of the last rank's. */
static uint64_t
flush_told(bool slow)
{
    hearth_stats before, after;

    hearth_get_stats(&before);
    gets_slow_flush = slow;
    hearthi_flush_come(hearthi_windows.win[0], busy_rank());
    gets_slow_flush = false;
    hearth_get_stats(&after);
    return after.messages - before.messages;
}

/* As behind a Put over TCP, where a helper that has gone to sleep would let
 * the flush wait for its whole nap. */
START_TEST(a_helper_hears_of_a_flush_where_flushes_take_long)
{
    bool helped = hearthi_help.doorbells && rma_used() && me == 0;

    if (helped) {
        hearthi_help.flushes_long =
            0; /* a rank without a core may have some */
        expect(flush_told(false) == 0); /* a fabric that needs none of that */
        flush_told(true);
        flush_told(true);
        expect(flush_told(false) == 1);
    }
    barrier();
    all_expected();
}
END_TEST

static void
spin(uint64_t ns)
{
    uint64_t start = hearthi_now();

    while (hearthi_now() - start < ns)
        continue;
}

/* Announcements in a row of steps at the last rank, each of which is answered
 * so late, in nanoseconds. */
static uint64_t
announced_of(int steps, uint64_t late)
{
    hearth_stats before, after;

    hearth_get_stats(&before);
    for (int i = 0; i < steps; i++) {
        hearthi_doorbell_step(busy_rank());
        spin(late);
        hearthi_doorbell_answered(busy_rank());
        spin(APART_NS);
    }
    hearth_get_stats(&after);
    return after.messages - before.messages;
}

/* An announcement takes the core from a rank that would answer by itself, and
 * one that is late needs it.  Not all of them, as the kernel may have taken
 * the core from this one. */
START_TEST(steps_at_a_rank_that_answers_by_itself_are_not_announced)
{
    if (hearthi_help.doorbells && me == 0) {
        expect_timely(announced_of(STEPS, 0) <= STEPS / 4);
        expect_timely(announced_of(STEPS, LATE_NS) >= STEPS / 2);
        expect_timely(announced_of(STEPS, 0) <= STEPS / 2);
    }
    barrier();
    all_expected();
}
END_TEST

/* That rank may leave MPI at any time, and its helper sleeps for as long as it
 * has heard of nothing. */
START_TEST(a_long_row_of_steps_is_announced_now_and_then)
{
    if (hearthi_help.doorbells && me == 0) {
        announced_of(STEPS, 0);
        expect_timely(announced_of(LONG_ROW, 0) >= 2);
    }
    barrier();
    all_expected();
}
END_TEST

/* Datagrams that come to this thread one behind the other, and say nothing. */
static _Thread_local int flood;

SEEN ssize_t
recvfrom(int fd, void *to, size_t n, int how, struct sockaddr *from,
         socklen_t *size)
{
    ssize_t (*real)(int, void *, size_t, int, struct sockaddr *, socklen_t *);

    if (flood > 0) {
        flood--;
        return 0;
    }
    hearthi_dlsym_next(&real, "recvfrom");
    return real(fd, to, n, how, from, size);
}

/* The helper has others to serve, and must see that it is to end. */
START_TEST(a_flood_of_datagrams_does_not_hold_a_look_at_the_doorbell)
{
    if (hearthi_help.listens) {
        flood = FLOOD;
        hearthi_doorbell_look();
        expect(flood > FLOOD / 2);
        flood = 0;
    }
    barrier();
    all_expected();
}
END_TEST

/* It is asked for by a doorbell, at which a thread sleeps that never calls
 * MPI. */
START_TEST(without_a_helper_locks_stay)
{
    hearth_stats before, after;
    bool         may = threads_allowed() && hearth_nodes() > 1;

    hearth_get_stats(&before);
    for (int i = 0; me == 0 && i < TURNS; i++) {
        hearth_lock(STAYING);
        hearth_unlock(STAYING);
    }
    hearth_get_stats(&after);
    if (me == 0 && may && release_consistency())
        expect(after.locks_kept > before.locks_kept);
    barrier();
    hearth_lock(STAYING); /* it is given */
    hearth_unlock(STAYING);
    all_expected();
}
END_TEST

/* Rank 0 takes a lock that stays with it until the last rank has passed on a
 * word, for which that rank fetches a page of rank 0's and steps on its words.
 */
START_TEST(a_rank_that_takes_a_lock_that_stays_serves)
{
    int64_t *asked = hearth_alloc(page_bytes() / sizeof *asked, sizeof *asked,
                                  hearth_on(0));
    int64_t *answer = hearth_alloc(1, sizeof *answer, hearth_on(0));
    int64_t  seen = ranks == 1;
    int      lock = STAYING * ranks; /* rank 0 manages it */
    uint64_t start;

    if (me == 0)
        *asked = 5;
    barrier();
    start = hearthi_now();
    while (me == 0 && seen == 0 && hearthi_now() - start < DEADLINE_NS) {
        hearth_lock(lock);
        seen = *answer;
        hearth_unlock(lock);
    }
    if (me > 0 && me == busy_rank()) {
        spin(LATE_NS);
        expect_eq(*asked, 5);
        hearth_fetch_add(asked, 1);
        hearth_lock(lock);
        *answer = 1;
        hearth_unlock(lock);
    }
    expect_timely(me > 0 || seen == 1); /* before the deadline */
    barrier();
    hearth_free(answer);
    hearth_free(asked);
    all_expected();
}
END_TEST

/* The last call of the probe's target, in which the kernel takes its core. */
enum { TAG_LEFT = 31002, HELD_NS = 1000000 };

static bool leaves_late;

SEEN int
MPI_Isend(const void *from, int count, MPI_Datatype type, int to, int tag,
          MPI_Comm comm, MPI_Request *request)
{
    int code = PMPI_Isend(from, count, type, to, tag, comm, request);

    if (leaves_late && tag == TAG_LEFT)
        spin(HELD_NS);
    return code;
}

/* What the origin begins then is served by the target's next look, and is not
 * free for that. */
START_TEST(what_a_target_serves_as_it_leaves_mpi_is_not_free)
{
    struct hearthi_help help = hearthi_help;

    if (rma_used()) {
        leaves_late = true;
        hearthi_mpi_probe();
        leaves_late = false;
        for (int o = 0; o < HEARTHI_OPERATIONS; o++)
            expect_eq(hearthi_help.need[o], HEARTHI_BLOCKS);
        hearthi_help = help;
    }
    barrier();
    all_expected();
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
    TCase *none = progress_case(
        "none", start_without, without_a_helper_everything_waits_and_is_right);
    TCase *thread = progress_case("thread", start_with_a_thread,
                                  a_computing_rank_is_needed_and_served);

    tcase_add_test(thread, the_helper_of_a_rank_that_spins_sleeps);
    tcase_add_test(thread, a_rank_whose_helper_stays_out_of_mpi_serves);
    tcase_add_test(thread, a_helper_hears_of_a_flush_where_flushes_take_long);
    tcase_add_test(thread,
                   steps_at_a_rank_that_answers_by_itself_are_not_announced);
    tcase_add_test(thread, a_long_row_of_steps_is_announced_now_and_then);
    tcase_add_test(thread,
                   a_flood_of_datagrams_does_not_hold_a_look_at_the_doorbell);
    tcase_add_test(none, without_a_helper_locks_stay);
    tcase_add_test(none, a_rank_that_takes_a_lock_that_stays_serves);
    tcase_add_test(none, what_a_target_serves_as_it_leaves_mpi_is_not_free);
    suite_add_tcase(s, progress_case("auto", fixture_start,
                                     a_computing_rank_is_needed_and_served));
    suite_add_tcase(s, thread);
    suite_add_tcase(s, none);
    suite_add_tcase(s, gets());
    suite_add_tcase(s, grants());
    return mpi_main(argc, argv, s);
}
