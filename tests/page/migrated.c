/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Runs of moved pages, against a table of all pages.
 */
#include "page/migrated.h"

#include <stdint.h>

#include "base/hash.h"
#include "harness.h"

enum { PAGES = 100, STEPS = 400 };

static struct { /* 0: has not moved */
    uint32_t home, frame;
} naive[PAGES];

static void
draw_and_add(struct hearthi_migrated *m, uint64_t *random)
{
    struct hearthi_piece p = {
        .at = hearthi_random(random) % PAGES,
        .home = 1 + (uint32_t)(hearthi_random(random) % 3),
    };
    uint64_t most = PAGES - p.at < 40 ? PAGES - p.at : 40;

    p.count = 1 + hearthi_random(random) % most;
    /* Often such that it continues what lies beside it. */
    p.frame = (uint32_t)(p.at + 1000 * (hearthi_random(random) % 2));
    for (uint64_t i = 0; i < p.count; i++) {
        naive[p.at + i].home = p.home;
        naive[p.at + i].frame = p.frame + (uint32_t)i;
    }
    hearthi_migrated_add(m, p);
}

/* How far to both sides no page has moved. */
static void
gap_check(uint64_t at, uint64_t from, uint64_t end)
{
    for (uint64_t i = from; i < end; i++)
        ck_assert_uint_eq(naive[i].home, 0);
    ck_assert(from <= at && at < end);
    ck_assert(from == 0 || naive[from - 1].home != 0);
    ck_assert(end == PAGES || naive[end].home != 0);
}

static void
page_check(const struct hearthi_migrated *m, uint64_t at)
{
    uint64_t                    from = 0, end = PAGES;
    const struct hearthi_piece *p = hearthi_migrated_at(m, at, &from, &end);

    if (p == NULL) {
        gap_check(at, from, end);
        return;
    }
    ck_assert(p->at <= at && at < p->at + p->count);
    ck_assert_uint_eq(p->home, naive[at].home);
    ck_assert_uint_eq(p->frame + (at - p->at), naive[at].frame);
}

START_TEST(each_page_is_where_it_moved_last)
{
    struct hearthi_migrated m = { 0 };
    uint64_t                random = 11;

    for (int step = 0; step < STEPS; step++) {
        if (step % 50 == 0) {
            hearthi_migrated_free(&m);
            for (int i = 0; i < PAGES; i++)
                naive[i].home = naive[i].frame = 0;
        }
        draw_and_add(&m, &random);
        for (uint64_t at = 0; at < PAGES; at++)
            page_check(&m, at);
        for (size_t i = 1; i < m.n; i++)
            ck_assert(m.piece[i - 1].at + m.piece[i - 1].count <=
                      m.piece[i].at);
    }
    hearthi_migrated_free(&m);
}
END_TEST

START_TEST(runs_that_continue_each_other_are_one)
{
    struct hearthi_migrated m = { 0 };

    hearthi_migrated_add(&m, (struct hearthi_piece){ 0, 5, 1, 10 });
    hearthi_migrated_add(&m, (struct hearthi_piece){ 7, 3, 1, 17 });
    hearthi_migrated_add(&m, (struct hearthi_piece){ 5, 2, 1, 15 });
    ck_assert_uint_eq(m.n, 1);
    ck_assert_uint_eq(m.piece[0].count, 10);
    hearthi_migrated_add(&m, (struct hearthi_piece){ 4, 1, 2, 0 });
    ck_assert_uint_eq(m.n, 3);
    hearthi_migrated_free(&m);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("moved");
    TCase *tc = tcase_create("moved");

    tcase_add_test(tc, each_page_is_where_it_moved_last);
    tcase_add_test(tc, runs_that_continue_each_other_are_one);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
