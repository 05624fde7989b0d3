/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Memory that will be overwritten: what it costs, and that no byte is lost of
 * what was stored, of what others stored beside it, and of what comes later.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "page/overwrite.h"

enum { PAGES = 48 };

static unsigned char
value(int r, size_t i, int round)
{
    return (unsigned char)(1 + (i * 7 + (size_t)r * 31 + (size_t)round) % 251);
}

static int
next_rank(void)
{
    return (me + 1) % ranks;
}

/* Bytes for each rank, at home on the next one; gives that of a rank. */
static unsigned char *
bytes_new(unsigned char **of, size_t bytes)
{
    for (int r = 0; r < ranks; r++)
        of[r] = hearth_alloc(bytes, 1, hearth_on((r + 1) % ranks));
    return of[me];
}

static void
all_free(unsigned char **of)
{
    for (int r = 0; r < ranks; r++)
        hearth_free(of[r]);
}

static void
fill(unsigned char *p, size_t from, size_t to, int round)
{
    for (size_t i = from; i < to; i++)
        p[i] = value(me, i, round);
}

static bool
is_filled(const unsigned char *p, int r, size_t from, size_t to, int round)
{
    for (size_t i = from; i < to; i++)
        if (p[i] != value(r, i, round))
            return false;
    return true;
}

static uint64_t
remote(uint64_t pages)
{
    return apart(me, next_rank()) ? pages : 0;
}

START_TEST(nothing_is_fetched_or_compared_and_all_arrives)
{
    const size_t   bytes = PAGES * page_bytes();
    unsigned char *of[64], *p = bytes_new(of, bytes);
    hearth_stats   a, b;

    for (int round = 0; round < 4; round++) {
        hearth_barrier();
        hearth_get_stats(&a);
        hearth_overwrite(p, bytes);
        hearth_overwrite(p, 0);
        fill(p, 0, bytes, round);
        hearth_get_stats(&b);
        expect_eq(b.getpages - a.getpages, 0);
        expect_eq(b.twins - a.twins, 0);
        expect_eq(b.overwritten - a.overwritten, remote(PAGES));
        hearth_barrier();
        for (int r = 0; r < ranks; r++)
            expect(is_filled(of[r], r, 0, bytes, round));
    }
    all_free(of);
    all_expected();
}
END_TEST

/* A half of the first and of the last page is another rank's. */
START_TEST(what_others_write_in_the_pages_at_the_ends_stays)
{
    const size_t   bytes = PAGES * page_bytes(), half = page_bytes() / 2;
    unsigned char *of[64], *p = bytes_new(of, bytes);
    unsigned char *other = of[next_rank()];

    for (int round = 0; round < 4; round++) {
        hearth_barrier();
        hearth_overwrite(p + half, bytes - page_bytes());
        memset(other, 1 + round, half);
        fill(p, half, bytes - half, round);
        memset(other + bytes - half, 1 + round, half);
        hearth_barrier();
        for (int r = 0; r < ranks; r++) {
            expect(is_filled(of[r], r, half, bytes - half, round));
            for (size_t i = 0; i < half; i++)
                expect(of[r][i] == 1 + round &&
                       of[r][bytes - 1 - i] == 1 + round);
        }
    }
    all_free(of);
    all_expected();
}
END_TEST

/* The end of an allocation is nobody else's, wherever it lies in its page. */
START_TEST(the_last_page_of_an_allocation_counts_as_whole)
{
    const size_t   bytes = 2 * page_bytes() + 100;
    unsigned char *of[64], *p = bytes_new(of, bytes);
    hearth_stats   a, b;

    hearth_barrier();
    hearth_get_stats(&a);
    hearth_overwrite(p, bytes);
    fill(p, 0, bytes, 1);
    hearth_get_stats(&b);
    expect_eq(b.overwritten - a.overwritten, remote(3));
    hearth_barrier();
    for (int r = 0; r < ranks; r++)
        expect(is_filled(of[r], r, 0, bytes, 1));
    all_free(of);
    all_expected();
}
END_TEST

/* With a cache of few pages all of them have gone home between two sweeps. */
START_TEST(what_was_stored_before_a_page_went_home_stays)
{
    enum { PARTS = 4 };
    const size_t   bytes = PAGES * page_bytes();
    unsigned char *of[64], *p = bytes_new(of, bytes);

    for (int round = 0; round < 3; round++) {
        hearth_barrier();
        hearth_overwrite(p, bytes);
        for (size_t part = 0; part < PARTS; part++)
            for (size_t page = 0; page < PAGES; page++) {
                size_t at = page * page_bytes() + part * page_bytes() / PARTS;

                fill(p, at, at + page_bytes() / PARTS, round);
            }
        hearth_barrier();
        for (int r = 0; r < ranks; r++)
            expect(is_filled(of[r], r, 0, bytes, round));
    }
    all_free(of);
    all_expected();
}
END_TEST

START_TEST(what_its_home_writes_later_is_seen)
{
    const size_t   bytes = PAGES * page_bytes();
    unsigned char *of[64], *p = bytes_new(of, bytes);
    int            before = (me + ranks - 1) % ranks;

    for (int round = 0; round < 4; round++) {
        hearth_barrier();
        hearth_overwrite(p, bytes);
        fill(p, 0, bytes, round);
        hearth_barrier();
        /* At home here, and no other rank ever fetched it. */
        memset(of[before], 200 + round, bytes);
        hearth_barrier();
        for (size_t i = 0; i < bytes; i += 64)
            expect_eq(p[i], 200 + round);
    }
    all_free(of);
    all_expected();
}
END_TEST

/* Every second page is a range, first as many as are known and then one more:
 * the page of one is fetched then. */
START_TEST(the_oldest_range_that_is_overwritten_gives_way)
{
    enum { RANGES = HEARTHI_OVERWRITE_RANGES };
    const size_t   bytes = 2 * (RANGES + 1) * page_bytes();
    unsigned char *of[64], *p = bytes_new(of, bytes);
    hearth_stats   a, b;

    for (size_t n = RANGES; n <= RANGES + 1; n++) {
        hearth_barrier();
        hearth_get_stats(&a);
        for (size_t i = 0; i < n; i++)
            hearth_overwrite(p + 2 * i * page_bytes(), page_bytes());
        for (size_t i = 0; i < n; i++)
            memset(p + 2 * i * page_bytes(), (int)(n + i), page_bytes());
        hearth_get_stats(&b);
        expect_eq(b.overwritten - a.overwritten, remote(RANGES));
        hearth_barrier();
        for (int r = 0; r < ranks; r++)
            for (size_t i = 0; i < n; i++)
                expect_eq(of[r][(2 * i + 1) * page_bytes() - 1], n + i);
    }
    all_free(of);
    all_expected();
}
END_TEST

/* One word is stored afterwards; the rest of the page is another's. */
static void
stored_later(unsigned char **of, void (*synchronise)(void))
{
    unsigned char *p = of[me], *other = of[next_rank()];

    hearth_barrier();
    hearth_overwrite(p, page_bytes());
    synchronise();
    p[0] = 1;
    other[1] = 2;
    hearth_barrier();
    expect_eq(p[0], 1);
    expect_eq(p[1], 2);
    expect_eq(p[page_bytes() - 1], 77);
}

/* One that all want: it comes from another rank, or goes to one. */
static int64_t *counter;

static void
by_lock(void)
{
    hearth_lock(5);
    ++*counter;
    hearth_unlock(5);
    mpi_barrier();
}

static void
by_release(void)
{
    hearth_release(NULL, 0);
}

static void
by_acquire(void)
{
    hearth_acquire(NULL, 0);
}

START_TEST(a_promise_ends_where_the_rank_synchronises)
{
    static void (*const ways[])(void) = { hearth_barrier, by_release,
                                          by_acquire, by_lock };
    unsigned char *of[64];

    counter = hearth_alloc(1, sizeof *counter, hearth_on(0));
    for (size_t w = 0; w < sizeof ways / sizeof *ways; w++) {
        bytes_new(of, page_bytes());
        memset(of[me], 77, page_bytes());
        stored_later(of, ways[w]);
        all_free(of);
    }
    hearth_free(counter);
    all_expected();
}
END_TEST

/* Held over barriers, between which another rank writes a word of it. */
START_TEST(a_page_that_is_held_in_between_is_whole)
{
    const size_t   bytes = 4 * page_bytes();
    unsigned char *of[64], *p = bytes_new(of, bytes);

    for (int round = 0; round < 3; round++) {
        hearth_barrier();
        hearth_overwrite(p, bytes);
        fill(p, 0, bytes / 2 + 10, round);
        hearth_hold(p, bytes, HEARTH_READ | HEARTH_WRITE);
        fill(p, bytes / 2 + 10, bytes, round);
        hearth_barrier();
        for (int r = 0; r < ranks; r++)
            expect(is_filled(of[r], r, 0, bytes, round));
        hearth_barrier();
        of[next_rank()][0] = 0;
        p[1] = 0;
        hearth_barrier();
        expect_eq(p[0], 0);
        expect_eq(p[1], 0);
        expect(is_filled(p, me, 2, bytes, round));
        hearth_drop(p, bytes, HEARTH_READ | HEARTH_WRITE);
    }
    all_free(of);
    all_expected();
}
END_TEST

/* More of them than are kept: those that are forgotten are fetched. */
START_TEST(many_ranges_are_right)
{
    const size_t   bytes = PAGES * page_bytes();
    unsigned char *of[64], *p = bytes_new(of, bytes);

    hearth_barrier();
    for (size_t i = 0; i < PAGES; i += 2)
        hearth_overwrite(p + i * page_bytes(), page_bytes());
    for (size_t i = PAGES; i-- > 0;)
        fill(p, i * page_bytes(), (i + 1) * page_bytes(), 5);
    hearth_barrier();
    for (int r = 0; r < ranks; r++)
        expect(is_filled(of[r], r, 0, bytes, 5));
    all_free(of);
    all_expected();
}
END_TEST

static void
small_cache_start(void)
{
    fixture_start_with("CACHE", bytes_of_pages(16));
}

static TCase *
tests_of(const char *name, void (*start)(void))
{
    TCase *tc = tcase_create(name);

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, start, fixture_stop);
    tcase_add_test(tc, nothing_is_fetched_or_compared_and_all_arrives);
    tcase_add_test(tc, what_others_write_in_the_pages_at_the_ends_stays);
    tcase_add_test(tc, the_last_page_of_an_allocation_counts_as_whole);
    tcase_add_test(tc, what_was_stored_before_a_page_went_home_stays);
    tcase_add_test(tc, what_its_home_writes_later_is_seen);
    tcase_add_test(tc, the_oldest_range_that_is_overwritten_gives_way);
    tcase_add_test(tc, a_promise_ends_where_the_rank_synchronises);
    tcase_add_test(tc, a_page_that_is_held_in_between_is_whole);
    tcase_add_test(tc, many_ranges_are_right);
    return tc;
}

int
main(int argc, char **argv)
{
    Suite *s = suite_create("overwrite");

    suite_add_tcase(s, tests_of("cache", fixture_start));
    suite_add_tcase(s, tests_of("small", small_cache_start));
    return mpi_main(argc, argv, s);
}
