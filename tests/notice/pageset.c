/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Page sets against a bitmap.
 */
#include <string.h>

#include "harness.h"
#include "notice/notice.h"
#include "property.h"

enum { PAGES = 2000, CASES = 3000, ROOM_LEAST = 64 };

static unsigned char bitmap[PAGES];

static size_t
naive_runs(void)
{
    size_t n = 0;

    for (size_t i = 0; i < PAGES; i++)
        n += bitmap[i] && (i == 0 || !bitmap[i - 1]);
    return n;
}

/* Sorted, disjoint, maximal, and just the pages of the bitmap. */
static bool
is_bitmap(const struct hearthi_pageset *s)
{
    size_t next = 0;

    for (size_t i = 0; i < s->n; i++) {
        size_t page = s->run[i].page, end = page + s->run[i].count;

        if (page < next || end > PAGES || end == page)
            return false;
        for (; next < page; next++)
            if (bitmap[next])
                return false;
        for (; next < end; next++)
            if (!bitmap[next])
                return false;
    }
    for (; next < PAGES; next++)
        if (bitmap[next])
            return false;
    return s->n == naive_runs();
}

/* The next run to be added: in sequence, one of before, or anywhere. */
static void
run_draw(uint64_t *s, uint64_t *page, uint32_t *count)
{
    size_t way = below(s, 4);

    if (way == 0)
        *page += *count;
    else if (way == 1)
        *page -= *page < *count ? 0 : *count;
    else if (way == 2)
        *page = below(s, PAGES);
    *count = (uint32_t)below(s, way == 2 ? 3 : 9);
    if (*page > PAGES - 9)
        *page = below(s, PAGES - 9);
}

static void
added(struct hearthi_pageset *set, uint64_t page, uint32_t count)
{
    hearthi_pageset_add(set, page, count);
    memset(bitmap + page, 1, count);
}

START_TEST(a_page_set_holds_what_a_bitmap_holds)
{
    struct hearthi_pageset set;

    hearthi_pageset_init(&set, PAGES);
    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i), page = 0;
        uint32_t count = 1;
        size_t   often = 1 + below(&s, 200);

        memset(bitmap, 0, PAGES);
        for (size_t k = below(&s, 400); k > 0; k--) {
            run_draw(&s, &page, &count);
            added(&set, page, count);
            if (below(&s, often) > 0)
                continue;
            hearthi_pageset_normalise(&set);
            if (!is_bitmap(&set))
                ck_abort_msg("case %d, %zu to go", i, k);
        }
        hearthi_pageset_normalise(&set);
        if (!is_bitmap(&set) || set.invalidate_all)
            ck_abort_msg("case %d at the end", i);
        hearthi_pageset_clear(&set);
        ck_assert_uint_eq(set.n, 0);
    }
    hearthi_pageset_free(&set);
    ck_assert_ptr_eq(set.run, NULL);
}
END_TEST

/* Runs of the set, none of which touch, have all pages of the bitmap, and
 * gaps that were closed are no wider than those that were not. */
static bool
is_coarser(const struct hearthi_pageset *s)
{
    size_t next = 0, gap = 0, closed = 0, open = PAGES;

    for (size_t i = 0; i < s->n; i++) {
        size_t page = s->run[i].page, end = page + s->run[i].count;

        if ((i > 0 && page <= next) || !bitmap[page] || !bitmap[end - 1])
            return false;
        if (i > 0 && page - next < open)
            open = page - next;
        for (; next < page; next++)
            if (bitmap[next])
                return false;
        for (; next < end; next++) {
            gap = bitmap[next] ? 0 : gap + 1;
            closed = gap > closed ? gap : closed;
        }
    }
    for (; next < PAGES; next++)
        if (bitmap[next])
            return false;
    return closed <= open;
}

START_TEST(a_page_set_of_more_runs_than_its_cap_closes_the_narrowest_gaps)
{
    for (int i = 0; i < CASES; i++) {
        uint64_t               s = case_start(i);
        size_t                 cap = 1 + below(&s, 60);
        struct hearthi_pageset set;

        hearthi_pageset_init(&set, cap);
        memset(bitmap, 0, PAGES);
        for (size_t k = below(&s, ROOM_LEAST); k > 0; k--)
            added(&set, below(&s, PAGES), 1);
        hearthi_pageset_normalise(&set);
        if (set.n != (naive_runs() < cap ? naive_runs() : cap) ||
            !is_coarser(&set))
            ck_abort_msg("case %d: %zu runs of %zu, %zu allowed", i, set.n,
                         naive_runs(), cap);
        hearthi_pageset_free(&set);
    }
}
END_TEST

/* However often it was merged on the way. */
START_TEST(a_page_set_is_bounded_and_loses_nothing)
{
    for (int i = 0; i < CASES; i++) {
        uint64_t               s = case_start(i);
        size_t                 cap = 1 + below(&s, 150), most = 0;
        bool                   just = below(&s, 2);
        struct hearthi_pageset set;

        hearthi_pageset_init(&set, cap);
        memset(bitmap, 0, PAGES);
        for (size_t k = below(&s, 8 * cap + 70); k > 0; k--) {
            size_t runs;

            added(&set, just ? 2 * below(&s, cap) : below(&s, PAGES), 1);
            runs = naive_runs();
            most = runs > most ? runs : most;
        }
        hearthi_pageset_normalise(&set);
        for (size_t k = 0; most > cap && k < set.n; k++)
            memset(bitmap + set.run[k].page, 1, set.run[k].count);
        if (set.invalidate_all || set.n > cap || !is_bitmap(&set))
            ck_abort_msg("case %d: wrong", i);
        if (set.room > (cap > 32 ? 2 * cap : ROOM_LEAST))
            ck_abort_msg("case %d: room for %zu", i, set.room);
        hearthi_pageset_free(&set);
    }
}
END_TEST

START_TEST(pages_added_in_sequence_or_again_take_no_room)
{
    struct hearthi_pageset set;

    hearthi_pageset_init(&set, 1000);
    for (uint64_t p = 0; p < 1000000; p++) {
        hearthi_pageset_add(&set, p, 1);
        if (set.n != 1)
            ck_abort_msg("%zu runs upwards", set.n);
    }
    for (uint64_t p = 1000000; p-- > 0;) {
        hearthi_pageset_add(&set, 2000000 + p, 1);
        if (set.n != 2)
            ck_abort_msg("%zu runs downwards", set.n);
    }
    hearthi_pageset_clear(&set);
    for (uint64_t p = 0; p < 1000000; p++) {
        hearthi_pageset_add(&set, p % 200 * 2, 1);
        if (set.n > 400)
            ck_abort_msg("%zu runs of 200", set.n);
    }
    hearthi_pageset_normalise(&set);
    ck_assert_uint_eq(set.n, 200);
    ck_assert(!set.invalidate_all);
    hearthi_pageset_free(&set);
}
END_TEST

START_TEST(no_run_is_so_long_that_it_would_mean_everything)
{
    const uint32_t         longest = HEARTHI_INVALIDATE_ALL - 1;
    struct hearthi_pageset set;
    uint64_t               next = 5;

    hearthi_pageset_init(&set, 1000);
    for (uint64_t p = 0; p < 4; p++)
        hearthi_pageset_add(&set, 5 + p * longest, longest);
    hearthi_pageset_add(&set, 5 + 4 * (uint64_t)longest, 7);
    hearthi_pageset_add(&set, longest / 2, longest);
    hearthi_pageset_normalise(&set);
    ck_assert_uint_eq(set.n, 5);
    for (size_t i = 0; i < set.n; i++) {
        ck_assert_uint_eq(set.run[i].page, next);
        ck_assert_uint_eq(set.run[i].count, i < 4 ? longest : 7);
        next += set.run[i].count;
    }
    hearthi_pageset_add(&set, 0, HEARTHI_INVALIDATE_ALL);
    ck_assert(set.invalidate_all);
    hearthi_pageset_free(&set);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("pageset");
    TCase *tc = tcase_create("pageset");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_page_set_holds_what_a_bitmap_holds);
    tcase_add_test(
        tc, a_page_set_of_more_runs_than_its_cap_closes_the_narrowest_gaps);
    tcase_add_test(tc, a_page_set_is_bounded_and_loses_nothing);
    tcase_add_test(tc, pages_added_in_sequence_or_again_take_no_room);
    tcase_add_test(tc, no_run_is_so_long_that_it_would_mean_everything);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
