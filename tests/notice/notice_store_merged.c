/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank knows when there is too much of it: no lock misses what it was
 * not told, no copy stays that is to be dropped, and "invalidate_all" is said
 * only of too many writers.
 */
#include "notice_store.h"

#include <string.h>

#include "property.h"

enum { CASES = 400, STEPS = 400, PAGES = 16, TOLD = 8192 };

static struct hearthi_notice_store known;
static uint64_t                    interval[WRITERS], given[LOCKS];

/* What was learnt and is not forgotten. */
static struct item {
    struct hearthi_notice notice;
    uint64_t              sequence;
} learnt[STEPS];
static size_t learnt_n;

/* What is in each lock's log, and when it came there. */
static struct {
    struct item item[TOLD];
    size_t      n;
} told[LOCKS];

/* A copy of the page was dropped when so much was known of its writer. */
static uint64_t latest[WRITERS], dropped[WRITERS][PAGES];

static void
case_begin(uint64_t *s)
{
    memset(given, 0, sizeof given);
    memset(interval, 0, sizeof interval);
    memset(latest, 0, sizeof latest);
    memset(dropped, 0, sizeof dropped);
    learnt_n = 0;
    for (int i = 0; i < LOCKS; i++)
        told[i].n = 0;
    hearthi_notice_store_init(&known, 1 + below(s, 20), ME);
}

static void
log_add(int lock, const struct hearthi_notice *n)
{
    ck_assert_uint_lt(told[lock].n, TOLD);
    told[lock].item[told[lock].n++] =
        (struct item){ *n, hearthi_notice_store_next(&known) };
}

/* ---- nothing is lost ---- */

static bool
says(const struct item *i, const struct item *of)
{
    const struct hearthi_notice *a = &i->notice, *b = &of->notice;

    if (a->count == HEARTHI_INVALIDATE_ALL)
        return a->writer == ME && i->sequence > of->sequence;
    return a->writer == b->writer && a->interval >= b->interval &&
           a->page <= b->page && a->page + a->count >= b->page + b->count;
}

static bool
log_says(int lock, const struct item *of)
{
    for (size_t i = 0; i < told[lock].n; i++)
        if (says(&told[lock].item[i], of))
            return true;
    return false;
}

static bool
lock_has_all(uint64_t *s, int lock)
{
    struct hearthi_notice out[PAGES];
    size_t                n, most = 1 + below(s, PAGES);

    do {
        n = hearthi_notice_store_since(&known, lock, &given[lock], out, most);
        for (size_t i = 0; i < n; i++)
            log_add(lock, &out[i]);
    } while (n == most);
    for (size_t i = 0; i < learnt_n; i++)
        if (!log_says(lock, &learnt[i]))
            return false;
    return true;
}

/* Of each run and writer there is one notice. */
static bool
none_is_twice(void)
{
    static struct hearthi_notice out[STEPS];
    uint64_t                     all = 0;
    size_t n = hearthi_notice_store_since(&known, -1, &all, out, STEPS);

    for (size_t i = 0; i < n; i++)
        for (size_t j = 0; j < i; j++)
            if (out[i].page == out[j].page && out[i].count == out[j].count &&
                out[i].writer == out[j].writer)
                return false;
    return true;
}

/* ---- copies ---- */

static void
copies_drop(const struct hearthi_notice *n)
{
    if (latest[n->writer] < n->interval)
        latest[n->writer] = n->interval;
    for (uint64_t p = n->page; p < n->page + n->count; p++)
        dropped[n->writer][p] = latest[n->writer];
}

static bool
copies_are_dropped(const struct hearthi_notice *n)
{
    for (uint64_t p = n->page; p < n->page + n->count; p++)
        if (dropped[n->writer][p] < n->interval)
            return false;
    return true;
}

/* ---- histories ---- */

static struct hearthi_notice
notice_draw(uint64_t *s, int *lock)
{
    uint64_t              page = below(s, PAGES);
    struct hearthi_notice n = { page, 1 + (uint32_t)below(s, PAGES - page), ME,
                                0 };

    if (below(s, 2))
        n.count = 1;
    *lock = below(s, 3) ? (int)below(s, LOCKS) : -1;
    if (*lock >= 0)
        n.writer = (uint32_t)below(s, WRITERS);
    n.interval = interval[n.writer] += *lock < 0 || below(s, 2);
    if (*lock >= 0)
        n.interval -= below(s, n.interval < 8 ? n.interval + 1 : 8);
    return n;
}

static bool
learn(uint64_t *s)
{
    int                   lock;
    struct hearthi_notice n = notice_draw(s, &lock);
    bool                  own = n.writer == ME;

    if (lock >= 0)
        log_add(lock, &n);
    if (own && lock >= 0)
        return !hearthi_notice_store_add(&known, &n, lock);
    learnt[learnt_n] = (struct item){ n, hearthi_notice_store_next(&known) };
    if (!hearthi_notice_store_add(&known, &n, lock))
        return own || copies_are_dropped(&n);
    learnt_n++;
    copies_drop(&n);
    return known.runs <= known.cap && none_is_twice();
}

static void
forget(uint64_t *s)
{
    uint64_t mark = hearthi_notice_store_next(&known);
    size_t   kept = 0;

    mark -= below(s, mark < 20 ? mark + 1 : 20);
    hearthi_notice_store_forget(&known, mark);
    for (size_t i = 0; i < learnt_n; i++)
        if (learnt[i].sequence >= mark)
            learnt[kept++] = learnt[i];
    learnt_n = kept;
}

static bool
step_is_right(uint64_t *s)
{
    switch (below(s, 40)) {
    case 0: forget(s); return true;
    case 1:
    case 2: return lock_has_all(s, (int)below(s, LOCKS));
    default: return learn(s);
    }
}

START_TEST(what_is_merged_says_no_less)
{
    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i);

        case_begin(&s);
        for (size_t step = 0; step < STEPS; step++)
            if (!step_is_right(&s))
                ck_abort_msg("case %d, step %zu", i, step);
        for (int lock = 0; lock < LOCKS; lock++)
            if (!lock_has_all(&s, lock))
                ck_abort_msg("case %d, lock %d", i, lock);
        ck_assert(known.invalidate_all == 0 ||
                  known.cap - known.cap / 4 < WRITERS);
        hearthi_notice_store_free(&known);
    }
}
END_TEST

void
known_when_merged(TCase *tc)
{
    property_start();
    tcase_add_test(tc, what_is_merged_says_no_less);
}
