/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Replacement in a cache of a few pages: what was evicted comes again as it is
 * at home, and what was stored in it has gone there.
 */
#include <stdlib.h>

#include "fixture.h"

enum { PAGES = 48, CACHED = 16, STEP = 61 };

static void
start_with_few_pages(void)
{
    fixture_start_with("CACHE", bytes_of_pages(CACHED));
}

static bool
has_evicted(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return hearth_nodes() == 1 || s.evictions > 0;
}

static unsigned char
pattern(size_t i, int round)
{
    return (unsigned char)(i / 7 + i / page_bytes() + (size_t)round * 31);
}

/* Runs of 64 bytes are dealt to the ranks. */
static void
fill(unsigned char *p, int round)
{
    for (size_t i = 0; i < PAGES * page_bytes(); i++)
        if ((int)(i / 64) % ranks == me)
            p[i] = pattern(i, round);
}

static long long
read_wrong(const unsigned char *p, int round)
{
    long long wrong = 0;

    for (size_t i = 0; i < PAGES * page_bytes(); i += STEP)
        wrong += p[i] != pattern(i, round);
    return wrong;
}

START_TEST(more_is_read_than_the_cache_holds)
{
    unsigned char *p = hearth_alloc(PAGES * page_bytes(), 1, hearth_cyclic(1));

    for (int round = 1; round <= 3; round++) {
        fill(p, round);
        barrier();
        expect_eq(read_wrong(p, round), 0);
        expect_eq(read_wrong(p, round), 0);
        barrier();
    }
    expect(has_evicted());
    hearth_free(p);
    all_expected();
}
END_TEST

/* Dirty pages are given up, come back, are written again. */
START_TEST(more_is_written_than_the_cache_holds)
{
    int64_t *p = pages_new(PAGES);
    uint64_t random = (uint64_t)me;

    for (int round = 1; round <= 4; round++) {
        for (int i = 0; i < 6 * PAGES; i++)
            word(p, (int)(hearthi_random(&random) % PAGES))[me]++;
        barrier();
        for (int i = 0; i < PAGES; i++) {
            hearth_lock(400 + i % 3);
            word(p, i)[100]++;
            hearth_unlock(400 + i % 3);
        }
        barrier();
    }
    for (int r = 0; r < ranks; r++) {
        int64_t sum = 0;

        for (int i = 0; i < PAGES; i++)
            sum += word(p, i)[r];
        expect_eq(sum, 4 * 6 * PAGES);
    }
    for (int i = 0; i < PAGES; i++)
        expect_eq(word(p, i)[100], 4 * ranks);
    expect(has_evicted());
    hearth_free(p);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("evict");
    TCase *tc = tcase_create("few pages");

    /* Which pages are here is played, and none may be foreseen. */
    setenv("HEARTH_PREDICT", "off", 1);

    tcase_add_unchecked_fixture(tc, start_with_few_pages, fixture_stop);
    tcase_add_test(tc, more_is_read_than_the_cache_holds);
    tcase_add_test(tc, more_is_written_than_the_cache_holds);
    suite_add_tcase(s, tc);
    return mpi_main(argc, argv, s);
}
