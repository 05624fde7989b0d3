/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ranks that wait for each other: which of them can go on, and what is said if
 * none can.
 */
#include <stdio.h>
#include <string.h>

#include "harness.h"
#include "life/wait_graph.h"
#include "transport/lock_key.h"

static struct hearthi_waits all;

/* Of ranks that have made so many calls of Hearth's and MPI's that all make.
 */
static void
rank_add(int rank, uint64_t calls, uint64_t mpi)
{
    struct hearthi_thread_wait w = {
        .kind = HEARTHI_WAIT_RANK, .rank = rank, .what = calls, .mpi = mpi
    };

    ck_assert(hearthi_waits_add(&all, &w));
}

static struct hearthi_thread_wait *
wait_add(enum hearthi_wait_kind kind, int rank, uint64_t what,
         const char *call)
{
    struct hearthi_thread_wait w = { .kind = (int32_t)kind,
                                     .rank = rank,
                                     .what = what };

    snprintf(w.call, sizeof w.call, "%s", call);
    ck_assert(hearthi_waits_add(&all, &w));
    return &all.wait[all.n - 1];
}

static void
lock_wait(int rank, int lock)
{
    wait_add(HEARTHI_WAIT_LOCK, rank, hearthi_lock_key_of_number(lock),
             "hearth_lock");
}

static void
lock_has(int rank, int lock)
{
    wait_add(HEARTHI_HAS_LOCK, rank, hearthi_lock_key_of_number(lock), "");
}

static void
mpi_wait(int rank, int peer, uint64_t calls)
{
    struct hearthi_thread_wait *w =
        wait_add(HEARTHI_WAIT_MPI, rank, 0, "MPI_Call");

    w->peer = peer;
    w->mpi = calls;
}

/* And forget them. */
static bool
are_final(int ranks)
{
    bool final = hearthi_waits_are_final(&all, ranks);

    hearthi_waits_free(&all);
    return final;
}

START_TEST(a_lock_is_waited_for_in_vain_only_if_a_thread_has_it)
{
    for (int has = 0; has < 2; has++) {
        lock_wait(0, 2);
        lock_has(0, 1);
        lock_wait(1, 1);
        if (has)
            lock_has(1, 2);
        ck_assert_int_eq(are_final(2), has);
    }
}
END_TEST

START_TEST(a_reader_waits_for_a_writer_or_behind_one)
{
    for (int how = 0; how < 8; how++) {
        bool writer = (how & 1) != 0, reader = (how & 2) != 0;
        bool waits = (how & 4) != 0;

        wait_add(HEARTHI_WAIT_READ, 0, 3, "hearth_rdlock");
        wait_add(HEARTHI_WAIT_FLAG, 1, 0, "hearth_flag_wait");
        if (writer)
            wait_add(HEARTHI_HAS_WRITE, 1, 3, "");
        if (reader)
            wait_add(HEARTHI_HAS_READ, 1, 3, "");
        if (waits)
            wait_add(HEARTHI_WAIT_WRITE, 2, 3, "hearth_wrlock");
        ck_assert_int_eq(are_final(3), writer || (reader && waits));
    }
}
END_TEST

START_TEST(a_call_that_all_make_is_about_to_end_if_all_have_made_it)
{
    for (uint64_t late = 0; late < 3; late++) {
        rank_add(0, 7, 0);
        wait_add(HEARTHI_WAIT_ALL, 0, 7, "hearth_barrier");
        rank_add(1, 6 + late, 0);
        wait_add(HEARTHI_WAIT_FLAG, 1, 1, "hearth_flag_wait");
        ck_assert_int_eq(are_final(2), late == 0);
    }
}
END_TEST

START_TEST(a_rank_in_mpi_waits_in_vain_for_one_that_waits_in_hearth)
{
    for (int peer = HEARTHI_PEER_OUTSIDE; peer < 3; peer++) {
        lock_wait(0, 1);
        mpi_wait(1, peer, 0);
        lock_has(1, 1);
        wait_add(HEARTHI_WAIT_FLAG, 2, 0, "hearth_flag_wait");
        ck_assert_int_eq(are_final(3),
                         peer == 0 || peer == 2 || peer == HEARTHI_PEER_ANY);
    }
}
END_TEST

START_TEST(ranks_that_wait_for_each_other_in_mpi_may_be_moving_data)
{
    lock_wait(0, 1);
    lock_has(1, 1);
    mpi_wait(1, 2, 0);
    mpi_wait(2, 1, 0);
    ck_assert(!are_final(3));
    lock_wait(0, 1);
    lock_has(1, 1);
    mpi_wait(1, HEARTHI_PEER_ANY, 0);
    mpi_wait(2, HEARTHI_PEER_ANY, 0);
    ck_assert(!are_final(3));
    mpi_wait(0, 1, 0);
    mpi_wait(1, 0, 0);
    ck_assert(!are_final(2));
}
END_TEST

START_TEST(a_chain_of_ranks_in_mpi_may_end_in_hearth)
{
    lock_wait(0, 1);
    mpi_wait(3, 2, 0);
    mpi_wait(2, 1, 0);
    mpi_wait(1, 0, 0);
    lock_has(3, 1);
    ck_assert(are_final(4));
}
END_TEST

START_TEST(a_call_of_mpi_that_all_make_waits_for_a_rank_that_has_not_made_it)
{
    for (uint64_t late = 0; late < 2; late++) {
        rank_add(0, 0, 4 + late);
        lock_wait(0, 1);
        rank_add(1, 0, 5);
        mpi_wait(1, HEARTHI_PEER_EACH, 5);
        lock_has(1, 1);
        rank_add(2, 0, 5);
        mpi_wait(2, HEARTHI_PEER_EACH, 5);
        ck_assert_int_eq(are_final(3), late == 0);
    }
}
END_TEST

static void
text_is(const char *wanted)
{
    char text[640];

    hearthi_waits_text(&all, text, sizeof text);
    ck_assert_str_eq(text, wanted);
    hearthi_waits_free(&all);
}

START_TEST(what_is_said_names_who_waits_for_whom)
{
    struct hearthi_thread_wait *flag;

    for (int r = 0; r < 9; r++)
        rank_add(r, r < 2 ? 3 : 4, 0);
    for (int r = 2; r < 9; r++)
        wait_add(HEARTHI_WAIT_ALL, r, 4, "hearth_barrier");
    lock_wait(0, 2);
    lock_has(1, 2);
    flag = wait_add(HEARTHI_WAIT_FLAG, 1, 3, "hearth_flag_wait");
    flag->many = 1;
    flag->thread = 17;
    snprintf(flag->place, sizeof flag->place, "main.c:80");
    text_is("rank 0 in hearth_lock (2), which rank 1 has; rank 1 (thread 17) "
            "in hearth_flag_wait (3) at main.c:80, which no rank sets; ranks "
            "2, 3, 4, 5 and 3 more in hearth_barrier, to which ranks 0 and 1 "
            "do not come");
}
END_TEST

START_TEST(a_line_says_how_many_it_has_no_room_for)
{
    char text[640];

    for (int r = 0; r < 100; r++)
        lock_wait(r, r);
    hearthi_waits_text(&all, text, sizeof text);
    ck_assert(strlen(text) < sizeof text - 1);
    ck_assert(strstr(text, "; and ") != NULL);
    ck_assert_str_eq(text + strlen(text) - 5, " more");
    hearthi_waits_free(&all);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("wait_graph");
    TCase *tc = tcase_create("wait_graph");

    tcase_add_test(tc, a_lock_is_waited_for_in_vain_only_if_a_thread_has_it);
    tcase_add_test(tc, a_reader_waits_for_a_writer_or_behind_one);
    tcase_add_test(tc,
                   a_call_that_all_make_is_about_to_end_if_all_have_made_it);
    tcase_add_test(tc,
                   a_rank_in_mpi_waits_in_vain_for_one_that_waits_in_hearth);
    tcase_add_test(tc,
                   ranks_that_wait_for_each_other_in_mpi_may_be_moving_data);
    tcase_add_test(tc, a_chain_of_ranks_in_mpi_may_end_in_hearth);
    tcase_add_test(
        tc, a_call_of_mpi_that_all_make_waits_for_a_rank_that_has_not_made_it);
    tcase_add_test(tc, what_is_said_names_who_waits_for_whom);
    tcase_add_test(tc, a_line_says_how_many_it_has_no_room_for);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
