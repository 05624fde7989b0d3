/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The rules of notices as a whole (release consistency): a few ranks, locks
 * and pages, played one step at a time against vector clocks.
 *
 * A page's content is, for each writer, the last of its intervals whose write
 * it has.  What happened before a rank's present is kept in the same form, by
 * the definition of "happens before"; a rank may never read a copy that lacks
 * any of it.
 */
#include "notice/notice.h"

#include <string.h>

#include "harness.h"
#include "property.h"

enum { RANKS = 4, LOCKS = 3, PAGES = 12, LOG_MOST = 64, CASES = 3000 };

typedef uint64_t content[RANKS];

static struct rank {
    struct hearthi_notice_store known;
    struct hearthi_pageset      written; /* since the last release */
    bool                        here[PAGES];
    content                     copy[PAGES];
    content                     before[PAGES]; /* happens before its present */
    uint64_t                    interval;
    uint64_t                    given[LOCKS];
    uint32_t                    pos[LOCKS];
} rank[RANKS];

static struct lock {
    int                   holder;
    uint32_t              tail;
    struct hearthi_notice log[LOG_MOST];
    content               before[PAGES];
} lock[LOCKS];

static content  home[PAGES];
static uint32_t log_cap;
static size_t   drops, published;

static void
content_join(content *a, const content *b)
{
    for (int p = 0; p < PAGES; p++)
        for (int w = 0; w < RANKS; w++)
            if (b[p][w] > a[p][w])
                a[p][w] = b[p][w];
}

/* ---- what a rank does between two synchronisations ---- */

static void
page_fetch(struct rank *r, int p)
{
    if (!r->here[p])
        memcpy(r->copy[p], home[p], sizeof home[p]);
    r->here[p] = true;
}

static bool
page_read(struct rank *r, int p)
{
    page_fetch(r, p);
    for (int w = 0; w < RANKS; w++)
        if (r->copy[p][w] < r->before[p][w])
            return false;
    return true;
}

static void
page_write(struct rank *r, int p)
{
    int me = (int)(r - rank);

    page_fetch(r, p);
    r->copy[p][me] = r->before[p][me] = r->interval + 1;
    hearthi_pageset_add(&r->written, (uint64_t)p, 1);
}

static void
page_flush(struct rank *r, int p)
{
    int me = (int)(r - rank);

    if (r->here[p])
        home[p][me] = r->copy[p][me];
}

static void
page_drop(struct rank *r, int p)
{
    page_flush(r, p);
    r->here[p] = false;
}

/* ---- synchronisation ---- */

static void
notice_apply(struct rank *r, const struct hearthi_notice *n)
{
    uint64_t first = n->page, end = n->page + n->count;

    if (n->count == HEARTHI_INVALIDATE_ALL) {
        first = 0;
        end = PAGES;
    }
    for (; first < end; first++)
        page_drop(r, (int)first);
    drops++;
}

static void
lock_acquire(struct rank *r, int l)
{
    static const struct hearthi_notice all = { 0, HEARTHI_INVALIDATE_ALL, 0,
                                               0 };
    struct hearthi_ring_span           span[2];

    lock[l].holder = (int)(r - rank);
    if (hearthi_ring_read(log_cap, r->pos[l], lock[l].tail, span)) {
        for (int i = 0; i < 2; i++)
            for (uint32_t k = 0; k < span[i].n; k++)
                if (hearthi_notice_store_add(&r->known,
                                             &lock[l].log[span[i].at + k], l))
                    notice_apply(r, &lock[l].log[span[i].at + k]);
    } else {
        hearthi_notice_store_lost(&r->known, l, r->given[l]);
        notice_apply(r, &all);
    }
    r->pos[l] = lock[l].tail;
    content_join(r->before, lock[l].before);
}

static void
interval_end(struct rank *r)
{
    r->interval++;
    hearthi_pageset_normalise(&r->written);
    for (size_t i = 0; i < r->written.n; i++) {
        struct hearthi_notice n = { r->written.run[i].page,
                                    r->written.run[i].count,
                                    (uint32_t)(r - rank), r->interval };

        hearthi_notice_store_add(&r->known, &n, -1);
    }
    for (int p = 0; p < PAGES; p++)
        page_flush(r, p);
    hearthi_pageset_clear(&r->written);
}

static void
lock_release(struct rank *r, int l)
{
    struct hearthi_notice    out[LOG_MOST + 1];
    struct hearthi_ring_span span[2];
    size_t                   n, from = 0;

    interval_end(r);
    n = hearthi_notice_store_since(&r->known, l, &r->given[l], out,
                                   log_cap + 1);
    if (n > log_cap)
        r->given[l] = hearthi_notice_store_next(&r->known);
    published += n;
    if (hearthi_ring_write(log_cap, &lock[l].tail, (uint32_t)n, span))
        for (int i = 0; i < 2; i++) {
            memcpy(&lock[l].log[span[i].at], &out[from],
                   span[i].n * sizeof *out);
            from += span[i].n;
        }
    content_join(lock[l].before, (const content *)r->before);
    lock[l].holder = -1;
}

/* Everybody learns what the others wrote since the last one.  Notices are
 * not needed for that here: copies that lack something are dropped. */
static void
barrier(void)
{
    content all[PAGES] = { 0 };

    for (int r = 0; r < RANKS; r++) {
        interval_end(&rank[r]);
        content_join(all, (const content *)rank[r].before);
    }
    for (int r = 0; r < RANKS; r++) {
        content_join(rank[r].before, (const content *)all);
        for (int p = 0; p < PAGES; p++)
            if (memcmp(rank[r].copy[p], all[p], sizeof all[p]) != 0)
                page_drop(&rank[r], p);
        hearthi_notice_store_clear(&rank[r].known);
        memset(rank[r].pos, 0, sizeof rank[r].pos);
    }
    for (int l = 0; l < LOCKS; l++)
        lock[l].tail = 0;
}

/* ---- random histories ---- */

static void
case_begin(uint64_t *s, size_t log_least)
{
    size_t cap = 1 + below(s, below(s, 2) ? 4 : 40);

    log_cap = (uint32_t)(log_least + below(s, LOG_MOST + 1 - log_least));
    memset(home, 0, sizeof home);
    memset(rank, 0, sizeof rank);
    memset(lock, 0, sizeof lock);
    for (int r = 0; r < RANKS; r++) {
        hearthi_notice_store_init(&rank[r].known, cap, (uint32_t)r);
        hearthi_pageset_init(&rank[r].written, PAGES);
    }
    for (int l = 0; l < LOCKS; l++)
        lock[l].holder = -1;
}

static void
case_end(void)
{
    for (int r = 0; r < RANKS; r++) {
        hearthi_notice_store_free(&rank[r].known);
        hearthi_pageset_free(&rank[r].written);
    }
}

static bool
nobody_holds(void)
{
    for (int l = 0; l < LOCKS; l++)
        if (lock[l].holder >= 0)
            return false;
    return true;
}

/* One step of one rank; false if it read what is too old. */
static bool
step(uint64_t *s)
{
    struct rank *r = &rank[below(s, RANKS)];
    int          l = (int)below(s, LOCKS), p = (int)below(s, PAGES);

    switch (below(s, 16)) {
    case 0:
    case 1:
    case 2:
    case 3: page_write(r, p); break;
    case 4: page_drop(r, p); break;
    case 5:
        if (below(s, 12) == 0 && nobody_holds())
            barrier();
        break;
    case 6:
    case 7:
    case 8:
    case 9: return page_read(r, p);
    default:
        if (lock[l].holder < 0)
            lock_acquire(r, l);
        else
            lock_release(&rank[lock[l].holder], l);
    }
    return true;
}

START_TEST(no_chain_of_locks_loses_a_write)
{
    drops = 0;
    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i);

        case_begin(&s, 1);
        for (size_t k = 0, n = below(&s, 1500); k < n; k++)
            if (!step(&s))
                ck_abort_msg("case %d, step %zu", i, k);
        case_end();
    }
    ck_assert_uint_gt(drops, CASES);
}
END_TEST

/* One round of every rank through every lock, in any order. */
static size_t
round_publish(uint64_t *s)
{
    published = 0;
    for (size_t k = 0; k < RANKS * LOCKS; k++) {
        int l = (int)below(s, LOCKS);

        lock_acquire(&rank[below(s, RANKS)], l);
        lock_release(&rank[lock[l].holder], l);
    }
    return published;
}

START_TEST(when_nobody_writes_no_notice_circulates_for_ever)
{
    enum { ROUNDS = 400, SILENT = 20 };

    for (int i = 0; i < CASES; i++) {
        uint64_t s = case_start(i);
        size_t   rounds = 0, silent = 0;

        case_begin(&s, LOG_MOST / 2);
        for (size_t k = 0, n = below(&s, 1500); k < n; k++)
            step(&s);
        for (int l = 0; l < LOCKS; l++)
            if (lock[l].holder >= 0)
                lock_release(&rank[lock[l].holder], l);
        for (; rounds < ROUNDS && silent < SILENT; rounds++)
            silent = round_publish(&s) == 0 ? silent + 1 : 0;
        if (silent < SILENT)
            ck_abort_msg("case %d: still %zu notices a round", i, published);
        case_end();
    }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("notice");
    TCase *tc = tcase_create("notice");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, no_chain_of_locks_loses_a_write);
    tcase_add_test(tc, when_nobody_writes_no_notice_circulates_for_ever);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
