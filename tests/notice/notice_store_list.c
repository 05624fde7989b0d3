/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank knows, against a plain list, as long as it has room.
 */
#include "notice_store.h"

#include <string.h>

#include "property.h"

enum { CASES = 2000, NAIVE_MAX = 4096, ENOUGH = 1000 };

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
    uint64_t    next, invalidate_all;
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
    struct hearthi_notice all = { 0, HEARTHI_INVALIDATE_ALL, ME,
                                  ++naive.invalidate_all };

    for (size_t i = 0; i < naive.n; i++)
        if (naive.item[i].notice.count != HEARTHI_INVALIDATE_ALL ||
            naive.item[i].notice.writer == ME)
            naive.item[i].dead = true;
    naive_append(&all, -1);
}

static void
naive_lost(int lock, uint64_t from)
{
    struct hearthi_notice all = { 0, HEARTHI_INVALIDATE_ALL, ME,
                                  ++naive.invalidate_all };
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
    if (n->writer == ME && n->count == HEARTHI_INVALIDATE_ALL) {
        naive_everything();
        return true;
    }
    naive_append(n, lock);
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

static struct hearthi_notice_store known;
static uint64_t                    interval[WRITERS], given[LOCKS];

static void
case_begin(void)
{
    memset(&naive, 0, sizeof naive);
    memset(given, 0, sizeof given);
    memset(interval, 0, sizeof interval);
    hearthi_notice_store_init(&known, ENOUGH, ME);
}

/* A notice of this rank, of another, or "invalidate_all"; now and then one
 * that is older than what is known. */
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
        n.count = HEARTHI_INVALIDATE_ALL;
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
    size_t                       n =
        hearthi_notice_store_since(&known, lock, &given[lock], got, max);

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
        hearthi_notice_store_forget(&known, mark);
        return true;
    case 1:
        naive_forget(naive.next);
        hearthi_notice_store_clear(&known);
        return true;
    case 2:
        lock = (int)below(s, LOCKS);
        naive_lost(lock, given[lock]);
        hearthi_notice_store_lost(&known, lock, given[lock]);
        return true;
    case 3:
    case 4:
    case 5:
    case 6:
    case 7:
    case 8: return since_agrees(s);
    default:
        n = notice_draw(s, &lock);
        return hearthi_notice_store_add(&known, &n, lock) ==
               naive_add(&n, lock);
    }
}

START_TEST(a_rank_knows_what_a_plain_list_would_know)
{
    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i);

        case_begin();
        for (size_t step = 0, n = below(&s, 800); step < n; step++)
            if (!step_agrees(&s) ||
                hearthi_notice_store_next(&known) != naive.next)
                ck_abort_msg("case %d, step %zu", i, step);
        hearthi_notice_store_free(&known);
    }
}
END_TEST

void
known_against_a_list(TCase *tc)
{
    property_start();
    tcase_add_test(tc, a_rank_knows_what_a_plain_list_would_know);
}
