/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Joined runs against a map of which pages were said to be written, and by
 * whom.
 */
#include "notice/coalesce.h"

#include <string.h>

#include "harness.h"
#include "property.h"

enum { CASES = 3000, MOST = 4096, PAGES = 3000, NODES = 4, RANKS = 8 };

static struct hearthi_notice spare[MOST];

static struct hearthi_notice
run(uint64_t page, uint32_t count, uint32_t writer)
{
    return (struct hearthi_notice){ page, count, writer, 0 };
}

static bool
same(const struct hearthi_notice *a, struct hearthi_notice b)
{
    return a->page == b.page && a->count == b.count && a->writer == b.writer &&
           a->interval == b.interval;
}

/* ---- drawing ---- */

struct list {
    struct hearthi_notice n[MOST];
    size_t                count;
};

/* As a rank deposits: sorted, apart from each other.  Some are long and dense,
 * some every few pages in step with others, most are short. */
static void
rank_draw(uint64_t *s, uint32_t writer, struct list *out)
{
    size_t   runs = below(s, 3) == 0 ? below(s, 500) : below(s, 8);
    size_t   step = 1 + below(s, 40), wide = 1 + below(s, 5);
    uint64_t page = below(s, 2) == 0 ? below(s, PAGES) : writer;

    for (size_t i = 0; i < runs && page + wide < PAGES; i++) {
        uint32_t count = (uint32_t)(1 + below(s, wide));

        out->n[out->count++] = run(page, count, writer);
        page += count + 1 + below(s, step);
    }
}

static void
pages_mark(uint8_t *map, uint8_t bit, const struct hearthi_notice *n,
           size_t count)
{
    for (size_t i = 0; i < count; i++)
        for (uint64_t p = n[i].page; p < n[i].page + n[i].count; p++)
            map[p] |= bit;
}

static bool
is_sorted_and_apart(const struct list *l)
{
    for (size_t i = 1; i < l->count; i++)
        if (l->n[i - 1].page + l->n[i - 1].count >= l->n[i].page)
            return false;
    return true;
}

/* In another place, or where it is. */
static void
list_join(struct list *l)
{
    static struct hearthi_notice to[MOST], *got;
    bool                         aside = l->count % 2 == 0;
    size_t                       before = l->count;

    got = hearthi_notices_coalesce(l->n, &l->count, aside ? to : l->n, spare);
    ck_assert(got == to || got == l->n);
    ck_assert(got == to || !aside || l->count == before);
    if (got == to)
        memcpy(l->n, to, l->count * sizeof *to);
}

static size_t
join_here(struct hearthi_notice *notice, size_t n)
{
    ck_assert(hearthi_notices_coalesce(notice, &n, notice, spare) == notice);
    return n;
}

/* ---- what is joined ---- */

START_TEST(joined_runs_say_the_same_pages_in_fewer_notices)
{
    static struct list l;

    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i);
        uint8_t  was[2 * PAGES] = { 0 }, is[2 * PAGES] = { 0 };
        size_t   before;

        l.count = 0;
        for (uint32_t r = 0; r < RANKS; r++)
            rank_draw(&s, r, &l);
        if (below(&s, 4) == 0)
            l.n[l.count++] = run(0, 0, 0);
        before = l.count;
        pages_mark(was, 1, l.n, l.count);
        list_join(&l);
        pages_mark(is, 1, l.n, l.count);
        if (memcmp(was, is, sizeof was) != 0)
            ck_abort_msg("case %d: not the same pages", i);
        if (l.count > before)
            ck_abort_msg("case %d: more than before", i);
        if (before < 64 && !is_sorted_and_apart(&l))
            ck_abort_msg("case %d: few, and not joined", i);
    }
}
END_TEST

/* A rank needs to know of a page if any other wrote it: those of its node one
 * by one, those elsewhere joined twice, as the transports do. */
enum { OF_NODE = RANKS / NODES };

static void
list_append(struct list *l, const struct list *more)
{
    memcpy(l->n + l->count, more->n, more->count * sizeof more->n[0]);
    l->count += more->count;
}

/* What a node tells of its ranks. */
static void
node_tell(const struct list *rank, int node, struct list *told)
{
    told->count = 0;
    for (int r = node * OF_NODE; r < (node + 1) * OF_NODE; r++)
        list_append(told, &rank[r]);
    list_join(told);
}

/* What rank r learns then. */
static void
rank_learn(const struct list *rank, const struct list *told, int r,
           uint8_t *learnt)
{
    static struct list others;
    int                node = r / OF_NODE;

    others.count = 0;
    for (int k = 0; k < NODES; k++)
        if (k != node)
            list_append(&others, &told[k]);
    list_join(&others);
    pages_mark(learnt, 1, others.n, others.count);
    for (int of = node * OF_NODE; of < (node + 1) * OF_NODE; of++)
        if (of != r)
            pages_mark(learnt, 1, rank[of].n, rank[of].count);
}

START_TEST(each_rank_learns_of_what_others_wrote_and_of_nothing_else)
{
    static struct list rank[RANKS], told[NODES];

    for (int i = 0; i < CASES / 4; i++) {
        uint64_t s = case_start(i);
        uint8_t  wrote[2 * PAGES] = { 0 };

        for (int r = 0; r < RANKS; r++) {
            rank[r].count = 0;
            rank_draw(&s, (uint32_t)r, &rank[r]);
            pages_mark(wrote, (uint8_t)(1 << r), rank[r].n, rank[r].count);
        }
        for (int k = 0; k < NODES; k++)
            node_tell(rank, k, &told[k]);
        for (int r = 0; r < RANKS; r++) {
            uint8_t learnt[2 * PAGES] = { 0 };

            rank_learn(rank, told, r, learnt);
            for (int p = 0; p < PAGES; p++)
                if (learnt[p] != ((wrote[p] & ~(1 << r)) != 0))
                    ck_abort_msg("case %d: rank %d, page %d", i, r, p);
        }
    }
}
END_TEST

START_TEST(blocks_of_neighbours_are_one_run)
{
    struct hearthi_notice n[] = { run(30, 10, 3), run(0, 10, 0),
                                  run(10, 10, 1), run(20, 10, 2) };

    ck_assert_uint_eq(join_here(n, 4), 1);
    ck_assert(same(&n[0], run(0, 40, 0)));
}
END_TEST

/* Many and long lists. */
/* The first two lists become one long run, and the third one begins inside. */
START_TEST(lists_that_have_grown_together_are_joined_where_they_meet)
{
    struct hearthi_notice n[] = { run(0, 2, 0),  run(3, 1, 0), run(5, 2, 0),
                                  run(10, 1, 0), run(2, 3, 1), run(7, 4, 1),
                                  run(5, 2, 2) };

    ck_assert_uint_eq(join_here(n, 7), 1);
    ck_assert(same(&n[0], run(0, 11, 0)));
}
END_TEST

START_TEST(pages_by_turns_are_one_run)
{
    static struct list l;

    l.count = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t i = 0; i < MOST / RANKS; i++)
            l.n[l.count++] = run(i * RANKS + r, 1, r);
    list_join(&l);
    ck_assert_uint_eq(l.count, 1);
    ck_assert(same(&l.n[0], run(0, MOST, 0)));
}
END_TEST

START_TEST(long_lists_that_never_touch_stay_as_they_are)
{
    static struct list l, was;

    l.count = 0;
    for (uint32_t r = 0; r < RANKS; r++)
        for (uint32_t i = 0; i < MOST / RANKS; i++)
            l.n[l.count++] = run((i * RANKS + r) * 2, 1, r);
    was = l;
    list_join(&l);
    ck_assert_uint_eq(l.count, was.count);
    for (size_t i = 0; i < l.count; i++)
        ck_assert(same(&l.n[i], was.n[i]));
}
END_TEST

START_TEST(everything_stays_beside_what_is_joined)
{
    struct hearthi_notice n[] = { run(5, 2, 0),
                                  run(0, HEARTHI_INVALIDATE_ALL, 1),
                                  run(7, 1, 2), run(0, 3, 3) };
    size_t                all = 0;
    size_t                got = join_here(n, 4);

    for (size_t i = 0; i < got; i++)
        all += same(&n[i], run(0, HEARTHI_INVALIDATE_ALL, 1));
    ck_assert_uint_eq(all, 1);
    ck_assert_uint_eq(got, 4 - 1);
}
END_TEST

START_TEST(no_joined_run_is_so_long_that_it_would_mean_everything)
{
    const uint32_t        half = HEARTHI_INVALIDATE_ALL / 2;
    struct hearthi_notice n[] = { run(0, half, 0), run(half, half + 1, 1),
                                  run(HEARTHI_INVALIDATE_ALL, 1, 2) };

    ck_assert_uint_eq(join_here(n, 3), 2);
    ck_assert(same(&n[0], run(0, half, 0)));
    ck_assert(same(&n[1], run(half, half + 2, 1)));
}
END_TEST

START_TEST(nothing_is_joined_to_nothing)
{
    struct hearthi_notice n[] = { run(0, 0, 1), run(0, 0, 2) };

    ck_assert_uint_eq(join_here(n, 0), 0);
    ck_assert_uint_eq(join_here(n, 1), 0);
    ck_assert_uint_eq(join_here(n, 2), 0);
}
END_TEST

/* ---- what is gathered ---- */

START_TEST(what_is_gathered_is_merged_when_it_is_too_much)
{
    struct hearthi_notice   room[8], n[8];
    struct hearthi_gathered g = { .notice = room, .most = 8 };

    for (uint32_t i = 0; i < 8; i++)
        n[i] = run(i * 10, 1, i % 2);
    hearthi_gathered_add(&g, n, 8, false);
    ck_assert_uint_eq(g.n, 8);
    hearthi_gathered_add(&g, n, 2, false);
    ck_assert_uint_le(g.n, 6);
    ck_assert(!g.invalidate_all);
    ck_assert(same(&g.notice[g.n - 2], n[0]));
    ck_assert(same(&g.notice[g.n - 1], n[1]));
}
END_TEST

START_TEST(of_too_many_writers_it_is_everything_until_it_is_cleared)
{
    struct hearthi_notice   room[4], n[5];
    struct hearthi_gathered g = { .notice = room, .most = 4 };

    for (uint32_t i = 0; i < 5; i++)
        n[i] = run(i * 10, 1, i);
    hearthi_gathered_add(&g, n, 4, false);
    hearthi_gathered_add(&g, n + 4, 1, false);
    ck_assert(g.invalidate_all);
    hearthi_gathered_add(&g, n, 1, false);
    ck_assert(g.invalidate_all);
    ck_assert_uint_eq(g.n, 0);
    hearthi_gathered_clear(&g);
    hearthi_gathered_add(&g, n, 1, false);
    ck_assert(!g.invalidate_all);
    ck_assert_uint_eq(g.n, 1);
    hearthi_gathered_add(&g, NULL, 0, true);
    ck_assert(g.invalidate_all);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("coalesce");
    TCase *tc = tcase_create("coalesce");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, joined_runs_say_the_same_pages_in_fewer_notices);
    tcase_add_test(tc,
                   each_rank_learns_of_what_others_wrote_and_of_nothing_else);
    tcase_add_test(tc, blocks_of_neighbours_are_one_run);
    tcase_add_test(tc,
                   lists_that_have_grown_together_are_joined_where_they_meet);
    tcase_add_test(tc, pages_by_turns_are_one_run);
    tcase_add_test(tc, long_lists_that_never_touch_stay_as_they_are);
    tcase_add_test(tc, everything_stays_beside_what_is_joined);
    tcase_add_test(tc, no_joined_run_is_so_long_that_it_would_mean_everything);
    tcase_add_test(tc, nothing_is_joined_to_nothing);
    tcase_add_test(tc, what_is_gathered_is_merged_when_it_is_too_much);
    tcase_add_test(tc,
                   of_too_many_writers_it_is_everything_until_it_is_cleared);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
