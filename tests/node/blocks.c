/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What nodes tell each other at a barrier when their ranks have written side
 * by side: one run of pages a node, and each rank keeps its own copies.
 */
#include "fixture.h"

#include <string.h>

#include "cluster.h"
#include "transport/transport.h"
#include "world.h"

enum { EACH = 12, SETTLED = 6, ROUNDS = 8 };

static int64_t *pages; /* EACH at home on each rank */
static int      count;

static int
home_of(int page)
{
    return page / EACH;
}

/* Pages at home on one node are written by the ranks of the next one, by
 * turns. */
static int
writer_of(int page)
{
    const struct hearthi_world *w = &hearthi_world;
    int                         node, rank = 0, members = 0, nth;

    node = (w->node_of[home_of(page)] + 1) % w->nodes;
    for (int r = 0; r < ranks; r++)
        members += w->node_of[r] == node;
    nth = (page + 1) % members; /* the leader is not the first */
    while (w->node_of[rank] != node || w->node_rank_of[rank] != nth)
        rank++;
    return rank;
}

static bool
is_mine(int page)
{
    return writer_of(page) == me;
}

static void
pages_write(int64_t value)
{
    for (int i = 0; i < count; i++)
        if (is_mine(i))
            *word(pages, i) = value + i;
    hearth_release(pages, (size_t)count * page_bytes());
}

static void
pages_expect(int64_t value)
{
    for (int i = 0; i < count; i++)
        expect_eq(*word(pages, i), value + i);
}

/* Until no home has anything to report of its own. */
static void
start(void)
{
    count = ranks * EACH;
    pages = hearth_alloc((size_t)count, page_bytes(), hearth_block());
    for (int k = 1; k <= SETTLED; k++) {
        pages_write(k);
        barrier();
        pages_expect(k);
        barrier();
    }
}

static void
stop(void)
{
    hearth_free(pages);
    all_expected();
}

/* ---- bytes ---- */

/* Of all ranks, for a barrier. */
static uint64_t
barrier_bytes(void)
{
    hearth_stats before, after;
    uint64_t     mine, all;

    mpi_barrier();
    hearth_get_stats(&before);
    barrier();
    mpi_barrier();
    hearth_get_stats(&after);
    mine = after.message_bytes - before.message_bytes;
    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

/* A node has a word in 64 bytes.  Over udp each leader but the root tells his
 * run and learns those of all, beside what an empty barrier takes; a repeated
 * datagram makes some rounds more. */
static uint64_t
bytes_at_most(uint64_t empty)
{
    uint64_t nodes = (uint64_t)hearth_nodes();
    uint64_t notice = sizeof(struct hearthi_notice);

    if (strcmp(hearth_option("transport"), "mpi") == 0)
        return nodes * (nodes - 1) * 64;
    return empty + (nodes - 1) * (1 + nodes) * notice;
}

START_TEST(ranks_that_write_side_by_side_cost_their_node_one_run)
{
    uint64_t least = UINT64_MAX, empty = 0;

    start();
    for (int k = 0; k < ROUNDS; k++) {
        uint64_t none = barrier_bytes(), some;

        pages_write(100 * k);
        some = barrier_bytes();
        pages_expect(100 * k);
        empty = none > empty ? none : empty;
        least = some < least ? some : least;
    }
    expect_timely(least <= bytes_at_most(empty));
    stop();
}
END_TEST

/* ---- what a rank goes through ---- */

static int
own_node(int page)
{
    return hearthi_world.node_of[writer_of(page)] == hearthi_world.node;
}

/* Pages of this node's ranks one by one, those of others in long runs. */
static int
runs_to_learn(void)
{
    int runs = 0;

    for (int i = 0; i < count; i++) {
        if (own_node(i))
            runs += hearthi_cluster.node_size > 1;
        else
            runs += i == 0 || own_node(i - 1);
    }
    return runs;
}

START_TEST(ranks_learn_of_other_nodes_in_few_runs)
{
    hearth_stats before, after;

    start();
    pages_write(50);
    mpi_barrier();
    hearth_get_stats(&before);
    barrier();
    hearth_get_stats(&after);
    if (hearth_nodes() > 1)
        expect_eq(after.notices_in - before.notices_in, runs_to_learn());
    pages_expect(50);
    stop();
}
END_TEST

/* Does it cost nothing to read what this rank wrote? */
static void
mine_expect(int64_t value)
{
    hearth_stats before, after;

    hearth_get_stats(&before);
    for (int i = 0; i < count; i++)
        if (is_mine(i))
            expect_eq(*word(pages, i), value + i);
    hearth_get_stats(&after);
    expect_eq(after.getpages, before.getpages);
}

START_TEST(a_rank_that_wrote_alone_keeps_its_copies)
{
    start();
    for (int r = 0; r < ranks; r++) {
        if (r == me)
            pages_write(80 + r);
        barrier();
        if (r == me)
            mine_expect(80 + r);
        for (int i = 0; i < count; i++)
            if (writer_of(i) == r)
                expect_eq(*word(pages, i), 80 + r + i);
        barrier();
    }
    stop();
}
END_TEST

/* Whose neighbours are of ranks of its node, and at the ends of others. */
START_TEST(a_rank_keeps_its_copies_of_pages_that_it_alone_wrote)
{
    start();
    pages_write(70);
    barrier();
    mpi_barrier();
    mine_expect(70);
    pages_expect(70);
    stop();
}
END_TEST

/* Two of a node, or all. */
START_TEST(a_page_that_others_wrote_too_is_new_to_each_of_them)
{
    start();
    for (int k = 0; k < ROUNDS; k++) {
        for (int i = me % 2; i < count; i += 2)
            word(pages, i)[1 + me] = 1000 * k + me;
        pages_write(k);
        barrier();
        for (int i = 0; i < count; i++)
            for (int r = i % 2; r < ranks; r += 2)
                expect_eq(word(pages, i)[1 + r], 1000 * k + r);
        pages_expect(k);
        barrier();
    }
    stop();
}
END_TEST

static void
each_alone_start(void)
{
    fixture_start_with("UDP_LOCAL", "udp");
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("blocks");
    TCase *counts = tcase_create("blocks, counted");
    TCase *tc = tcase_create("blocks");
    TCase *alone = tcase_create("blocks, each rank for itself");

    tcase_add_unchecked_fixture(counts, fixture_start_unforeseen,
                                fixture_stop);
    tcase_add_test(counts,
                   ranks_that_write_side_by_side_cost_their_node_one_run);
    tcase_add_test(counts, ranks_learn_of_other_nodes_in_few_runs);
    suite_add_tcase(s, counts);
    tcase_add_unchecked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, a_rank_that_wrote_alone_keeps_its_copies);
    tcase_add_test(tc, a_rank_keeps_its_copies_of_pages_that_it_alone_wrote);
    tcase_add_test(tc, a_page_that_others_wrote_too_is_new_to_each_of_them);
    suite_add_tcase(s, tc);
    tcase_add_unchecked_fixture(alone, each_alone_start, fixture_stop);
    tcase_add_test(alone,
                   a_rank_keeps_its_copies_of_pages_that_it_alone_wrote);
    tcase_add_test(alone, a_page_that_others_wrote_too_is_new_to_each_of_them);
    suite_add_tcase(s, alone);
    return mpi_main(argc, argv, s);
}
