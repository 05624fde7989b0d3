/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank knows, against a plain list.
 */
#include <string.h>

#include "harness.h"
#include "notice/notice.h"
#include "property.h"

enum { ME = 2, WRITERS = 4, LOCKS = 4, CASES = 2000, NAIVE_MAX = 4096 };

/* ---- the naive model: nothing is ever removed, only marked ---- */

struct item {
    struct hearthi_notice notice;
    uint64_t              sequence;
    unsigned              seen; /* a bit for each lock */
    bool                  dead;
};

static struct {
    struct item item[NAIVE_MAX];
    size_t      n;
    uint64_t    next, everything;
    size_t      cap;
} naive;

static bool
same_key(const struct hearthi_notice *a, const struct hearthi_notice *b)
{
    return a->page == b->page && a->count == b->count &&
           a->writer == b->writer;
}

static bool
same(const struct hearthi_notice *a, const struct hearthi_notice *b)
{
    return same_key(a, b) && a->interval == b->interval;
}

static size_t
naive_runs(void)
{
    size_t runs = 0;

    for (size_t i = 0; i < naive.n; i++)
        runs += !naive.item[i].dead &&
                naive.item[i].notice.count != HEARTHI_EVERYTHING;
    return runs;
}

static void
naive_append(const struct hearthi_notice *n, int lock)
{
    struct item *e = &naive.item[naive.n++];

    ck_assert(naive.n < NAIVE_MAX);
    *e = (struct item){ .notice = *n, .sequence = naive.next++ };
    e->seen = lock >= 0 ? 1u << lock : 0;
}

static void
naive_everything(void)
{
    struct hearthi_notice all = { 0, HEARTHI_EVERYTHING, ME,
                                  ++naive.everything };

    for (size_t i = 0; i < naive.n; i++)
        if (naive.item[i].notice.count != HEARTHI_EVERYTHING ||
            naive.item[i].notice.writer == ME)
            naive.item[i].dead = true;
    naive_append(&all, -1);
}

static void
naive_lost(int lock, uint64_t from)
{
    struct hearthi_notice all = { 0, HEARTHI_EVERYTHING, ME,
                                  ++naive.everything };
    bool                  has = true;

    for (size_t i = 0; i < naive.n; i++) {
        struct item *e = &naive.item[i];

        if (e->dead || !same_key(&e->notice, &all))
            continue;
        has = e->sequence < from || e->seen & 1u << lock;
        e->dead = true;
    }
    naive_append(&all, has ? lock : -1);
}

static bool
naive_add(const struct hearthi_notice *n, int lock)
{
    for (size_t i = 0; i < naive.n; i++) {
        struct item *e = &naive.item[i];

        if (e->dead || !same_key(&e->notice, n))
            continue;
        if (e->notice.interval == n->interval && lock >= 0)
            e->seen |= 1u << lock;
        if (e->notice.interval >= n->interval)
            return false;
        if (n->writer != ME || lock < 0)
            e->dead = true;
    }
    if (n->writer == ME && lock >= 0)
        return false;
    if (n->writer == ME && n->count == HEARTHI_EVERYTHING) {
        naive_everything();
        return true;
    }
    naive_append(n, lock);
    if (naive_runs() > naive.cap)
        naive_everything();
    return true;
}

static void
naive_forget(uint64_t mark)
{
    for (size_t i = 0; i < naive.n; i++)
        if (naive.item[i].sequence < mark)
            naive.item[i].dead = true;
}

static size_t
naive_since(int lock, uint64_t *given, struct hearthi_notice *out, size_t max)
{
    size_t n = 0;

    for (size_t i = 0; i < naive.n; i++) {
        const struct item *e = &naive.item[i];

        if (e->dead || e->sequence < *given || e->seen & 1u << lock)
            continue;
        if (n == max)
            return n;
        out[n++] = e->notice;
        *given = e->sequence + 1;
    }
    *given = naive.next;
    return n;
}

/* ---- random histories ---- */

static struct hearthi_known known;
static uint64_t             interval[WRITERS], given[LOCKS];

static void
case_begin(uint64_t *s)
{
    size_t cap = below(s, 3) ? 1 + below(s, 30) : 1000;

    memset(&naive, 0, sizeof naive);
    memset(given, 0, sizeof given);
    memset(interval, 0, sizeof interval);
    naive.cap = cap;
    hearthi_known_init(&known, cap, ME);
}

/* A notice of this rank, of another, or "everything"; now and then one that
 * is older than what is known. */
static struct hearthi_notice
notice_draw(uint64_t *s, int *lock)
{
    struct hearthi_notice n = { below(s, 12), 1 + (uint32_t)below(s, 3), ME,
                                0 };

    *lock = below(s, 2) ? (int)below(s, LOCKS) : -1;
    if (*lock >= 0)
        n.writer = (uint32_t)below(s, WRITERS);
    n.interval = interval[n.writer] += *lock < 0 || below(s, 2);
    if (*lock >= 0 && below(s, 2))
        n.interval -= below(s, n.interval + 1);
    if (*lock >= 0 && n.writer != ME && below(s, 8) == 0) {
        n.page = 0;
        n.count = HEARTHI_EVERYTHING;
    }
    return n;
}

static bool
since_agrees(uint64_t *s)
{
    enum { MOST = 64 };
    static struct hearthi_notice got[MOST], want[MOST];
    int                          lock = (int)below(s, LOCKS);
    size_t                       max = 1 + below(s, MOST);
    uint64_t                     mine = given[lock];
    size_t n = hearthi_known_since(&known, lock, &given[lock], got, max);

    if (n != naive_since(lock, &mine, want, max) || mine != given[lock])
        return false;
    for (size_t i = 0; i < n; i++)
        if (!same(&got[i], &want[i]))
            return false;
    return true;
}

static bool
step_agrees(uint64_t *s)
{
    struct hearthi_notice n;
    uint64_t              mark;
    int                   lock;

    switch (below(s, 40)) {
    case 0:
        mark = naive.next - below(s, naive.next < 20 ? naive.next + 1 : 20);
        naive_forget(mark);
        hearthi_known_forget(&known, mark);
        return true;
    case 1:
        naive_forget(naive.next);
        hearthi_known_clear(&known);
        return true;
    case 2:
        lock = (int)below(s, LOCKS);
        naive_lost(lock, given[lock]);
        hearthi_known_lost(&known, lock, given[lock]);
        return true;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 8: return since_agrees(s);
    default:
        n = notice_draw(s, &lock);
        return hearthi_known_add(&known, &n, lock) == naive_add(&n, lock);
    }
}

START_TEST(a_rank_knows_what_a_plain_list_would_know)
{
    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i);

        case_begin(&s);
        for (size_t step = 0, n = below(&s, 800); step < n; step++)
            if (!step_agrees(&s) || hearthi_known_next(&known) != naive.next)
                ck_abort_msg("case %d, step %zu", i, step);
        hearthi_known_free(&known);
    }
}
END_TEST

/* ---- single sentences ---- */

static struct hearthi_notice out[100];

static struct hearthi_notice
run(uint64_t page, uint32_t writer, uint64_t when)
{
    return (struct hearthi_notice){ page, 1, writer, when };
}

static bool
learn(struct hearthi_notice n, int lock)
{
    return hearthi_known_add(&known, &n, lock);
}

static size_t
give(int lock)
{
    return hearthi_known_since(&known, lock, &given[lock], out, 100);
}

static void
setup(void)
{
    hearthi_known_init(&known, 10, ME);
    memset(given, 0, sizeof given);
}

static void
teardown(void)
{
    hearthi_known_free(&known);
}

START_TEST(a_lock_is_given_each_notice_once)
{
    ck_assert(learn(run(1, ME, 1), -1));
    ck_assert(learn(run(2, 0, 1), 1));
    ck_assert_uint_eq(give(0), 2);
    ck_assert_uint_eq(give(0), 0);
    ck_assert(learn(run(3, ME, 2), -1));
    ck_assert_uint_eq(give(0), 1);
    ck_assert_uint_eq(out[0].page, 3);
}
END_TEST

START_TEST(a_lock_is_not_given_what_came_from_it)
{
    ck_assert(learn(run(1, 0, 1), 2));
    ck_assert(!learn(run(1, 0, 1), 3));
    ck_assert(learn(run(1, ME, 1), -1));
    ck_assert(!learn(run(1, ME, 1), 1));
    ck_assert_uint_eq(give(1), 1);
    ck_assert_uint_eq(give(2), 1);
    ck_assert_uint_eq(give(3), 1);
    ck_assert_uint_eq(give(0), 2);
}
END_TEST

START_TEST(a_later_interval_takes_the_place_of_an_earlier_one)
{
    ck_assert(learn(run(1, 0, 5), 1));
    ck_assert(learn(run(2, 0, 5), 1));
    ck_assert(!learn(run(1, 0, 5), 2));
    ck_assert(!learn(run(1, 0, 4), 2));
    ck_assert_uint_eq(give(0), 2);
    ck_assert(learn(run(1, 0, 6), 2));
    ck_assert_uint_eq(give(0), 1);
    ck_assert_uint_eq(out[0].interval, 6);
    ck_assert_uint_eq(give(3), 2);
    ck_assert_uint_eq(out[0].page, 2);
    ck_assert_uint_eq(out[1].interval, 6);
}
END_TEST

START_TEST(too_much_becomes_everything_and_each_lock_hears_it_once)
{
    for (uint64_t p = 0; p < 10; p++)
        ck_assert(learn(run(2 * p, 0, 1), 1));
    ck_assert_uint_eq(give(2), 10);
    ck_assert(learn(run(99, 0, 1), 1));
    for (int lock = 0; lock < 3; lock++) {
        ck_assert_uint_eq(give(lock), 1);
        ck_assert_uint_eq(out[0].page, 0);
        ck_assert_uint_eq(out[0].count, HEARTHI_EVERYTHING);
        ck_assert_uint_eq(out[0].writer, ME);
        ck_assert_uint_eq(give(lock), 0);
    }
    ck_assert(learn(run(0, 0, 1), 1));
    ck_assert_uint_eq(give(2), 1);
}
END_TEST

START_TEST(everything_of_one_origin_and_number_is_learnt_once)
{
    struct hearthi_notice theirs = { 0, HEARTHI_EVERYTHING, 0, 7 };
    struct hearthi_notice mine = { 0, HEARTHI_EVERYTHING, ME, 7 };

    ck_assert(learn(theirs, 1));
    ck_assert(!learn(theirs, 2));
    ck_assert(learn(mine, -1));
    ck_assert(learn(mine, -1));
    ck_assert(!learn(theirs, 3));
    ck_assert(!learn(mine, 3));
    ck_assert_uint_eq(give(0), 2);
    ck_assert_uint_eq(out[0].writer, 0);
    ck_assert_uint_eq(out[1].writer, ME);
    ck_assert_uint_eq(out[1].interval, 2);
    theirs.interval++;
    ck_assert(learn(theirs, 1));
    ck_assert_uint_eq(give(0), 1);
}
END_TEST

/* The log said it already; but an older one that it was not given yet, and
 * that the new one stands for as well, must not be lost. */
START_TEST(what_a_log_lost_is_given_to_all_locks_but_that)
{
    ck_assert(learn(run(1, ME, 1), -1));
    ck_assert_uint_eq(give(1), 1);
    hearthi_known_lost(&known, 1, given[1]);
    ck_assert_uint_eq(give(1), 0);
    ck_assert_uint_eq(give(2), 2);
    ck_assert_uint_eq(out[1].count, HEARTHI_EVERYTHING);
    hearthi_known_lost(&known, 1, given[1]);
    hearthi_known_lost(&known, 3, given[3]);
    ck_assert_uint_eq(give(1), 1);
    ck_assert_uint_eq(give(2), 1);
    ck_assert_uint_eq(give(3), 2);
}
END_TEST

/* More locks than an entry can remember cost repetition, not loss. */
START_TEST(a_notice_seen_in_many_logs_is_given_to_every_other_lock)
{
    enum { MANY = 200 };
    uint64_t all[MANY] = { 0 };

    for (int lock = 0; lock < MANY; lock += 2)
        learn(run(1, 0, 1), lock);
    for (int lock = 1; lock < MANY; lock += 2)
        ck_assert_uint_eq(
            hearthi_known_since(&known, lock, &all[lock], out, 100), 1);
    ck_assert_uint_eq(
        hearthi_known_since(&known, MANY - 2, &all[MANY - 2], out, 100), 0);
}
END_TEST

START_TEST(memory_stays_bounded_however_long_no_barrier_comes)
{
    for (uint64_t i = 0; i < 1000000; i++) {
        learn(run(i % 7, ME, i), -1);
        learn(run(i, (uint32_t)i % WRITERS, i), (int)(i % LOCKS));
        if (known.runs > 10 || known.room > 128)
            ck_abort_msg("%zu runs, room for %zu", known.runs, known.room);
    }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("known");
    TCase *tc = tcase_create("known");

    property_start();
    tcase_add_checked_fixture(tc, setup, teardown);
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_rank_knows_what_a_plain_list_would_know);
    tcase_add_test(tc, a_lock_is_given_each_notice_once);
    tcase_add_test(tc, a_lock_is_not_given_what_came_from_it);
    tcase_add_test(tc, a_later_interval_takes_the_place_of_an_earlier_one);
    tcase_add_test(tc,
                   too_much_becomes_everything_and_each_lock_hears_it_once);
    tcase_add_test(tc, everything_of_one_origin_and_number_is_learnt_once);
    tcase_add_test(tc, what_a_log_lost_is_given_to_all_locks_but_that);
    tcase_add_test(tc,
                   a_notice_seen_in_many_logs_is_given_to_every_other_lock);
    tcase_add_test(tc, memory_stays_bounded_however_long_no_barrier_comes);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
