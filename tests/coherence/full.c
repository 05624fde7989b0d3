/* SPDX-License-Identifier: BSD-2-Clause
 *
 * More runs of pages than a log or a barrier has room for cost the copies of
 * pages nearby, not all copies.
 */
#include "flags.h"
#include "transport/transport.h"

enum { OTHERS = 64 };

/* Pages of which there are copies, and which nobody writes. */
static void
others_read(int64_t *other)
{
    int64_t sum = 0;

    for (int i = 0; i < OTHERS; i++)
        sum += word(other, i)[0];
    expect_eq(sum, 0);
}

/* A barrier of MPI's, which serves one-sided operations meanwhile. */
static void
turn_end(void)
{
    all_assert(true);
}

/* Each rank writes some pages of its own, apart from each other, and reads
 * others of which it has copies. */
static void
section_write(int64_t *mine, int64_t *other, int runs)
{
    hearth_lock(2201);
    for (int i = 0; i < runs; i++)
        word(mine, 2 * i)[0]++;
    others_read(other);
    hearth_unlock(2201);
}

/* Between two turns of a rank more is written than a log holds. */
START_TEST(a_full_log_costs_the_copies_of_pages_nearby_only)
{
    enum { ROUNDS = 10, WARM = 4 };
    int          runs = HEARTHI_LOG / ranks + 2;
    int64_t     *p = pages_new(ranks * 2 * runs);
    int64_t     *other = pages_new(OTHERS);
    hearth_stats before, after;

    for (int k = 0; k < ROUNDS; k++) {
        if (k == WARM)
            hearth_get_stats(&before);
        for (int r = 0; r < ranks; r++) {
            if (r == me)
                section_write(word(p, me * 2 * runs), other, runs);
            turn_end();
        }
    }
    hearth_get_stats(&after);
    expect_eq(after.everything, before.everything);
    expect(after.getpages - before.getpages < 2 * OTHERS);
    barrier();
    for (int i = 0; i < ranks * runs; i++)
        expect_eq(word(p, 2 * i)[0], ROUNDS);
    hearth_free(other);
    hearth_free(p);
    all_expected();
}
END_TEST

/* ---- a barrier ---- */

/* Some ranks write every second page of more than a rank may tell a barrier
 * of, and with small bounds of more than all may; the last has copies of pages
 * elsewhere, and of those, too. */
enum { RUNS = HEARTHI_NOTICES_OF_ONE + HEARTHI_NOTICES_OF_ONE / 8 };

/* Barriers after which no home has a flag left to report.  First copies go at
 * the first; a home that is at the second before this rank has fetched again
 * reports its flags at the third. */
enum { SETTLED = 5 };

static int
writers(void)
{
    return HEARTHI_BARRIER_NOTICES_MAX < 1000 && ranks > 2 ? ranks - 1 : 1;
}

static void
runs_expect(int64_t *p, int64_t value, int step)
{
    for (int i = 0; i < RUNS; i += step)
        expect_eq(word(p, 2 * i)[0], value == 0 ? 0 : value + i);
}

START_TEST(a_barrier_of_too_many_runs_keeps_the_copies_of_other_pages)
{
    size_t   words = page_bytes() / sizeof(int64_t);
    bool     reads = me == ranks - 1 && ranks > 1;
    int64_t *other = pages_new(OTHERS);
    int64_t *p = hearth_alloc(2 * RUNS * words * (size_t)writers(), sizeof *p,
                              hearth_on(ranks > 1));
    hearth_stats before, after;

    for (int k = 0; k < SETTLED; k++) {
        others_read(other);
        for (int w = 0; w < writers() && reads; w++)
            runs_expect(word(p, 2 * RUNS * w), 0, 7);
        barrier();
    }
    hearth_get_stats(&before);
    for (int i = 0; i < RUNS && me < writers(); i++)
        word(p, 2 * (RUNS * me + i))[0] = 1 + i;
    barrier();
    others_read(other);
    hearth_get_stats(&after);
    expect_eq(after.everything, before.everything);
    if (reads)
        expect_eq(after.getpages, before.getpages);
    for (int w = 0; w < writers() && reads; w++)
        runs_expect(word(p, 2 * RUNS * w), 1, 1);
    hearth_free(p);
    hearth_free(other);
    all_expected();
}
END_TEST

TCase *
full_lists(void)
{
    TCase *tc = tcase_create("full lists");

    tcase_add_unchecked_fixture(tc, fixture_start_unforeseen, fixture_stop);
    tcase_add_test(tc, a_full_log_costs_the_copies_of_pages_nearby_only);
    tcase_add_test(tc,
                   a_barrier_of_too_many_runs_keeps_the_copies_of_other_pages);
    return tc;
}
