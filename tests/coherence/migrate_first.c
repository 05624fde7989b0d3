/* SPDX-License-Identifier: BSD-2-Clause
 *
 * First touch.
 */
#include "migrate.h"

enum { PAGES = 32 };

/* In an order that no layout has. */
static int
owner(int i)
{
    return (i * 7 / 3) % ranks;
}

START_TEST(pages_are_at_home_where_they_are_written_first)
{
    int64_t *p =
        hearth_alloc(PAGES * page_bytes() / 8, 8, hearth_first_touch());

    for (int i = 0; i < PAGES; i++)
        if (owner(i) == me)
            *word(p, i) = i;
    barrier();
    for (int i = 0; i < PAGES; i++) {
        expect(!apart(hearth_home(word(p, i)), owner(i)));
        expect_eq(*word(p, i), i);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(what_nobody_wrote_is_zero)
{
    int64_t *p =
        hearth_alloc(PAGES * page_bytes() / 8, 8, hearth_first_touch());

    for (int i = 0; i < PAGES; i += 2)
        if (owner(i) == me)
            word(p, i)[7] = i;
    barrier();
    for (int i = 0; i < PAGES; i++)
        for (size_t k = 0; k < page_bytes() / 8; k++)
            expect_eq(word(p, i)[k], k == 7 && i % 2 == 0 ? i : 0);
    hearth_free(p);
    all_expected();
}
END_TEST

START_TEST(a_page_of_several_nodes_has_one_home)
{
    int64_t *p = hearth_alloc(page_bytes() / 8, 8, hearth_first_touch());
    int      home = hearth_home(p), least, most;

    p[me] = me;
    barrier();
    for (int r = 0; r < ranks; r++)
        expect_eq(p[r], r);
    home = hearth_home(p);
    MPI_Allreduce(&home, &least, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    MPI_Allreduce(&home, &most, 1, MPI_INT, MPI_MAX, MPI_COMM_WORLD);
    expect_eq(least, most);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Blocks of pages are dealt to ranks: more than a rank would ask for at once
 * if that were few, and each a sequence of writes that ends where another's
 * pages begin. */
enum { DEALT = 1600, BLOCK = 4 };

static int
dealt_to(int i)
{
    return i / BLOCK % ranks;
}

static void
dealt_write(int64_t *p, int64_t value)
{
    for (int i = 0; i < DEALT; i++)
        if (dealt_to(i) == me)
            *word(p, i) = value + i;
}

START_TEST(pages_that_are_dealt_move_at_once_and_cost_nothing_then)
{
    int64_t *p =
        hearth_alloc(DEALT * page_bytes() / 8, 8, hearth_first_touch());
    hearth_stats a, b;

    dealt_write(p, 1);
    barrier();
    for (int i = 0; i < DEALT; i++)
        expect(!apart(hearth_home(word(p, i)), dealt_to(i)));
    hearth_get_stats(&a);
    for (int round = 2; round < 5; round++) {
        dealt_write(p, round);
        barrier();
    }
    hearth_get_stats(&b);
    expect_eq((int64_t)(b.write_faults - a.write_faults), 0);
    expect_eq((int64_t)(b.getpages - a.getpages), 0);
    for (int i = 0; i < DEALT; i++)
        expect_eq(*word(p, i), 4 + i);
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

/* Of two pages that follow each other, at home on the last rank, three ranks
 * have written the second, both, and the first.  The first two of them meet at
 * the second page, so what the second one asks for is refused everywhere, and
 * the third has the first page alone.  That moves once then, and does not
 * become new as well. */
START_TEST(a_page_of_what_was_refused_to_one_moves_to_another_once)
{
    int64_t *p =
        hearth_alloc(PAGES * page_bytes() / 8, 8, hearth_first_touch());
    int          i = PAGES - PAGES / 8;
    hearth_stats s;

    if (me == 1 || me == 2)
        word(p, i)[me] = me;
    if (me < 2)
        word(p, i + 1)[me] = 1 + me;
    barrier();
    hearth_get_stats(&s);
    expect_eq((int64_t)s.renewed, 0);
    for (int r = 0; r < 3 && r < ranks; r++) {
        expect_eq(word(p, i)[r], r);
        expect_eq(word(p, i + 1)[r], r < 2 ? 1 + r : 0);
    }
    barrier();
    hearth_free(p);
    all_expected();
}
END_TEST

TCase *
first_touch_tests(void)
{
    TCase *tc = tcase_create("first");

    tcase_set_timeout(tc, 0);
    tcase_add_checked_fixture(tc, fixture_start, fixture_stop);
    tcase_add_test(tc, pages_are_at_home_where_they_are_written_first);
    tcase_add_test(tc, what_nobody_wrote_is_zero);
    tcase_add_test(tc, a_page_of_several_nodes_has_one_home);
    tcase_add_test(tc,
                   pages_that_are_dealt_move_at_once_and_cost_nothing_then);
    tcase_add_test(tc,
                   a_page_of_what_was_refused_to_one_moves_to_another_once);
    return tc;
}
