/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Copies that a rank takes from another of its node: that one fetch serves
 * both, and what becomes of first copies.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "node_cache.h"

#include "page/node_cache.h"

int owner, taker;

static void
cast(void)
{
    owner = taker = -1;
    for (int a = 0; a < ranks && taker < 0; a++)
        for (int b = a + 1; b < ranks && taker < 0; b++)
            if (apart(a, HOME) && !apart(a, b)) {
                owner = a;
                taker = b;
            }
}

static void
start_with(const char *name, const char *value)
{
    setenv("HEARTH_NODE_CACHE", "on", 1);
    fixture_start_with(name, value);
    unsetenv("HEARTH_NODE_CACHE");
    cast();
}

/* Where it is played who has a copy, nobody is to have one in advance. */
static void
start(void)
{
    start_with("PREDICT", "off");
}

static void
small_start(void)
{
    setenv("HEARTH_CACHE", bytes_of_pages(16), 1);
    start();
    unsetenv("HEARTH_CACHE");
}

/* Pages that become new now and then would be fetched in other intervals. */
static void
ahead_start(void)
{
    start_with("PREDICT", "on");
}

static void
moving_start(void)
{
    setenv("HEARTH_MIGRATE", "on", 1);
    ahead_start();
    unsetenv("HEARTH_MIGRATE");
}

static void
off_start(void)
{
    fixture_start_with("NODE_CACHE", "off");
    cast();
}

int64_t *
page_new(void)
{
    int64_t *p = hearth_alloc(2 * page_words(), sizeof *p, hearth_on(HOME));

    barrier();
    return p;
}

static uint64_t
taken(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return s.matepages;
}

void
first_copies_pass(int64_t *p)
{
    for (int k = 0; k < 6; k++) {
        expect(*(volatile int64_t *)p >= 0);
        barrier();
    }
    if (me == HOME)
        p[0] = p[1] = p[page_words() - 1] = 0;
    barrier();
}

/* ---- one fetch ---- */

static uint64_t
of_all(uint64_t mine)
{
    uint64_t all;

    MPI_Allreduce(&mine, &all, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
    return all;
}

uint64_t
nodes_apart(void)
{
    uint64_t n = 0;

    for (int node = 0; node < hearth_nodes(); node++)
        n += node != hearth_node_of(HOME);
    return n;
}

/* Ranks of a node come to each page together, or one behind the other. */
static void
pages_read(const char *name, int64_t *p, int pages, bool together)
{
    hearth_stats a, b;
    uint64_t     fetched;

    hearth_get_stats(&a);
    for (int i = 0; i < pages; i++) {
        if (together)
            mpi_barrier();
        expect_eq(p[(size_t)i * page_words()], i);
    }
    hearth_get_stats(&b);
    fetched = of_all(b.getpages - a.getpages);
    harness_at(name, (int)fetched);
    /* Who has waited for a second does not wait any more. */
    expect(fetched >= (uint64_t)pages * nodes_apart());
    expect_timely(fetched <= (uint64_t)pages * nodes_apart() * 9 / 8);
    barrier();
}

START_TEST(ranks_of_a_node_that_miss_a_page_fetch_it_once)
{
    enum { PAGES = 256 };
    int64_t *p =
        hearth_alloc(PAGES * page_words(), sizeof *p, hearth_on(HOME));

    for (int i = 0; me == HOME && i < PAGES; i++)
        p[(size_t)i * page_words()] = i;
    barrier();
    for (int k = 0; k < 3; k++) {
        pages_read(__func__, p, PAGES, true);
        for (int i = 0; me == HOME && i < PAGES; i++)
            p[(size_t)i * page_words() + 1] = k;
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* A range that all ask for at once: each rank fetches a part. */
START_TEST(ranks_of_a_node_that_prefetch_a_range_fetch_it_once)
{
    enum { PAGES = 4096 };
    int64_t *p =
        hearth_alloc(PAGES * page_words(), sizeof *p, hearth_on(HOME));
    hearth_stats a, b;
    uint64_t     all;

    for (int i = 0; me == HOME && i < PAGES; i++)
        p[(size_t)i * page_words()] = i;
    barrier();
    hearth_get_stats(&a);
    hearth_prefetch(p, PAGES * page_bytes());
    for (int i = 0; i < PAGES; i++)
        expect_eq(p[(size_t)i * page_words()], i);
    hearth_get_stats(&b);
    all = of_all(b.getpages - a.getpages);
    /* Two may begin with the same piece in the same microsecond. */
    expect(all >= PAGES * nodes_apart());
    expect_timely(all <= PAGES * nodes_apart() * 5 / 4);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(with_off_nothing_is_taken)
{
    int64_t *p = page_new();

    expect_eq(p[0], 0);
    mpi_barrier();
    expect_eq(p[page_words()], 0);
    expect_eq(taken(), 0);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(who_comes_later_takes_what_is_there)
{
    int64_t *p = page_new();
    uint64_t before;

    first_copies_pass(p);
    before = taken();
    if (me == owner)
        expect_eq(p[0], 0);
    mpi_barrier();
    if (me == taker) {
        expect_eq(p[0], 0);
        expect_eq(taken() - before, 1);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- first copies ---- */

/* The home has looked at its flags, and is not told of new ones: its store is
 * in no notice. */
START_TEST(what_is_taken_of_a_first_copy_goes_at_the_next_acquire)
{
    int64_t *p = page_new();

    barrier();
    owner_reads(p, taker);
    if (me == taker) {
        owner_told();
        expect_eq(p[0], 0);
        expect(taken() > 0);
    }
    next_is_seen(p);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* What is taken of a later copy stays, and is told of. */
START_TEST(what_is_taken_of_a_later_copy_is_told_of)
{
    int64_t *p = page_new();

    for (int k = 0; k < 4; k++) { /* the taker never fetches */
        if (me == owner)
            expect_eq(p[0], 0);
        barrier();
    }
    if (me == owner)
        tell(taker, 1);
    if (me == taker) {
        told_by(owner, 1);
        expect_eq(p[0], 0);
        expect(taken() > 0);
        hearth_lock(2);
        hearth_unlock(2);
    }
    next_is_seen(p);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(as_many_ranks_find_copies_as_a_word_can_name)
{
    enum { MOST = 1023 };

    expect(hearthi_node_cache_crowd(2) == NULL);
    expect(hearthi_node_cache_crowd(MOST) == NULL);
    expect(hearthi_node_cache_crowd(MOST + 1) != NULL);
    all_expected();
}
END_TEST

static TCase *
tcase_with(Suite *s, const char *name, void (*setup)(void))
{
    TCase *tc = tcase_create(name);

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, setup, fixture_stop);
    suite_add_tcase(s, tc);
    return tc;
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("mates");
    TCase *tc = tcase_with(s, "on", start);
    TCase *small = tcase_with(s, "small", small_start);

    tcase_add_test(tc, ranks_of_a_node_that_miss_a_page_fetch_it_once);
    tcase_add_test(tc, ranks_of_a_node_that_prefetch_a_range_fetch_it_once);
    tcase_add_test(tc, who_comes_later_takes_what_is_there);
    tcase_add_test(tc, what_is_taken_of_a_first_copy_goes_at_the_next_acquire);
    tcase_add_test(tc, what_is_taken_of_a_later_copy_is_told_of);
    tcase_add_test(tc, as_many_ranks_find_copies_as_a_word_can_name);
    old_ones_add(tc);
    small_ones_add(small);
    beside_ones_add(small, tc);
    ahead_ones_add(tcase_with(s, "ahead", ahead_start));
    moving_ones_add(tcase_with(s, "moving", moving_start));
    tcase_add_test(tcase_with(s, "off", off_start), with_off_nothing_is_taken);
    return mpi_main(argc, argv, s);
}
