/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The calls themselves: start and stop, who is where, prefetch, statistics,
 * options, and living beside the program's own MPI.
 */
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <unistd.h>

#include "alloc.h"
#include "life/liveness_line.h"

/* Each rank adds to the same words under one lock, so that pages and locks
 * travel; then everybody looks. */
static bool
memory_works(void)
{
    size_t    count = 3 * page_bytes() / sizeof(uint64_t);
    uint64_t  n = (uint64_t)hearth_size();
    uint64_t *p = hearth_alloc(count, sizeof *p, hearth_cyclic(1));
    bool      ok = true;

    hearth_lock(7);
    for (size_t i = 0; i < count; i += 64)
        p[i] += i + (uint64_t)hearth_rank() + 1;
    hearth_unlock(7);
    barrier();
    for (size_t i = 0; i < count; i++)
        ok = ok && p[i] == (i % 64 ? 0 : n * i + n * (n + 1) / 2);
    barrier();
    hearth_free(p);
    return ok;
}

START_TEST(starts_on_world_and_again_after_finalize)
{
    for (int i = 0; i < 4; i++) {
        all_assert(!hearth_initialized());
        hearth_init(MPI_COMM_WORLD);
        all_assert(hearth_initialized());
        all_assert(memory_works());
        hearth_finalize();
    }
    all_assert(!hearth_initialized());
}
END_TEST

/* Start on comm and see that ranks and traffic are those of comm. */
static bool
works_on(MPI_Comm comm)
{
    int  rank, size;
    bool ok;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    hearth_init(comm);
    ok = hearth_rank() == rank && hearth_size() == size && memory_works();
    hearth_finalize();
    return ok;
}

START_TEST(starts_on_a_duplicate)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    all_assert(works_on(comm));
    MPI_Comm_free(&comm);
}
END_TEST

START_TEST(starts_on_reordered_ranks)
{
    MPI_Comm comm;
    int      rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, 0, -rank, &comm);
    all_assert(works_on(comm));
    MPI_Comm_free(&comm);
}
END_TEST

START_TEST(starts_on_two_halves_at_once)
{
    MPI_Comm comm;
    int      rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split(MPI_COMM_WORLD, rank % 2, rank, &comm);
    all_assert(works_on(comm));
    MPI_Comm_free(&comm);
}
END_TEST

/* Windows over the segments are made in hearth_alloc, too. */
START_TEST(two_halves_allocate_at_once)
{
    enum { STEPS = 12, BYTES = 16 << 20 };
    MPI_Comm comm;
    bool     ok = true;

    MPI_Comm_rank(MPI_COMM_WORLD, &me);
    MPI_Comm_split(MPI_COMM_WORLD, me % 2, me, &comm);
    fixture_start_on(comm, "HOME", "200m");
    for (int i = 0; i < STEPS; i++) {
        char *p;

        failing_rank(1); /* a barrier of both */
        p = hearth_alloc(BYTES, 1, hearth_on(0));
        if (hearth_rank() == hearth_size() - 1)
            p[BYTES - 1] = 1;
        hearth_barrier();
        ok = ok && p[BYTES - 1] == 1;
    }
    fixture_stop();
    all_assert(ok);
    MPI_Comm_free(&comm);
}
END_TEST

START_TEST(the_communicator_may_be_freed_while_hearth_runs)
{
    MPI_Comm comm;

    MPI_Comm_dup(MPI_COMM_WORLD, &comm);
    hearth_init(comm);
    MPI_Comm_free(&comm);
    all_assert(memory_works());
    hearth_finalize();
}
END_TEST

START_TEST(leaves_the_error_handler_of_world_alone)
{
    MPI_Errhandler before, after;

    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_RETURN);
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &before);
    fixture_start();
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
    all_assert(before == after);
    fixture_stop();
    MPI_Comm_get_errhandler(MPI_COMM_WORLD, &after);
    all_assert(before == after);
    MPI_Comm_set_errhandler(MPI_COMM_WORLD, MPI_ERRORS_ARE_FATAL);
}
END_TEST

/* A receive from anybody is open all the time: it must get what the program
 * sends, and nothing of Hearth's. */
START_TEST(leaves_the_programs_own_messages_alone)
{
    MPI_Request receive;
    MPI_Status  status;
    int         rank, size, got = -1;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    MPI_Irecv(&got, 1, MPI_INT, MPI_ANY_SOURCE, MPI_ANY_TAG, MPI_COMM_WORLD,
              &receive);
    fixture_start();
    all_assert(memory_works());
    MPI_Send(&rank, 1, MPI_INT, (rank + 1) % size, 5, MPI_COMM_WORLD);
    MPI_Wait(&receive, &status);
    all_assert(got == (rank + size - 1) % size && status.MPI_TAG == 5);
    fixture_stop();
}
END_TEST

START_TEST(nodes_are_what_was_asked_for)
{
    const char *text = getenv("HEARTH_NODE_SIZE");
    int         per = text == NULL ? 0 : atoi(text);

    if (per == 0 || per > ranks)
        per = ranks;
    all_assert(hearth_nodes() == (ranks + per - 1) / per);
    all_assert(hearth_node() == me / per);
    for (int r = 0; r < ranks; r++)
        all_assert(hearth_node_of(r) == r / per);
}
END_TEST

START_TEST(options_can_be_asked_for)
{
    const char *want = getenv("HEARTH_CONSISTENCY");
    const char *transport = getenv("HEARTH_TRANSPORT");

    if (transport == NULL)
        transport = "mpi";
    all_assert(strcmp(hearth_option("transport"), transport) == 0);
    all_assert(want == NULL ||
               strcmp(hearth_option("consistency"), want) == 0);
    all_assert(hearth_option("no_such_option") == NULL);
    all_assert(hearth_option("") == NULL);
}
END_TEST

START_TEST(counters_have_the_names_of_the_members)
{
    hearth_stats s;
    int          n = 0;

    while (hearth_counter_name(n) != NULL)
        n++;
    expect_eq(n, sizeof s / sizeof(uint64_t));
    expect(strcmp(hearth_counter_name(0), "read_faults") == 0);
    hearth_get_stats(&s);
    expect_eq(hearth_counter("getpages"), s.getpages);
    expect_eq(hearth_counter("barriers"), s.barriers);
    all_expected();
}
END_TEST

START_TEST(prefetch_changes_nothing)
{
    const size_t   bytes = 32 * page_bytes();
    unsigned char *p = hearth_alloc(bytes, 1, hearth_cyclic(1));

    for (int round = 1; round < 4; round++) {
        for (size_t i = (size_t)me; i < bytes; i += (size_t)ranks)
            p[i] = (unsigned char)(round + (int)(i % 100));
        hearth_prefetch(p + 100, bytes - 200); /* dirty pages among them */
        barrier();
        hearth_prefetch(p, bytes);
        hearth_prefetch(p, 0);
        hearth_prefetch(p + page_bytes() - 1, 2);
        for (size_t i = 0; i < bytes; i++)
            expect_eq(p[i], round + (int)(i % 100));
        barrier();
    }
    all_expected();
    hearth_free(p);
}
END_TEST

START_TEST(prefetch_saves_faults)
{
    enum { PAGES = 64 };
    unsigned char *p = hearth_alloc(PAGES * page_bytes(), 1, hearth_on(0));
    hearth_stats   before, after;
    unsigned       sum = 0;

    barrier();
    hearth_prefetch(p, PAGES * page_bytes());
    hearth_get_stats(&before);
    for (size_t i = 0; i < PAGES; i++)
        sum += p[i * page_bytes()];
    hearth_get_stats(&after);
    all_assert(sum == 0);
    all_assert(after.read_faults == before.read_faults);
    all_assert(!apart(me, 0) || before.getpages + before.matepages >= PAGES);
    barrier();
    hearth_free(p);
}
END_TEST

static void
start_page_by_page(void)
{
    fixture_start_with("FETCH_AHEAD", "0");
}

START_TEST(pages_come_one_by_one_if_asked)
{
    enum { PAGES = 64 };
    unsigned char *p = hearth_alloc(PAGES * page_bytes(), 1, hearth_on(0));
    hearth_stats   s;
    unsigned       sum = 0;

    barrier();
    hearth_prefetch(p, PAGES * page_bytes());
    for (size_t i = 0; i < PAGES; i++)
        sum += p[i * page_bytes()];
    hearth_get_stats(&s);
    all_assert(sum == 0);
    all_assert(s.fetches + s.matepages == (apart(me, 0) ? PAGES : 0));
    barrier();
    hearth_free(p);
}
END_TEST

START_TEST(statistics_count_what_happens)
{
    unsigned char *p = hearth_alloc(page_bytes(), 1, hearth_on(0));
    int64_t       *w = hearth_alloc(1, sizeof *w, hearth_on(0));
    hearth_stats   a, b;

    barrier();
    hearth_get_stats(&a);
    p[me] = 1;
    hearth_lock(me);
    hearth_unlock(me);
    all_assert(hearth_trylock(ranks + me));
    hearth_unlock(ranks + me);
    hearth_flag_set(me);
    hearth_flag_wait(me);
    hearth_flag_reset(me);
    hearth_fetch_add(w, 1);
    hearth_swap(w, 1);
    barrier();
    hearth_get_stats(&b);
    all_assert(b.locks - a.locks == 2);
    all_assert(b.flags - a.flags == 1);
    all_assert(b.atomics - a.atomics == 2);
    all_assert(b.barriers - a.barriers == 1);
    all_assert(b.lock_ns > a.lock_ns && b.barrier_ns > a.barrier_ns);
    all_assert(!apart(me, 0) ||
               (b.write_faults > a.write_faults && b.getpages > a.getpages &&
                b.twins > a.twins && b.diffs > a.diffs &&
                b.diff_bytes > a.diff_bytes && b.fault_ns > a.fault_ns &&
                b.diff_runs > a.diff_runs && b.fetches > a.fetches));
    hearth_free(w);
    hearth_free(p);
}
END_TEST

START_TEST(a_section_counts_from_nothing)
{
    hearth_stats s;

    hearth_lock(me);
    hearth_unlock(me);
    hearth_stats_start();
    hearth_get_stats(&s);
    all_assert(s.locks == 0 && s.lock_ns == 0);
    hearth_lock(me);
    hearth_unlock(me);
    hearth_stats_stop();
    hearth_lock(me);
    hearth_unlock(me);
    hearth_get_stats(&s);
    all_assert(s.locks == 2);
}
END_TEST

START_TEST(a_try_that_fails_takes_time_too)
{
    hearth_stats a, b;

    if (me == 0)
        hearth_lock(0);
    MPI_Barrier(MPI_COMM_WORLD); /* ours is not for critical sections */
    hearth_get_stats(&a);
    all_assert(me == 0 || !hearth_trylock(0));
    hearth_get_stats(&b);
    all_assert(me == 0 || (b.lock_ns > a.lock_ns && b.locks == a.locks));
    if (me == 0)
        hearth_unlock(0);
    barrier();
}
END_TEST

START_TEST(one_node_fetches_nothing)
{
    hearth_stats s;

    all_assert(memory_works());
    hearth_get_stats(&s);
    all_assert(hearth_nodes() > 1 || (s.getpages == 0 && s.diffs == 0));
}
END_TEST

/* ---- lines between ranks (src/life/line_reconnect.h) ---- */

/* As if somebody had sent a reset to its other end. */
static void
line_reset(enum hearthi_which which)
{
    const struct sockaddr none = { .sa_family = AF_UNSPEC };

    connect(hearthi_liveness_line[which].fd, &none, sizeof none);
}

/* It has been made again, and its ranks hear each other. */
static bool
line_is_back(enum hearthi_which which)
{
    const struct hearthi_liveness_line *line = &hearthi_liveness_line[which];
    struct sockaddr_storage             peer;

    for (int i = 0; i < 500; i++, usleep(10000)) {
        socklen_t size = sizeof peer;
        int       fd = __atomic_load_n(&line->fd, __ATOMIC_RELAXED);

        if (fd >= 0 && getpeername(fd, (struct sockaddr *)&peer, &size) == 0)
            return true;
    }
    return false;
}

/* Of the line that rank 0 has made, and of that which it has taken. */
START_TEST(a_reset_that_no_rank_sent_ends_nothing)
{
    fixture_start_with("UDP_GIVEUP", "8s");
    for (int which = 0; which < HEARTHI_LINES && ranks > 1; which++) {
        if (me == 0)
            line_reset((enum hearthi_which)which);
        barrier();
        usleep(20000);
        all_assert(line_is_back(HEARTHI_LINE_PREV) &&
                   line_is_back(HEARTHI_LINE_NEXT));
        all_assert(memory_works());
    }
    fixture_stop();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("api");
    TCase *start = tcase_create("start");
    TCase *use = tcase_create("use");
    TCase *single = tcase_create("page by page");

    tcase_add_test(start, starts_on_world_and_again_after_finalize);
    tcase_add_test(start, starts_on_a_duplicate);
    tcase_add_test(start, starts_on_reordered_ranks);
    tcase_add_test(start, starts_on_two_halves_at_once);
    tcase_add_test(start, two_halves_allocate_at_once);
    tcase_add_test(start, the_communicator_may_be_freed_while_hearth_runs);
    tcase_add_test(start, leaves_the_error_handler_of_world_alone);
    tcase_add_test(start, leaves_the_programs_own_messages_alone);
    tcase_add_test(start, a_reset_that_no_rank_sent_ends_nothing);
    suite_add_tcase(s, start);
    tcase_add_unchecked_fixture(use, fixture_start, fixture_stop);
    tcase_add_test(use, nodes_are_what_was_asked_for);
    tcase_add_test(use, options_can_be_asked_for);
    tcase_add_test(use, counters_have_the_names_of_the_members);
    tcase_add_test(use, prefetch_changes_nothing);
    tcase_add_test(use, prefetch_saves_faults);
    tcase_add_test(use, statistics_count_what_happens);
    tcase_add_test(use, a_section_counts_from_nothing);
    tcase_add_test(use, a_try_that_fails_takes_time_too);
    tcase_add_test(use, one_node_fetches_nothing);
    suite_add_tcase(s, use);
    tcase_add_unchecked_fixture(single, start_page_by_page, fixture_stop);
    tcase_add_test(single, pages_come_one_by_one_if_asked);
    suite_add_tcase(s, single);
    suite_add_tcase(s, allocations());
    suite_add_tcase(s, allocations_in_little_memory());
    return mpi_main(argc, argv, s);
}
