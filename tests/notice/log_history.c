/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A lock's log with its notices, against a list of all that was ever
 * published.
 */
#include "log.h"

#include <string.h>

#include "property.h"

enum {
    CASES = 100,
    STEPS = 1500,
    RANKS = 3,
    WRITERS = HEARTHI_LOG + 40, /* too many to be merged */
    PAGES = 4096,
    ALL = 1 << 16 /* notices that a case publishes, at most */
};

/* ---- logs with what they hold ---- */

struct store {
    struct hearthi_log    log;
    struct hearthi_notice notice[HEARTHI_LOG];
};

static void
store_write(struct store *s, const struct hearthi_ring_span span[2],
            const struct hearthi_notice *from)
{
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_le(span[i].at + span[i].n, HEARTHI_LOG);
        memcpy(s->notice + span[i].at, from, span[i].n * sizeof *from);
        from += span[i].n;
    }
}

static uint32_t
store_read(const struct store *s, const struct hearthi_ring_span span[2],
           struct hearthi_notice *to)
{
    for (int i = 0; i < 2; i++) {
        ck_assert_uint_le(span[i].at + span[i].n, HEARTHI_LOG);
        memcpy(to, s->notice + span[i].at, span[i].n * sizeof *to);
        to += span[i].n;
    }
    return span[0].n + span[1].n;
}

/* As transports do. */
static void
store_append(struct store *s, uint64_t epoch, const struct hearthi_notice *n,
             uint32_t count)
{
    struct hearthi_notice    all[2 * HEARTHI_LOG];
    struct hearthi_ring_span span[2];

    if (hearthi_log_is_full(&s->log, HEARTHI_LOG, epoch, count, span)) {
        ck_assert_uint_eq(store_read(s, span, all), s->log.whole);
        hearthi_log_merge(&s->log, HEARTHI_LOG, all, n, count, span);
        store_write(s, span, all);
    } else if (hearthi_log_append(&s->log, HEARTHI_LOG, epoch, count, span)) {
        store_write(s, span, n);
    }
}

static struct hearthi_notice
page_of(uint64_t page, uint32_t writer, uint64_t interval)
{
    return (struct hearthi_notice){ page, 1, writer, interval };
}

/* Readers who have lost some of the ring find all of it merged; who has lost
 * nothing reads what is new and no more, unless the log was merged since. */
START_TEST(a_full_log_is_merged_and_loses_nothing)
{
    enum { TIMES = 40, EACH = HEARTHI_LOG / 14 + 1 };
    static struct store      s;
    struct hearthi_notice    n[EACH], got[HEARTHI_LOG];
    struct hearthi_ring_span span[2];
    uint64_t                 interval = 0;

    memset(&s, 0, sizeof s);
    for (int k = 0; k < TIMES; k++) {
        uint32_t pos = s.log.end, last = pos, had = s.log.whole;
        uint32_t writer = (uint32_t)k % 5;

        for (uint32_t i = 0; i < EACH; i++)
            n[i] = page_of(1000 * writer + 2 * i, writer, ++interval);
        store_append(&s, 1, n, EACH);
        ck_assert_int_eq(hearthi_log_read(&s.log, HEARTHI_LOG, 1, &pos, span),
                         HEARTHI_LOG_NEWS);
        if (had + EACH <= HEARTHI_LOG)
            ck_assert_uint_eq(store_read(&s, span, got), EACH);
        ck_assert_uint_eq(pos, s.log.end);
        ck_assert_uint_gt(pos, last);
        pos = 0;
        ck_assert_int_eq(hearthi_log_read(&s.log, HEARTHI_LOG, 1, &pos, span),
                         HEARTHI_LOG_NEWS);
        ck_assert_uint_le(store_read(&s, span, got), HEARTHI_LOG);
    }
}
END_TEST

/* One page that is written again and again never fills a log. */
START_TEST(a_page_written_again_and_again_takes_one_place_of_a_merged_log)
{
    static struct store      s;
    struct hearthi_ring_span span[2];

    memset(&s, 0, sizeof s);
    for (uint32_t i = 1; i <= 50 * HEARTHI_LOG; i++) {
        struct hearthi_notice n = page_of(7, i % 3, i), got[HEARTHI_LOG];
        uint32_t              pos = 0;

        store_append(&s, 1, &n, 1);
        if (s.log.whole == 3) { /* just merged */
            hearthi_log_read(&s.log, HEARTHI_LOG, 1, &pos, span);
            pos = store_read(&s, span, got);
            ck_assert_uint_eq(got[pos - 1].page, 7);
            ck_assert_uint_eq(got[pos - 1].count, 1);
        }
    }
    ck_assert_uint_gt(s.log.whole, 0);
}
END_TEST

/* ---- all of them together ---- */

/* What was published, in order, with the epoch of its writer. */
struct history {
    struct store          store;
    struct hearthi_notice notice[ALL];
    uint64_t              writer_epoch[ALL];
    uint32_t              count;
    uint32_t              begun;   /* where the log's epoch begins */
    uint32_t              lost_at; /* before it, something did not fit */
    uint64_t              epoch;   /* latest of all writers */
    uint32_t              writers;
};

/* A rank comes to a barrier, which ends its epoch as a writer, and leaves it,
 * which ends its epoch as a reader. */
struct reader {
    uint64_t writes, reads, pos_epoch; /* epochs */
    uint32_t pos, seen;                /* seen: of the history */
};

static void
publish(struct history *h, uint64_t epoch, uint32_t n, uint64_t *s)
{
    uint32_t from = h->count;

    if (n == 0 || n > ALL - h->count)
        return;
    if (epoch > h->epoch) {
        h->epoch = epoch;
        h->begun = h->count;
    }
    for (uint32_t i = 0; i < n; i++, h->count++) {
        h->writer_epoch[h->count] = epoch;
        h->notice[h->count] = page_of(
            below(s, PAGES), (uint32_t)below(s, h->writers), h->count + 1);
    }
    store_append(&h->store, epoch, h->notice + from, n);
    if (h->store.log.whole == 0)
        h->lost_at = h->count;
}

/* Was it published in the reader's epoch or later, that is, not told by a
 * barrier that the reader has passed? */
static bool
is_missing(const struct history *h, const struct reader *r, uint32_t i)
{
    return h->writer_epoch[i] >= r->reads;
}

static uint32_t
missing(const struct history *h, const struct reader *r, uint32_t from)
{
    uint32_t n = 0;

    for (uint32_t i = from; i < h->count; i++)
        n += is_missing(h, r, i);
    return n;
}

/* Of the same writer, of a run that has the page, of no earlier interval. */
static bool
is_said(const struct hearthi_notice *n, const struct hearthi_notice *by,
        uint32_t count)
{
    for (uint32_t i = 0; i < count; i++)
        if (by[i].writer == n->writer && by[i].interval >= n->interval &&
            n->page >= by[i].page && n->page - by[i].page < by[i].count)
            return true;
    return false;
}

/* What the spans bring says all that is missing. */
static void
news_check(const struct history *h, const struct reader *r,
           const struct hearthi_ring_span *span, int number)
{
    struct hearthi_notice got[HEARTHI_LOG];
    uint32_t              n = store_read(&h->store, span, got);

    for (uint32_t i = r->seen; i < h->count; i++)
        if (is_missing(h, r, i) && !is_said(&h->notice[i], got, n))
            ck_abort_msg("case %d: notice %u is not said", number, i);
}

/* Has there been too much to be merged since the log's epoch began? */
static bool
is_lost(const struct history *h)
{
    return h->begun < h->lost_at;
}

static void
follow(const struct history *h, struct reader *r, int number)
{
    uint32_t                 pos = r->pos_epoch == r->reads ? r->pos : 0;
    struct hearthi_ring_span span[2];
    bool                     right = true;

    switch (
        hearthi_log_read(&h->store.log, HEARTHI_LOG, r->reads, &pos, span)) {
    case HEARTHI_LOG_PAST: right = missing(h, r, r->seen) == 0; break;
    case HEARTHI_LOG_NEWS: news_check(h, r, span, number); break;
    case HEARTHI_LOG_LOST: right = is_lost(h); break;
    case HEARTHI_LOG_AHEAD: right = h->epoch > r->reads; break;
    }
    if (!right)
        ck_abort_msg("case %d: a wrong answer", number);
    r->pos = pos;
    r->pos_epoch = r->reads;
    r->seen = h->count;
}

/* One step into or out of a barrier, if the rank can make it. */
static void
barrier_step(struct reader *rank, int i)
{
    if (rank[i].writes == rank[i].reads) {
        rank[i].writes++;
        return;
    }
    for (int k = 0; k < RANKS; k++)
        if (rank[k].writes <= rank[i].reads)
            return;
    rank[i].reads++;
}

/* Many barriers without a look at the log. */
static void
rest(struct reader *rank, uint64_t barriers)
{
    uint64_t epoch = 0;

    for (int i = 0; i < RANKS; i++)
        if (rank[i].writes > epoch)
            epoch = rank[i].writes;
    epoch += barriers;
    for (int i = 0; i < RANKS; i++)
        rank[i].writes = rank[i].reads = epoch;
}

START_TEST(a_reader_misses_nothing_that_no_barrier_has_told)
{
    static struct history h;

    for (int i = 0; i < CASES; i++) {
        uint64_t      s = case_start(i), first = 1 + below(&s, UINT16_MAX + 9);
        bool          may_rest = below(&s, 2) != 0;
        struct reader rank[RANKS];

        memset(&h, 0, sizeof h);
        h.store.log.epoch = first;
        h.epoch = first;
        h.writers = (uint32_t)(below(&s, 4) ? 1 + below(&s, 4) : WRITERS);
        for (int k = 0; k < RANKS; k++)
            rank[k] = (struct reader){ .writes = first, .reads = first };
        for (int step = 0; step < STEPS; step++) {
            int            who = (int)below(&s, RANKS);
            struct reader *r = &rank[who];
            size_t         most = below(&s, 16) ? 40 : HEARTHI_LOG + 9;

            if (below(&s, 3) == 0)
                publish(&h, r->writes, (uint32_t)below(&s, most), &s);
            else if (below(&s, 2))
                follow(&h, r, i);
            else if (below(&s, 2))
                barrier_step(rank, who);
            else if (may_rest && below(&s, 20) == 0)
                rest(rank, 1 + below(&s, 3 * UINT16_MAX));
        }
    }
}
END_TEST

void
logs_with_notices(TCase *tc)
{
    tcase_add_test(tc, a_full_log_is_merged_and_loses_nothing);
    tcase_add_test(
        tc, a_page_written_again_and_again_takes_one_place_of_a_merged_log);
    tcase_add_test(tc, a_reader_misses_nothing_that_no_barrier_has_told);
}
