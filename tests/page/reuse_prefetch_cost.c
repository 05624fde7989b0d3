/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What pages cost that are brought because they were used before, and that
 * they are no longer where they are not used.
 */
#include <config.h>

#include "fixture.h"
#include "reuse_prefetch.h"

START_TEST(what_is_used_each_time_is_brought_and_nothing_else)
{
    int64_t     *p = trained(TRAIN);
    hearth_stats s = since(&(hearth_stats){ 0 });

    rounds(p, 4, true);
    s = since(&s);
    if (is_reader()) {
        expect_eq(s.predicted, 4 * USED);
        expect_eq(s.predicted_used, 4 * USED);
        expect_eq(s.getpages, 4 * USED);
    } else {
        expect_eq(s.predicted, 0);
    }
    hearth_free(p);
    all_expected();
}
END_TEST

/* Nothing is brought any more, until it is used again. */
static void
quiet_end(int64_t *p)
{
    hearth_stats s = since(&(hearth_stats){ 0 });

    rounds(p, 5, false);
    expect_eq(since(&s).getpages, 0);
    rounds(p, TRAIN, true);
    hearth_free(p);
    all_expected();
}

START_TEST(what_is_used_no_more_is_brought_no_more)
{
    int64_t     *p = trained(TRAIN);
    hearth_stats s = since(&(hearth_stats){ 0 });

    rounds(p, 3, false);
    expect(since(&s).getpages <= 2 * USED);
    quiet_end(p);
}
END_TEST

/* Each is tried a few times, and less often each time. */
START_TEST(what_is_used_by_turns_is_let_alone)
{
    enum { TURNS = 10 };
    int64_t     *p = trained(0);
    hearth_stats s = since(&(hearth_stats){ 0 });

    for (int i = 0; i < 3 * TURNS; i++)
        rounds(p, 1, i % 3 == 0);
    expect(since(&s).getpages <= (TURNS + 4) * USED);
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(what_is_used_always_is_opened_at_once_and_looked_after)
{
    enum { MORE = 16 };
    int64_t     *p = trained(LONG);
    hearth_stats s = since(&(hearth_stats){ 0 });

    rounds(p, MORE, true);
    expect(since(&s).read_faults <= 3 * MORE);
    rounds(p, 10, false);
    quiet_end(p);
}
END_TEST

START_TEST(nothing_is_brought_where_that_is_off)
{
    int64_t *p = trained(LONG);

    expect_eq(since(&(hearth_stats){ 0 }).predicted, 0);
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(it_may_be_asked_for_in_advance)
{
    int64_t     *p = brought();
    hearth_stats s;

    if (is_reader())
        for (int k = 0; k < USED; k++)
            hearth_prefetch(used(p, k), sizeof *p);
    s = since(&(hearth_stats){ 0 });
    all_read(p);
    expect_eq(since(&s).read_faults, 0);
    brought_end(p);
}
END_TEST

TCase *
predict_costs(const char *name, void (*start)(void))
{
    TCase *tc = tcase_create(name);

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, start, fixture_stop);
    if (start == fixture_start_unforeseen) {
        tcase_add_test(tc, nothing_is_brought_where_that_is_off);
        return tc;
    }
    tcase_add_test(tc, what_is_used_each_time_is_brought_and_nothing_else);
    tcase_add_test(tc, what_is_used_no_more_is_brought_no_more);
    tcase_add_test(tc, what_is_used_by_turns_is_let_alone);
    tcase_add_test(tc, what_is_used_always_is_opened_at_once_and_looked_after);
    tcase_add_test(tc, it_may_be_asked_for_in_advance);
    return tc;
}
