/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages at home that other nodes have fetched and do not use any more: they
 * become new.
 */
#include "migrate.h"

enum { PAGES = 64, LOCK = 7 };

static uint64_t
renewed(void)
{
    hearth_stats s;

    hearth_get_stats(&s);
    return s.renewed;
}

static bool
are_apart(void)
{
    return apart(0, ranks - 1);
}

static void
home_writes(int64_t *p, int64_t value)
{
    for (int i = 0; me == 0 && i < PAGES; i++)
        *word(p, i) = value + i;
}

static void
all_read(int64_t *p, int64_t value)
{
    for (int i = 0; i < PAGES; i++)
        expect_eq(*word(p, i), value + i);
}

/* Which the home is told of: that is so when copies are fetched again.  Then
 * another rank writes all of them: some may have been reported to be safe, and
 * from here on all count the same intervals of their home's. */
static int64_t *
fetched_pages(void)
{
    int64_t *p = words_on(0, PAGES);

    copies_take(p, PAGES, 0);
    for (int i = 0; me == ranks - 1 && i < PAGES; i++)
        *word(p, i) = 1 + i;
    barrier();
    all_read(p, 1);
    barrier();
    return p;
}

/* Fetched, and then written in barriers enough. */
static int64_t *
new_pages(void)
{
    int64_t *p = fetched_pages();

    for (int round = 1; round < 4; round++) {
        home_writes(p, round);
        barrier();
    }
    return p;
}

START_TEST(what_is_fetched_no_more_is_stored_to_without_faults)
{
    int64_t     *p = new_pages();
    hearth_stats a, b;

    if (me == 0)
        expect_eq((int64_t)renewed(), are_apart() ? PAGES : 0);
    hearth_get_stats(&a);
    for (int round = 4; round < 7; round++) {
        home_writes(p, round);
        barrier();
    }
    hearth_get_stats(&b);
    expect_eq((int64_t)(b.write_faults - a.write_faults), 0);
    expect_eq((int64_t)(b.notices_out - a.notices_out), 0);
    all_read(p, 6);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* The reader drops its first copies by an acquire, and keeps the second ones
 * until it is told. */
START_TEST(what_became_new_is_told_of_when_it_is_fetched_again)
{
    int64_t *p = new_pages();
    int      reader = ranks - 1;

    if (me == reader) {
        all_read(p, 3);
        hearth_lock(LOCK);
        hearth_unlock(LOCK);
        all_read(p, 3);
        if (reader > 0) {
            tell(0, 1);
            told_by(0, 2);
        }
        hearth_lock(LOCK);
        all_read(p, are_apart() || reader > 0 ? 10 : 3);
        hearth_unlock(LOCK);
    } else if (me == 0) {
        told_by(reader, 1);
        hearth_lock(LOCK);
        home_writes(p, 10);
        hearth_unlock(LOCK);
        tell(reader, 2);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Pages that are read in every round become new now and then: less and less
 * often, and each round has its values. */
START_TEST(pages_in_use_become_new_a_few_times_at_most)
{
    enum { ROUNDS = 70, MOST = 7 };
    int64_t *p = words_on(0, PAGES);

    for (int round = 0; round < ROUNDS; round++) {
        home_writes(p, round);
        barrier();
        all_read(p, round);
        barrier();
    }
    expect(renewed() <= (uint64_t)MOST * PAGES);
    hearth_free(p);
    all_expected();
}
END_TEST

/* Words that another rank writes stay what they are. */
START_TEST(what_others_wrote_stays)
{
    int64_t *p = fetched_pages();

    for (int i = 0; me == ranks - 1 && i < PAGES; i++)
        word(p, i)[1] = i;
    barrier();
    for (int round = 0; round < 5; round++) {
        home_writes(p, round);
        barrier();
    }
    for (int i = 0; i < PAGES; i++)
        expect_eq(word(p, i)[1], i);
    all_read(p, 4);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* A page that is held for writing stays open, and is told of. */
START_TEST(what_is_held_does_not_become_new)
{
    int64_t *p = fetched_pages();

    if (me == 0)
        hearth_hold(word(p, 8), sizeof *p, HEARTH_WRITE);
    for (int round = 1; round < 5; round++) {
        home_writes(p, round);
        barrier();
    }
    if (me == 0) {
        expect_eq((int64_t)renewed(), are_apart() ? PAGES - 1 : 0);
        hearth_drop(word(p, 8), sizeof *p, HEARTH_WRITE);
    }
    all_read(p, 4);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

TCase *
new_tests(void)
{
    TCase *tc = tcase_create("new");

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, fixture_start_unforeseen, fixture_stop);
    tcase_add_test(tc, what_is_fetched_no_more_is_stored_to_without_faults);
    tcase_add_test(tc, what_became_new_is_told_of_when_it_is_fetched_again);
    tcase_add_test(tc, pages_in_use_become_new_a_few_times_at_most);
    tcase_add_test(tc, what_others_wrote_stays);
    tcase_add_test(tc, what_is_held_does_not_become_new);
    return tc;
}
