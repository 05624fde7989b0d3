/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Too many runs become fewer by closing the gaps between them, the cheapest
 * first: what lies in a closed gap is said to have been written, too.  That
 * costs its copies and nothing else.
 *
 * Notices of different writers stay apart, and what is merged has the latest
 * interval of its parts.  That is right for all parts: the intervals of a
 * writer end one after the other, each with its diffs at home, so that a rank
 * that drops its copies because of the latest has dropped them after all of
 * them had ended; and the writer itself needs to drop none.  Of two writers no
 * rank can tell which interval ended last, and a number that the merger made
 * up would be news to all ranks: two logs that are always full would send such
 * news round for ever.  As it is, runs of a writer only grow into each other
 * and no interval gets later, so that it comes to an end.
 */
#include "config.h"

#include "base/assert.h"
#include "notice.h"

#include <stdlib.h>
#include <string.h>

/* No gap: between these is nothing that can be closed. */
static const uint64_t APART = UINT64_MAX;

/* ---- which gaps are to be closed ---- */

static size_t
gaps_up_to(hearthi_gap *gap, const void *runs, size_t n, uint64_t most)
{
    size_t count = 0;

    for (size_t i = 0; i < n; i++)
        count += gap(runs, i) <= most;
    return count;
}

static uint64_t
widest(hearthi_gap *gap, const void *runs, size_t n)
{
    uint64_t most = 0;

    for (size_t i = 0; i < n; i++)
        if (gap(runs, i) != APART && gap(runs, i) > most)
            most = gap(runs, i);
    return most;
}

/* By bisection: a pass for each bit of the widest gap, and no memory. */
struct hearthi_closing
hearthi_gaps_close(hearthi_gap *gap, const void *runs, size_t n, size_t fewer)
{
    uint64_t low = 0, high = widest(gap, runs, n);

    while (low < high) {
        uint64_t mid = low + (high - low) / 2;

        if (gaps_up_to(gap, runs, n, mid) >= fewer)
            high = mid;
        else
            low = mid + 1;
    }
    if (low > 0)
        fewer -= gaps_up_to(gap, runs, n, low - 1);
    return (struct hearthi_closing){ low, fewer };
}

bool
hearthi_gap_is_closed(struct hearthi_closing *c, uint64_t gap)
{
    if (gap == APART || gap > c->width)
        return false;
    if (gap < c->width)
        return true;
    if (c->as_wide == 0)
        return false;
    c->as_wide--;
    return true;
}

/* ---- two notices ---- */

static bool
is_invalidate_all(const struct hearthi_notice *n)
{
    return n->count == HEARTHI_INVALIDATE_ALL;
}

static int
in_order(bool before, bool after)
{
    return before ? -1 : after;
}

static int
notice_order(const void *a, const void *b)
{
    const struct hearthi_notice *x = a, *y = b;

    if (is_invalidate_all(x) != is_invalidate_all(y))
        return in_order(is_invalidate_all(x), is_invalidate_all(y));
    if (x->writer != y->writer)
        return in_order(x->writer < y->writer, true);
    if (x->page != y->page)
        return in_order(x->page < y->page, true);
    return in_order(x->count > y->count, x->count < y->count);
}

/* Does *a, which stands before it, say all that *b says? */
static bool
covers(const struct hearthi_notice *a, const struct hearthi_notice *b)
{
    return a->writer == b->writer &&
           is_invalidate_all(a) == is_invalidate_all(b) &&
           a->page + a->count >= b->page + b->count &&
           (a->interval >= b->interval ||
            (a->page == b->page && a->count == b->count));
}

/* The pages of which copies would be dropped for nothing: those between, and
 * those of the earlier interval, whose notice would be news once more to a
 * rank that knows it.  So what was written long ago is not stirred up each
 * time. */
uint64_t
hearthi_notice_gap(const struct hearthi_notice *a,
                   const struct hearthi_notice *b)
{
    uint64_t gap;

    if (a->writer != b->writer || is_invalidate_all(a) || is_invalidate_all(b))
        return APART;
    gap = hearthi_gap_between(a->page, a->count, b->page, b->count);
    if (gap == APART || a->interval == b->interval)
        return gap;
    return gap + (a->interval > b->interval ? b : a)->count;
}

/* ---- what begins with a notice: inline, since notices alone are many ---- */

#define INLINE static inline __attribute__((always_inline))

INLINE struct hearthi_notice *
at(void *all, size_t i, const struct hearthi_merging *m)
{
    return (struct hearthi_notice *)(void *)((char *)all + i * m->size);
}

/* Leave out what others say, and those of no pages, which say only that the
 * log has begun: one of them if there is nothing else. */
INLINE size_t
needless_drop(void *all, size_t n, const struct hearthi_merging *m)
{
    struct hearthi_notice *last = NULL, *here;
    size_t                 out = 0;

    for (size_t i = 0; i < n; i++) {
        here = at(all, i, m);
        if (last != NULL && last->count == 0)
            out--;
        last = out > 0 ? at(all, out - 1, m) : NULL;
        if (last != NULL && covers(last, here)) {
            m->join(last, here);
        } else if (last == NULL || here->count > 0) {
            last = at(all, out++, m);
            memmove(last, here, m->size);
        }
    }
    return out;
}

/* A run that has grown may be too long to be joined with the next. */
INLINE size_t
nearest_join(void *all, size_t n, size_t fewer,
             const struct hearthi_merging *m)
{
    struct hearthi_closing c = hearthi_gaps_close(m->gap, all, n - 1, fewer);
    struct hearthi_notice  before = *at(all, 0, m), here;
    struct hearthi_notice *last = at(all, 0, m), *next;
    size_t                 out = 1;

    HEARTHI_ASSERT(n > 0 && fewer > 0);
    for (size_t i = 1; i < n; i++) {
        next = at(all, i, m);
        here = *next;
        if (hearthi_gap_is_closed(&c, hearthi_notice_gap(&before, &here)) &&
            hearthi_gap_between(last->page, last->count, here.page,
                                here.count) != APART) {
            m->join(last, next);
        } else {
            last = at(all, out++, m);
            memmove(last, next, m->size);
        }
        before = here;
    }
    return out;
}

INLINE size_t
merge(void *all, size_t n, size_t most, const struct hearthi_merging *m)
{
    if (n < 2)
        return n;
    qsort(all, n, m->size, notice_order);
    n = needless_drop(all, n, m);
    HEARTHI_ASSERT(n > 0);
    return n > most ? nearest_join(all, n, n - most, m) : n;
}

size_t
hearthi_merge(void *all, size_t n, size_t most,
              const struct hearthi_merging *m)
{
    return merge(all, n, most, m);
}

/* ---- notices ---- */

static uint64_t
gap(const void *notices, size_t i)
{
    const struct hearthi_notice *n = notices;

    return hearthi_notice_gap(&n[i], &n[i + 1]);
}

static void
join(void *a, const void *b)
{
    hearthi_notice_coalesce(a, b);
}

size_t
hearthi_notices_merge(struct hearthi_notice *notice, size_t n, size_t most)
{
    static const struct hearthi_merging m = { sizeof *notice, gap, join };

    return merge(notice, n, most, &m);
}
