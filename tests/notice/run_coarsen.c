/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Merged notices against what was to be merged: which rank may keep a copy of
 * which page.
 */
#include <string.h>

#include "harness.h"
#include "notice/notice.h"
#include "property.h"

enum { CASES = 4000, MOST = 64, WRITERS = 4, PAGES = 90, LATEST = 20 };

static struct hearthi_notice
run(uint64_t page, uint32_t count, uint32_t writer, uint64_t interval)
{
    return (struct hearthi_notice){ page, count, writer, interval };
}

static bool
same(const struct hearthi_notice *a, struct hearthi_notice b)
{
    return a->page == b.page && a->count == b.count && a->writer == b.writer &&
           a->interval == b.interval;
}

static struct hearthi_notice
notice_draw(uint64_t *s)
{
    struct hearthi_notice n =
        run(below(s, PAGES), (uint32_t)below(s, 6),
            (uint32_t)below(s, WRITERS), 1 + below(s, LATEST));

    if (below(s, 40) == 0)
        n = run(0, HEARTHI_INVALIDATE_ALL, n.writer, n.interval);
    return n;
}

/* Does one of n notices say what m says of a page?  Any that has the page of
 * the same writer, in an interval that is no earlier. */
static bool
is_said(const struct hearthi_notice *n, size_t count,
        const struct hearthi_notice *m, uint64_t page)
{
    bool all = m->count == HEARTHI_INVALIDATE_ALL;

    for (size_t i = 0; i < count; i++)
        if (n[i].writer == m->writer && n[i].interval >= m->interval &&
            (n[i].count == HEARTHI_INVALIDATE_ALL) == all &&
            (all || (page >= n[i].page && page - n[i].page < n[i].count)))
            return true;
    return false;
}

static bool
says_all(const struct hearthi_notice *n, size_t count,
         const struct hearthi_notice *m)
{
    uint64_t last =
        m->count == HEARTHI_INVALIDATE_ALL ? 1 : m->page + m->count;

    for (uint64_t page = m->page; page < last; page++)
        if (!is_said(n, count, m, page))
            return false;
    return true;
}

/* As few as can be: writers, each with "invalidate_all" and with one run. */
static size_t
kinds(const struct hearthi_notice *n, size_t count)
{
    bool   seen[WRITERS][2] = { { false } };
    size_t out = 0;

    for (size_t i = 0; i < count; i++)
        seen[n[i].writer][n[i].count == HEARTHI_INVALIDATE_ALL] |=
            n[i].count > 0;
    for (int w = 0; w < WRITERS; w++)
        out += (size_t)seen[w][0] + seen[w][1];
    return out > 0 ? out : count > 0;
}

START_TEST(merged_notices_say_no_less_and_are_as_few_as_asked)
{
    struct hearthi_notice was[MOST], n[MOST];

    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i);
        size_t   count = below(&s, MOST), most = 1 + below(&s, MOST);
        size_t   least, got;

        for (size_t k = 0; k < count; k++)
            was[k] = n[k] = notice_draw(&s);
        least = kinds(was, count);
        got = hearthi_notices_merge(n, count, most);
        if (got > count || got > (most > least ? most : least))
            ck_abort_msg("case %d: %zu of %zu, %zu asked", i, got, count,
                         most);
        for (size_t k = 0; k < count; k++)
            if (!says_all(n, got, &was[k]))
                ck_abort_msg("case %d: less is said than notice %zu", i, k);
    }
}
END_TEST

START_TEST(the_nearest_runs_of_a_writer_become_one_of_the_latest_interval)
{
    struct hearthi_notice n[] = {
        run(50, 2, 1, 3), run(10, 1, 1, 9), run(12, 1, 1, 4),
        run(11, 1, 2, 5), run(90, 1, 1, 1), run(53, 1, 2, 6),
    };

    ck_assert_uint_eq(hearthi_notices_merge(n, 6, 5), 5);
    ck_assert(same(&n[0], run(10, 3, 1, 9)));
    ck_assert(same(&n[1], run(50, 2, 1, 3)));
    ck_assert(same(&n[2], run(90, 1, 1, 1)));
    ck_assert(same(&n[3], run(11, 1, 2, 5)));
    ck_assert_uint_eq(hearthi_notices_merge(n, 5, 4), 4);
    ck_assert(same(&n[0], run(10, 42, 1, 9)));
    ck_assert_uint_eq(hearthi_notices_merge(n, 4, 1), 2);
    ck_assert(same(&n[0], run(10, 81, 1, 9)));
    ck_assert(same(&n[1], run(11, 43, 2, 6)));
}
END_TEST

START_TEST(a_page_written_again_and_again_takes_one_notice_the_newest)
{
    struct hearthi_notice n[100];

    for (uint32_t i = 0; i < 100; i++)
        n[i] = run(7, 1, 3, 1 + i * 37 % 100);
    ck_assert_uint_eq(hearthi_notices_merge(n, 100, 100), 1);
    ck_assert(same(&n[0], run(7, 1, 3, 100)));
}
END_TEST

START_TEST(what_fits_is_not_made_coarser)
{
    struct hearthi_notice n[] = { run(3, 1, 0, 1), run(4, 1, 0, 2),
                                  run(5, 1, 1, 2), run(9, 1, 0, 2) };

    ck_assert_uint_eq(hearthi_notices_merge(n, 4, 4), 4);
    ck_assert(same(&n[0], run(3, 1, 0, 1)));
    ck_assert(same(&n[1], run(4, 1, 0, 2)));
}
END_TEST

START_TEST(a_notice_of_no_pages_stays_only_if_it_is_alone)
{
    struct hearthi_notice n[] = { run(0, 0, 0, 1), run(0, 0, 1, 2),
                                  run(70, 1, 1, 2) };

    ck_assert_uint_eq(hearthi_notices_merge(n, 2, 2), 1);
    ck_assert_uint_eq(n[0].count, 0);
    n[1] = run(0, 0, 1, 2);
    ck_assert_uint_eq(hearthi_notices_merge(n, 3, 1), 1);
    ck_assert(same(&n[0], run(70, 1, 1, 2)));
}
END_TEST

START_TEST(no_merged_run_is_so_long_that_it_would_mean_everything)
{
    const uint64_t        far = HEARTHI_INVALIDATE_ALL;
    struct hearthi_notice n[] = { run(0, 1, 0, 1), run(far / 2, 1, 0, 1),
                                  run(far - 1, 1, 0, 1),
                                  run(far + far / 2, 1, 0, 1) };

    ck_assert_uint_eq(hearthi_notices_merge(n, 4, 1), 2);
    ck_assert(same(&n[0], run(0, (uint32_t)(far / 2 + 1), 0, 1)));
    ck_assert_uint_eq(n[1].page + n[1].count, far + far / 2 + 1);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("run_coarsen");
    TCase *tc = tcase_create("run_coarsen");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, merged_notices_say_no_less_and_are_as_few_as_asked);
    tcase_add_test(
        tc, the_nearest_runs_of_a_writer_become_one_of_the_latest_interval);
    tcase_add_test(tc,
                   a_page_written_again_and_again_takes_one_notice_the_newest);
    tcase_add_test(tc, what_fits_is_not_made_coarser);
    tcase_add_test(tc, a_notice_of_no_pages_stays_only_if_it_is_alone);
    tcase_add_test(tc, no_merged_run_is_so_long_that_it_would_mean_everything);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
