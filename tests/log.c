/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The rule of a lock's log against a list of all that was ever published, and
 * the choice of managers.
 */
#include "transport/log.h"

#include <string.h>

#include "harness.h"
#include "property.h"

enum {
    CASES = 400,
    STEPS = 1500,
    RANKS = 3,
    ALL = 1 << 16 /* notices that a case publishes, at most */
};

static const struct hearthi_span none[2];

/* ---- the rules one by one ---- */

static const uint64_t epochs[] = { 1,
                                   2,
                                   UINT16_MAX / 2,
                                   UINT16_MAX,
                                   UINT32_MAX,
                                   UINT64_C(1) << 32,
                                   UINT64_C(1) << 62 };

enum { N_EPOCHS = sizeof epochs / sizeof *epochs };

/* However long ago: so long that less than 64 bits would have gone round. */
START_TEST(a_log_of_an_earlier_epoch_has_nothing)
{
    struct hearthi_span span[2];

    for (int i = 0; i < N_EPOCHS; i++)
        for (uint64_t ago = 1; ago <= epochs[i]; ago = ago * 2 - ago / 3) {
            struct hearthi_log log = { epochs[i] - ago, 7 };
            uint32_t           pos = 3;

            ck_assert_int_eq(hearthi_log_read(&log, epochs[i], &pos, span),
                             HEARTHI_LOG_PAST);
            ck_assert_uint_eq(pos, 0);
            ck_assert_int_eq(memcmp(span, none, sizeof span), 0);
        }
}
END_TEST

START_TEST(a_log_of_a_later_epoch_is_everything)
{
    struct hearthi_span span[2];

    for (int i = 0; i < N_EPOCHS; i++)
        for (uint64_t ahead = 1; ahead < UINT64_C(1) << 62; ahead *= 2) {
            struct hearthi_log log = { epochs[i] + ahead, 7 };
            uint32_t           pos = 3;

            ck_assert_int_eq(hearthi_log_read(&log, epochs[i], &pos, span),
                             HEARTHI_LOG_AHEAD);
            ck_assert_uint_eq(pos, 7);
            ck_assert_int_eq(memcmp(span, none, sizeof span), 0);
        }
}
END_TEST

START_TEST(an_append_begins_an_earlier_log_anew_and_continues_a_later_one)
{
    struct hearthi_span span[2];

    for (int i = 0; i < N_EPOCHS; i++)
        for (int k = 0; k < N_EPOCHS; k++) {
            bool               past = epochs[k] < epochs[i];
            struct hearthi_log log = { epochs[k], 7 };

            ck_assert(hearthi_log_append(&log, epochs[i], 2, span));
            ck_assert_uint_eq(log.epoch, past ? epochs[i] : epochs[k]);
            ck_assert_uint_eq(log.end, past ? 2 : 9);
            ck_assert_uint_eq(span[0].at, past ? 0 : 7);
            ck_assert_uint_eq(span[0].n, 2);
            ck_assert_uint_eq(span[1].n, 0);
        }
}
END_TEST

START_TEST(an_append_of_nothing_leaves_the_log_alone)
{
    struct hearthi_log  log = { 3, 7 };
    struct hearthi_span span[2];

    ck_assert(!hearthi_log_append(&log, 4, 0, span));
    ck_assert_uint_eq(log.epoch, 3);
    ck_assert_uint_eq(log.end, 7);
}
END_TEST

START_TEST(more_than_a_log_holds_is_everything_for_every_reader)
{
    struct hearthi_span span[2];
    uint32_t            last = 2 * HEARTHI_LOG;

    for (uint32_t from = 0; from <= last; from++)
        for (uint32_t pos = 0; pos <= from; pos++) {
            struct hearthi_log log = { 1, from };
            uint32_t           at = pos;

            ck_assert(!hearthi_log_append(&log, 1, HEARTHI_LOG + 1, span));
            ck_assert_int_eq(hearthi_log_read(&log, 1, &at, span),
                             HEARTHI_LOG_LOST);
            ck_assert_uint_eq(at, log.end);
            ck_assert_int_eq(hearthi_log_read(&log, 1, &at, span),
                             HEARTHI_LOG_NEWS);
        }
}
END_TEST

/* A reader who has read nothing in this epoch is the one to be deceived, and
 * one who has read all of it. */
START_TEST(a_log_that_ran_out_of_positions_is_everything_until_the_next_epoch)
{
    struct hearthi_span span[2];

    for (uint32_t before = 1; before <= HEARTHI_LOG + 1; before++) {
        struct hearthi_log log = { 1, UINT32_MAX - before };
        uint32_t           pos = 0;

        /* with what does not fit, and with what does */
        ck_assert(!hearthi_log_append(
            &log, 1, before % 2 ? HEARTHI_LOG + 1 : before, span));
        for (int k = 0; k < 3; k++) {
            ck_assert_int_eq(hearthi_log_read(&log, 1, &pos, span),
                             HEARTHI_LOG_LOST);
            ck_assert(!hearthi_log_is_unchanged(&log, pos));
            ck_assert(!hearthi_log_append(&log, 1, 1, span));
        }
        pos = 0;
        ck_assert(hearthi_log_append(&log, 2, 1, span));
        ck_assert_int_eq(hearthi_log_read(&log, 2, &pos, span),
                         HEARTHI_LOG_NEWS);
        ck_assert_uint_eq(span[0].n, 1);
    }
}
END_TEST

/* ---- all of them together ---- */

/* What was published, in order, with the epoch of its writer. */
struct history {
    struct hearthi_log log;
    uint32_t           store[HEARTHI_LOG]; /* numbers in `writer_epoch` */
    uint64_t           writer_epoch[ALL];
    uint32_t           count;
    uint32_t           begun;   /* where the log's epoch begins */
    uint32_t           lost_at; /* before it, something did not fit */
    uint64_t           epoch;   /* latest of all writers */
};

/* A rank comes to a barrier, which ends its epoch as a writer, and leaves it,
 * which ends its epoch as a reader. */
struct reader {
    uint64_t writes, reads, pos_epoch; /* epochs */
    uint32_t pos, seen;                /* seen: of the history */
};

static void
publish(struct history *h, uint64_t epoch, uint32_t n)
{
    struct hearthi_span span[2];
    uint32_t            id = h->count;

    if (n == 0 || n > ALL - h->count)
        return;
    if (epoch > h->epoch) {
        h->epoch = epoch;
        h->begun = h->count;
    }
    for (uint32_t i = 0; i < n; i++)
        h->writer_epoch[h->count++] = epoch;
    if (!hearthi_log_append(&h->log, epoch, n, span)) {
        h->lost_at = h->count;
        return;
    }
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < span[i].n; k++)
            h->store[span[i].at + k] = id++;
    ck_assert_uint_eq(id, h->count);
}

/* Published in the reader's epoch or later, that is, not told by a barrier
 * that the reader has passed. */
static uint32_t
missing(const struct history *h, const struct reader *r, uint32_t from)
{
    uint32_t n = 0;

    for (uint32_t i = from; i < h->count; i++)
        n += h->writer_epoch[i] >= r->reads;
    return n;
}

/* What the spans bring is all that is missing. */
static void
news_check(const struct history *h, const struct reader *r,
           const struct hearthi_span *span, int number)
{
    uint32_t n = span[0].n + span[1].n, next = h->count - n;

    if (n > h->count ||
        missing(h, r, r->seen < next ? r->seen : next) > missing(h, r, next))
        ck_abort_msg("case %d: %u notices are not all", number, n);
    for (int i = 0; i < 2; i++)
        for (uint32_t k = 0; k < span[i].n; k++)
            if (span[i].at + k >= HEARTHI_LOG ||
                h->store[span[i].at + k] != next++)
                ck_abort_msg("case %d: not notice %u", number, next - 1);
}

/* Does the log no longer hold what the reader has not read of its epoch? */
static bool
is_lost(const struct history *h, const struct reader *r)
{
    uint32_t from = h->begun;

    if (r->pos_epoch == r->reads && r->seen > from)
        from = r->seen;
    return from < h->lost_at || h->count - from > HEARTHI_LOG;
}

static void
follow(const struct history *h, struct reader *r, int number)
{
    uint32_t            pos = r->pos_epoch == r->reads ? r->pos : 0;
    struct hearthi_span span[2];
    bool                right = true;

    switch (hearthi_log_read(&h->log, r->reads, &pos, span)) {
    case HEARTHI_LOG_PAST: right = missing(h, r, r->seen) == 0; break;
    case HEARTHI_LOG_NEWS: news_check(h, r, span, number); break;
    case HEARTHI_LOG_LOST: right = is_lost(h, r); break;
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
        h.log.epoch = first;
        h.epoch = first;
        for (int k = 0; k < RANKS; k++)
            rank[k] = (struct reader){ .writes = first, .reads = first };
        for (int step = 0; step < STEPS; step++) {
            int            who = (int)below(&s, RANKS);
            struct reader *r = &rank[who];
            size_t         most = below(&s, 16) ? 40 : HEARTHI_LOG + 9;

            if (below(&s, 3) == 0)
                publish(&h, r->writes, (uint32_t)below(&s, most));
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

/* ---- managers ---- */

START_TEST(every_object_has_a_place_of_its_own_at_one_rank)
{
    static bool taken[HEARTHI_SYNCS * 3];

    for (int size = 1; size < 2 * HEARTHI_SYNCS; size = size * 3 / 2 + 1) {
        size_t count = hearthi_managed_count(size);

        ck_assert_uint_le((size_t)size * count, sizeof taken);
        memset(taken, 0, sizeof taken);
        for (int sync = 0; sync < HEARTHI_SYNCS; sync++) {
            int    rank = hearthi_manager(sync, size);
            size_t at = hearthi_managed_at(sync, size);
            bool  *place;

            ck_assert(rank >= 0 && rank < size && at < count);
            place = &taken[(size_t)rank * count + at];
            ck_assert(!*place);
            *place = true;
        }
    }
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("log");
    TCase *tc = tcase_create("log");

    property_start();
    tcase_set_timeout(tc, 60);
    tcase_add_test(tc, a_log_of_an_earlier_epoch_has_nothing);
    tcase_add_test(tc, a_log_of_a_later_epoch_is_everything);
    tcase_add_test(
        tc, an_append_begins_an_earlier_log_anew_and_continues_a_later_one);
    tcase_add_test(tc, an_append_of_nothing_leaves_the_log_alone);
    tcase_add_test(tc, more_than_a_log_holds_is_everything_for_every_reader);
    tcase_add_test(
        tc,
        a_log_that_ran_out_of_positions_is_everything_until_the_next_epoch);
    tcase_add_test(tc, a_reader_misses_nothing_that_no_barrier_has_told);
    tcase_add_test(tc, every_object_has_a_place_of_its_own_at_one_rank);
    suite_add_tcase(s, tc);
    return unit_main(s);
}
