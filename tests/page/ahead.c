/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Faults in patterns: that all loads are right, how few faults and messages a
 * pattern costs, and that a pattern which has none fetches nothing in vain.
 */
#include <config.h>

#include <stdlib.h>
#include <string.h>

#include "fixture.h"
#include "page/page.h"
#include "page/read_mostly.h"

enum { PAGES = 2048, MOST = 4096, USED = 512 }; /* words of a page */
enum { TABLE = 40 };

/* Pages at home on the next rank, each with its number in all words that are
 * used. */
static int64_t *
words_new(hearth_layout layout)
{
    int64_t *p = hearth_alloc((size_t)PAGES * page_words(), sizeof *p, layout);

    for (size_t i = 0; i < PAGES; i++)
        if (hearth_home(p + i * page_words()) == me)
            for (size_t k = 0; k < USED; k++)
                p[i * page_words() + k] = (int64_t)(i + 1);
    barrier();
    return p;
}

struct cost {
    uint64_t faults, pages, ahead, wrong;
};

/* Load a word of each of these pages, or store to it, in this order. */
static struct cost
cost_of(int64_t *p, const int *order, int n, bool write)
{
    volatile int64_t *w = p;
    struct cost       c = { 0 };
    hearth_stats      a, b;

    hearth_get_stats(&a);
    for (int i = 0; i < n; i++) {
        size_t at = (size_t)order[i] * page_words() + (size_t)i % USED;

        if (write)
            w[at] = -order[i] - 1;
        else
            c.wrong += w[at] != order[i] + 1;
    }
    hearth_get_stats(&b);
    c.faults = b.read_faults - a.read_faults + b.write_faults - a.write_faults;
    c.pages = b.getpages + b.matepages - a.getpages - a.matepages;
    c.ahead = b.ahead - a.ahead;
    return c;
}

static int order[MOST];

/* The pages from `first` on, at this distance. */
static int
order_row(int first, int stride)
{
    int n = 0;

    for (int page = first; page >= 0 && page < PAGES; page += stride)
        order[n++] = page;
    return n;
}

static void
order_shuffle(int n, uint64_t seed)
{
    for (int i = n - 1; i > 0; i--) {
        int k = (int)(hearthi_random(&seed) % (uint64_t)(i + 1));
        int page = order[i];

        order[i] = order[k];
        order[k] = page;
    }
}

/* Each rank reads pages of the next one. */
static bool
is_remote(void)
{
    return apart(me, (me + 1) % ranks);
}

/* Read pages in the order that is made by now, one rank after the other. */
static struct cost
read_cost(int n)
{
    struct cost mine = { 0 };

    for (int r = 0; r < ranks; r++) {
        int64_t *p = words_new(hearth_on((r + 1) % ranks));

        if (r == me)
            mine = cost_of(p, order, n, false);
        barrier();
        hearth_free(p);
    }
    expect_eq(mine.wrong, 0);
    return mine;
}

/* It is followed from its third fault on, and takes what is read. */
START_TEST(a_row_of_faults_at_any_distance_is_followed)
{
    static const int strides[] = { 1, -1, 2, -2, 3, 7, -16 };

    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
        int         stride = strides[i];
        int         n = order_row(stride > 0 ? 0 : PAGES - 1, stride);
        struct cost c = read_cost(n);

        if (!is_remote())
            continue;
        expect_eq(c.pages, n);
        expect(c.faults <= (uint64_t)n / 32 + 8);
        expect_eq(c.ahead, c.pages - c.faults);
    }
    all_expected();
}
END_TEST

/* What a fault brings at most, of a row that is long enough. */
static uint64_t
most_of_a_fault(int64_t *p)
{
    volatile int64_t *w = p;
    hearth_stats      a, b;
    uint64_t          most = 0;

    for (size_t i = 0; i < PAGES; i++) {
        hearth_get_stats(&a);
        expect_eq(w[i * page_words()], i + 1);
        hearth_get_stats(&b);
        if (b.getpages - a.getpages > most)
            most = b.getpages - a.getpages;
    }
    return most;
}

/* 512 pages of 4 KiB, and not 512 of 64. */
START_TEST(a_fault_fetches_as_many_bytes_of_pages_of_any_length)
{
    int64_t *p = words_new(hearth_on(0));

    if (me == ranks - 1 && apart(0, me) && page_bytes() <= 1 << 20)
        expect_eq(most_of_a_fault(p) * page_bytes(), 2 << 20);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* A row that ends costs no more in vain than it had pages. */
START_TEST(what_a_row_fetches_in_vain_is_bounded)
{
    static const int strides[] = { 1, -1, 3, -5 };

    for (size_t i = 0; i < sizeof strides / sizeof *strides; i++)
        for (int n = 1; n <= 64; n += 7) {
            struct cost c;

            order_row(PAGES / 2, strides[i]);
            c = read_cost(n);
            expect(c.pages <= 2 * (uint64_t)n + 4);
        }
    all_expected();
}
END_TEST

START_TEST(single_pages_here_and_there_fetch_nothing_else)
{
    int n = 0;

    for (int page = 3; page < PAGES; page += 17)
        order[n++] = page;
    order_shuffle(n, 7);
    expect_eq(read_cost(n).ahead, 0);
    all_expected();
}
END_TEST

/* Of all homes, in no order, some of them twice and some across a seam.  None
 * that was not named comes, and no fault is left. */
START_TEST(pages_of_many_places_come_in_a_few_rounds)
{
    enum { MANY = 200 };
    int64_t     *p = words_new(hearth_cyclic(1));
    const void  *place[MANY + 3];
    size_t       bytes[MANY + 3], far = 0;
    hearth_stats a, b;
    struct cost  c;

    for (int i = 0; i < MANY; i++) {
        order[i] = (i * 611 + 3) % PAGES;
        far += apart(me, hearth_home(p + (size_t)order[i] * page_words()));
        place[i] = p + (size_t)order[i] * page_words() + 5;
        bytes[i] = 8;
    }
    place[MANY] = place[17];
    bytes[MANY] = 100;
    place[MANY + 1] = NULL;
    bytes[MANY + 1] = 0;
    place[MANY + 2] = place[3];
    bytes[MANY + 2] = 1;
    hearth_get_stats(&a);
    hearth_prefetchv(place, bytes, MANY + 3);
    hearth_prefetchv(place, bytes, 0);
    hearth_get_stats(&b);
    /* What another rank of the node has is no fetch. */
    expect_eq(b.getpages - a.getpages + b.matepages - a.matepages, far);
    c = cost_of(p, order, MANY, false);
    expect_eq(c.wrong, 0);
    expect_eq(c.pages, 0);
    expect_eq(c.faults, 0);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(a_region_that_is_read_whole_comes_in_groups)
{
    struct cost c;

    order_shuffle(order_row(0, 1), 11);
    c = read_cost(PAGES);
    if (is_remote()) {
        expect_eq(c.pages, PAGES);
        expect(c.faults <= PAGES / 2);
    }
    all_expected();
}
END_TEST

/* A page of each eighth has other pages at its side that nobody wants. */
START_TEST(a_region_of_which_a_quarter_is_read_comes_page_by_page)
{
    struct cost c;
    int         n = 0;

    for (int page = 0; page < PAGES; page += 8) {
        order[n++] = page + 1;
        order[n++] = page + 6;
    }
    order_shuffle(n, 13);
    c = read_cost(n);
    if (is_remote())
        expect(c.ahead <= (uint64_t)n / 4);
    all_expected();
}
END_TEST

/* It is dense, and yet half of it is never read. */
START_TEST(every_second_page_at_random_fetches_no_other)
{
    struct cost c;
    int         n = order_row(0, 2);

    order_shuffle(n, 17);
    c = read_cost(n);
    expect(c.pages <= (uint64_t)n + (uint64_t)n / 16);
    all_expected();
}
END_TEST

/* Rows of writes that take turns: each is opened ahead, and all that was
 * stored arrives. */
START_TEST(many_rows_of_writes_are_followed)
{
    enum { ROWS = 32, EACH = PAGES / ROWS };

    for (int i = 0; i < PAGES; i++)
        order[i] = i % ROWS * EACH + i / ROWS;
    for (int r = 0; r < ranks; r++) {
        int64_t *p = words_new(hearth_on((r + 1) % ranks));

        if (r == me) {
            struct cost c = cost_of(p, order, PAGES, true);

            if (is_remote()) {
                expect_eq(c.pages, PAGES);
                expect(c.faults <= PAGES / 4);
            }
        }
        barrier();
        for (int i = 0; i < PAGES; i++) {
            int64_t page = order[i];

            expect_eq(p[page * page_words() + i % USED], -page - 1);
            expect_eq(p[page * page_words() + (i + 1) % USED], page + 1);
        }
        barrier();
        hearth_free(p);
    }
    all_expected();
}
END_TEST

static uint64_t
n_remote(const int64_t *p, int n)
{
    uint64_t remote = 0;

    for (int i = 0; i < n; i++)
        remote += apart(me, hearth_home(p + (size_t)order[i] * page_words()));
    return remote;
}

static bool small_cache;

/* Over pages of all homes, and beside other allocations: a row ends where the
 * allocation does. */
START_TEST(a_row_goes_over_homes_and_not_beyond_its_allocation)
{
    static const int strides[] = { 2, -1, 1, -3 };
    hearth_layout    all[] = { hearth_cyclic(1), hearth_cyclic(3),
                               hearth_block() };

    for (size_t l = 0; l < sizeof all / sizeof *all; l++) {
        int64_t *before = words_new(hearth_block());
        int64_t *p = words_new(all[l]);
        int64_t *behind = words_new(hearth_block());

        for (size_t i = 0; i < sizeof strides / sizeof *strides; i++) {
            int n = order_row(strides[i] > 0 ? 0 : PAGES - 1, strides[i]);
            struct cost c;

            barrier();
            c = cost_of(p, order, n, false);
            expect_eq(c.wrong, 0);
            if (i == 0 && !small_cache)
                expect_eq(c.pages, n_remote(p, n));
            barrier();
        }
        expect_eq(cost_of(before, order, 1, false).wrong, 0);
        expect_eq(cost_of(behind, order, 1, false).wrong, 0);
        barrier();
        hearth_free(before);
        hearth_free(p);
        hearth_free(behind);
    }
    all_expected();
}
END_TEST

static void
small_cache_start(void)
{
    small_cache = true;
    fixture_start_with("CACHE", bytes_of_pages(16));
}

static void
alone_start(void)
{
    fixture_start_with("FETCH_AHEAD", "1");
}

START_TEST(fetch_ahead_1_fetches_what_is_touched)
{
    struct cost c;

    order_shuffle(order_row(0, 2), 3);
    c = read_cost(PAGES / 2);
    expect_eq(c.ahead, 0);
    order_row(PAGES - 1, -1);
    c = read_cost(PAGES);
    expect_eq(c.ahead, 0);
    all_expected();
}
END_TEST

/* A table that each rank reads after every barrier, while no rank writes; then
 * its home writes a word. */
static uint64_t
table_read(int64_t *p, int64_t first)
{
    hearth_stats a, b;

    hearth_get_stats(&a);
    expect_eq(*(volatile int64_t *)p, first);
    for (size_t i = 1; i < TABLE; i++)
        expect_eq(*(volatile int64_t *)(p + i * page_words()), (int64_t)i + 1);
    hearth_get_stats(&b);
    expect_eq(b.twins - a.twins, 0);
    return b.getpages - a.getpages + b.matepages - a.matepages;
}

/* This rank has written pages of others before.  A home may come to the first
 * barrier before it is told. */
START_TEST(what_is_read_mostly_is_fetched_once_and_has_no_twins)
{
    int64_t *p = hearth_alloc(TABLE * page_words(), sizeof *p, hearth_on(0));
    uint64_t far = apart(me, 0) ? TABLE : 0;

    hearth_read_mostly(p, TABLE * page_bytes());
    barrier();
    for (size_t i = (size_t)me; i < TABLE; i += (size_t)ranks)
        p[i * page_words()] = (int64_t)i + 1;
    barrier();
    expect(table_read(p, 1) <= far);
    for (int k = 0; k < 2; k++) {
        barrier();
        expect_eq(table_read(p, 1), 0);
    }
    mpi_barrier();
    if (me == 0)
        p[0] = 77;
    barrier();
    expect_eq(table_read(p, 77), far > 0);
    barrier();
    expect_eq(table_read(p, 77), 0);
    barrier();
    if (me == ranks - 1)
        p[0] = 78;
    barrier();
    table_read(p, 78);
    barrier();
    expect_eq(table_read(p, 78), 0);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

static bool
is_read_mostly(const int64_t *p)
{
    bool is;

    hearthi_table_lock();
    is = hearthi_is_read_mostly(hearthi_page_of(p));
    hearthi_table_unlock();
    return is;
}

/* Every second page is a range. */
START_TEST(the_oldest_range_that_is_read_mostly_gives_way)
{
    enum { RANGES = HEARTHI_READ_MOSTLY_RANGES };
    int64_t *p = hearth_alloc(2 * (RANGES + 1) * page_words(), sizeof *p,
                              hearth_block());
    bool     any = hearth_nodes() > 1;

    for (int i = 0; i < RANGES; i++)
        hearth_read_mostly(word(p, 2 * i), page_bytes());
    for (int i = 0; i < RANGES; i++) {
        expect_eq(is_read_mostly(word(p, 2 * i)), any);
        expect(!is_read_mostly(word(p, 2 * i + 1)));
    }
    hearth_read_mostly(word(p, 2 * RANGES), page_bytes());
    expect(!is_read_mostly(p));
    for (int i = 1; i <= RANGES; i++)
        expect_eq(is_read_mostly(word(p, 2 * i)), any);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Pages at home on rank 0, of which the last rank has written a word and rank
 * 0 writes another one in each of its intervals. */
static void
home_writes(int64_t *p, int64_t value)
{
    if (me == 0)
        for (size_t i = 0; i < TABLE; i++)
            p[i * page_words() + 1] = value;
    barrier();
}

static void
last_stores(int64_t *p, int64_t value)
{
    for (size_t i = 0; i < TABLE; i++)
        p[i * page_words()] = value;
}

START_TEST(what_was_written_once_is_read_without_a_twin)
{
    int64_t *p = hearth_alloc(TABLE * page_words(), sizeof *p, hearth_on(0));
    hearth_stats a, b;

    barrier();
    if (me == ranks - 1)
        last_stores(p, 7);
    barrier();
    for (int64_t k = 1; k < 4; k++) {
        home_writes(p, k);
        hearth_get_stats(&a);
        for (size_t i = 0; me == ranks - 1 && i < TABLE; i++) {
            volatile int64_t *w = p + i * page_words();

            expect(w[0] == 7 && w[1] == k);
        }
        hearth_get_stats(&b);
        expect_eq(b.twins - a.twins, 0);
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Both write in each interval, each its own word. */
START_TEST(what_is_written_in_two_intervals_in_a_row_is_opened_by_its_fetch)
{
    int64_t *p = hearth_alloc(TABLE * page_words(), sizeof *p, hearth_on(0));
    bool     far = me == ranks - 1 && apart(me, 0);
    hearth_stats a, b, c;

    barrier();
    for (int64_t k = 0; k < 5; k++) {
        for (size_t i = 0; me == 0 && i < TABLE; i++)
            p[i * page_words() + 1] = k;
        hearth_get_stats(&a);
        for (size_t i = 0; me == ranks - 1 && i < TABLE; i++)
            expect_eq(*(volatile int64_t *)(p + i * page_words()), k);
        hearth_get_stats(&b);
        if (me == ranks - 1)
            last_stores(p, k + 1);
        hearth_get_stats(&c);
        if (k > 2 && far) {
            expect_eq(b.twins - a.twins, TABLE);
            expect_eq(c.write_faults - b.write_faults, 0);
        }
        barrier();
    }
    hearth_free(p);
    all_expected();
}
END_TEST

static TCase *
tcase_with(Suite *s, const char *name, void (*start)(void))
{
    TCase *tc = tcase_create(name);

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, start, fixture_stop);
    suite_add_tcase(s, tc);
    return tc;
}

static uint64_t
pages_fetched(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return s.getpages + s.matepages;
}

/* A table that all read in each of so many intervals; how many pages came. */
static uint64_t
table_read_again(int64_t *p, int n, int intervals, int64_t wanted)
{
    uint64_t before = pages_fetched();
    int      wrong = 0;

    for (int k = 0; k < intervals; k++) {
        for (int i = 0; i < n; i++)
            wrong += word(p, i)[0] != wanted;
        barrier();
    }
    expect_eq(wrong, 0);
    return pages_fetched() - before;
}

/* Each page by its home. */
static void
table_write(int64_t *p, int n, int64_t value)
{
    for (int i = 0; i < n; i++)
        if (hearth_home(word(p, i)) == me)
            word(p, i)[0] = value;
    barrier();
}

/* First copies are dropped; the home arms their pages then, and reports
 * nothing that would drop the second. */
static void
twice_fetch(int n, hearth_layout layout)
{
    int64_t *p = hearth_alloc((size_t)n * page_words(), sizeof *p, layout);
    uint64_t far = 0;

    for (int i = 0; i < n; i++)
        far += apart(me, hearth_home(word(p, i)));
    table_write(p, n, 1);
    expect_eq(table_read_again(p, n, 6, 1), 2 * far);
    table_write(p, n, 2);
    expect_eq(table_read_again(p, n, 3, 2), far);
    hearth_free(p);
}

START_TEST(what_no_rank_writes_is_fetched_twice)
{
    twice_fetch(TABLE, hearth_on(0));
    all_expected();
}
END_TEST

/* Pages of each home do not follow each other, and their frames do. */
START_TEST(pages_that_are_dealt_are_fetched_twice_too)
{
    enum { MANY = 80 };

    twice_fetch(MANY * ranks, hearth_cyclic(1));
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("ahead");
    TCase *tc = tcase_with(s, "patterns", fixture_start);

    tcase_add_test(tc, a_row_of_faults_at_any_distance_is_followed);
    tcase_add_test(tc, a_fault_fetches_as_many_bytes_of_pages_of_any_length);
    tcase_add_test(tc, what_a_row_fetches_in_vain_is_bounded);
    tcase_add_test(tc, single_pages_here_and_there_fetch_nothing_else);
    tcase_add_test(tc, pages_of_many_places_come_in_a_few_rounds);
    tcase_add_test(tc, what_is_read_mostly_is_fetched_once_and_has_no_twins);
    tcase_add_test(tc, the_oldest_range_that_is_read_mostly_gives_way);
    tcase_add_test(tc, what_no_rank_writes_is_fetched_twice);
    tcase_add_test(tc, pages_that_are_dealt_are_fetched_twice_too);
    tcase_add_test(tc, what_was_written_once_is_read_without_a_twin);
    tcase_add_test(
        tc, what_is_written_in_two_intervals_in_a_row_is_opened_by_its_fetch);
    tcase_add_test(tc, a_region_that_is_read_whole_comes_in_groups);
    tcase_add_test(tc, a_region_of_which_a_quarter_is_read_comes_page_by_page);
    tcase_add_test(tc, every_second_page_at_random_fetches_no_other);
    tcase_add_test(tc, many_rows_of_writes_are_followed);
    tcase_add_test(tc, a_row_goes_over_homes_and_not_beyond_its_allocation);
    tc = tcase_with(s, "small cache", small_cache_start);
    tcase_add_test(tc, a_row_goes_over_homes_and_not_beyond_its_allocation);
    tc = tcase_with(s, "alone", alone_start);
    tcase_add_test(tc, fetch_ahead_1_fetches_what_is_touched);
    return mpi_main(argc, argv, s);
}
