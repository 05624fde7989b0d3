/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Copies that ranks of a node take from each other, beside what fetches pages
 * in advance, and what moves them.
 */
#include <config.h>

#include "node_cache.h"

enum { USED = 12, PAGES = 72, TRAIN = 5 };

/* Pages to which no sequence leads. */
static volatile int64_t *
used(int64_t *p, int k)
{
    return word(p, 11 * (k / 2) + 5 * (k % 2));
}

static void
all_write(int64_t *p, int64_t value)
{
    for (int k = 0; me == HOME && k < USED; k++)
        *used(p, k) = value;
    barrier();
}

static void
all_read(int64_t *p, int64_t value)
{
    for (int k = 0; k < USED; k++)
        expect_eq(*used(p, k), value);
}

/* Who reads will have them foreseen from now on. */
static int64_t *
trained(bool reads)
{
    int64_t *p =
        hearth_alloc((size_t)PAGES * page_words(), sizeof *p, hearth_on(HOME));

    for (int k = 0; k < TRAIN; k++) {
        all_write(p, k);
        if (reads)
            all_read(p, k);
        barrier();
    }
    return p;
}

static hearth_stats
stats(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return s;
}

/* ---- in advance ---- */

START_TEST(ranks_of_a_node_foresee_different_pages)
{
    int64_t *p = trained(apart(me, HOME));
    uint64_t before, fetched = 0, all;

    mpi_barrier();
    before = stats().getpages;
    all_write(p, TRAIN);
    fetched = stats().getpages - before;
    MPI_Allreduce(&fetched, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    expect_timely(all == USED * nodes_apart());
    all_read(p, TRAIN);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* The taker goes on when the owner has. */
static void
owner_first(int tag)
{
    if (me == owner)
        tell(taker, tag);
    if (me == taker)
        told_by(owner, tag);
}

/* The owner touches one, and with it has all. */
static void
owner_has(int64_t *p, int64_t value)
{
    if (me == owner)
        expect_eq(*used(p, 0), value);
    owner_first(1);
}

START_TEST(what_a_rank_of_the_node_has_foreseen_is_taken)
{
    int64_t *p = trained(me == owner);

    all_write(p, TRAIN);
    owner_has(p, TRAIN);
    if (me == taker) {
        uint64_t before = stats().matepages;

        all_read(p, TRAIN);
        expect_timely(stats().matepages - before == USED);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(what_was_foreseen_and_dropped_is_not_taken)
{
    int64_t *p = trained(me == owner);

    all_write(p, TRAIN);
    owner_has(p, TRAIN);
    barrier();
    all_write(p, TRAIN + 1);
    owner_first(2); /* it has dropped them */
    if (me == taker)
        all_read(p, TRAIN + 1);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* What it was foreseen for came before the taker's acquire. */
START_TEST(what_was_foreseen_before_an_acquire_is_not_taken)
{
    int64_t *p = trained(me == owner);

    all_write(p, TRAIN);
    owner_has(p, TRAIN);
    if (me == taker)
        tell(HOME, 2);
    if (me == HOME && taker >= 0) {
        told_by(taker, 2);
        publish(LOCK, (int64_t *)(uintptr_t)used(p, 1), 77);
        tell(taker, 3);
    }
    if (me == taker) {
        told_by(HOME, 3);
        see(LOCK, (const int64_t *)(uintptr_t)used(p, 1), 77);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- pages that move ---- */

/* Written by one rank alone until they are at home on its node, whose other
 * rank has no copy from before, then by another node's; all read them. */
START_TEST(what_moved_here_and_away_is_not_taken_as_it_was)
{
    enum { MOVING = 16, ALONE = 9, TURNS = 3 };
    int64_t *p = hearth_alloc((size_t)MOVING * page_words(), sizeof *p,
                              hearth_on(HOME));
    int64_t  value = 0;

    for (int turn = 0; turn < TURNS && taker >= 0; turn++)
        for (int k = 0; k < ALONE; k++) {
            value++;
            for (int i = 0; me == (turn % 2 ? HOME : owner) && i < MOVING; i++)
                *word(p, i) = value;
            barrier();
            for (int i = 0; i < MOVING; i++)
                expect_eq(*(volatile int64_t *)word(p, i), value);
            barrier();
        }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

void
ahead_ones_add(TCase *tc)
{
    tcase_add_test(tc, ranks_of_a_node_foresee_different_pages);
    tcase_add_test(tc, what_a_rank_of_the_node_has_foreseen_is_taken);
    tcase_add_test(tc, what_was_foreseen_and_dropped_is_not_taken);
    tcase_add_test(tc, what_was_foreseen_before_an_acquire_is_not_taken);
}

void
moving_ones_add(TCase *tc)
{
    tcase_add_test(tc, what_moved_here_and_away_is_not_taken_as_it_was);
}
