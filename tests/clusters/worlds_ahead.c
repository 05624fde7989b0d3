/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a gateway fetches ahead of ranks that follow a sequence, from memory
 * that is another cluster's.
 */
#include "worlds.h"

enum { PAGES = 256, SOME = 24 };

static hearth_stats
counted(void)
{
    hearth_stats mine, all;

    hearth_get_stats(&mine);
    MPI_Allreduce(&mine, &all, sizeof mine / sizeof(uint64_t), MPI_UINT64_T,
                  MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* The first rank of each cluster but the first one. */
static bool
is_reader(void)
{
    return hearth_cluster() != 0 &&
           (me == 0 || hearth_cluster_of(me - 1) != hearth_cluster());
}

/* All of them hold a number. */
static void
pages_write(int64_t *p, int64_t number)
{
    for (int i = 0; i < PAGES; i++)
        if (hearth_home(word(p, i)) == me)
            *word(p, i) = number + i;
    barrier();
}

static void
pages_read(const int64_t *p, int pages, int64_t number)
{
    for (int i = 0; is_reader() && i < pages; i++)
        expect_eq(*word((int64_t *)p, i), number + i);
}

static int64_t *
memory(void)
{
    return hearth_alloc(PAGES * page_bytes(), 1,
                        hearth_within(hearth_block(), UINT64_C(1)));
}

START_TEST(what_a_sequence_wants_comes_ahead_and_once)
{
    hearth_stats before, after;
    int64_t     *p;
    int          readers;

    fixture_start_with("PREDICT", "off");
    readers = hearth_clusters() - 1;
    p = memory();
    for (int turn = 1; turn <= 2; turn++) {
        pages_write(p, turn * PAGES);
        before = counted();
        pages_read(p, PAGES, turn * PAGES);
        MPI_Barrier(MPI_COMM_WORLD);
        after = counted();
        expect_eq((long long)(after.far_pages - before.far_pages),
                  PAGES * readers);
        expect_timely((after.far_kept - before.far_kept) * 3 >=
                      (uint64_t)(PAGES * readers));
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* Ranks of a cluster that begin at different pages: each page comes once,
 * though what one asks for is on its way for another in part. */
START_TEST(what_several_want_in_part_comes_once)
{
    hearth_stats before, after;
    int64_t     *p;
    int          first;

    fixture_start_with("PREDICT", "off");
    p = memory();
    for (first = me;
         first > 0 && hearth_cluster_of(first - 1) == hearth_cluster();)
        first--;
    for (int turn = 1; turn <= 8; turn++) {
        pages_write(p, turn * PAGES);
        before = counted();
        for (int i = (me - first) * 5; hearth_cluster() != 0 && i < PAGES; i++)
            expect_eq(*word(p, i), turn * PAGES + i);
        pages_read(p, PAGES, turn * PAGES);
        MPI_Barrier(MPI_COMM_WORLD);
        after = counted();
        expect_eq((long long)(after.far_pages - before.far_pages),
                  PAGES * (hearth_clusters() - 1));
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* Nobody has looked at what the gateway has when it is written. */
START_TEST(what_came_ahead_is_dropped_when_it_is_written)
{
    int64_t *p;

    fixture_start();
    p = memory();
    for (int turn = 1; turn <= 4; turn++) {
        pages_write(p, turn * PAGES);
        pages_read(p, SOME, turn * PAGES);
        barrier();
        pages_write(p, turn * PAGES + 7);
        pages_read(p, PAGES, turn * PAGES + 7);
        barrier();
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* What is on its way when memory is freed is not taken for what lies there
 * next, on other ranks. */
START_TEST(what_comes_ahead_may_be_freed)
{
    fixture_start();
    for (int turn = 1; turn <= 6; turn++) {
        int64_t *p = memory(), *q;

        pages_write(p, turn * PAGES);
        pages_read(p, SOME, turn * PAGES);
        hearth_free(p);
        q = hearth_alloc(PAGES * page_bytes(), 1,
                         turn % 2 ? hearth_on_cluster(hearth_clusters() - 1)
                                  : hearth_on_cluster(0));
        pages_write(q, -turn * PAGES);
        for (int i = 0; i < PAGES; i++)
            expect_eq(*word(q, i), -turn * PAGES + i);
        hearth_free(q);
    }
    all_expected();
    fixture_stop();
}
END_TEST

/* The last thing that a rank does is to read a little of much. */
START_TEST(what_comes_ahead_may_come_at_the_end)
{
    for (int turn = 1; turn <= 4; turn++) {
        int64_t *p;

        fixture_start();
        p = memory();
        pages_write(p, turn * PAGES);
        pages_read(p, SOME, turn * PAGES);
        all_expected();
        fixture_stop();
    }
}
END_TEST

void
worlds_ahead_tests(TCase *tc)
{
    tcase_add_test(tc, what_a_sequence_wants_comes_ahead_and_once);
    tcase_add_test(tc, what_several_want_in_part_comes_once);
    tcase_add_test(tc, what_came_ahead_is_dropped_when_it_is_written);
    tcase_add_test(tc, what_comes_ahead_may_be_freed);
    tcase_add_test(tc, what_comes_ahead_may_come_at_the_end);
}
