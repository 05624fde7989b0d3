/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Page sets: runs are appended as they come, and sorted and merged when their
 * number has doubled since that was done last.  So a set that is added over
 * and over costs a constant times the logarithm of its size, and never more
 * than twice its memory.
 */
#include "config.h"

#include "base/assert.h"
#include "notice.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"

enum { LIMIT_MIN = 64 };

static const uint64_t LONGEST = HEARTHI_INVALIDATE_ALL - 1;

void
hearthi_pageset_init(struct hearthi_pageset *s, size_t cap)
{
    memset(s, 0, sizeof *s);
    s->cap = cap > 0 ? cap : 1;
    s->limit = LIMIT_MIN;
}

void
hearthi_pageset_free(struct hearthi_pageset *s)
{
    free(s->run);
    hearthi_pageset_init(s, s->cap);
}

void
hearthi_pageset_clear(struct hearthi_pageset *s)
{
    s->n = 0;
    s->limit = LIMIT_MIN;
    s->loose = s->invalidate_all = false;
}

/* Make *r the union, if that is one run and not too long. */
static bool
run_join(struct hearthi_pagerun *r, uint64_t page, uint64_t count)
{
    uint64_t first = page < r->page ? page : r->page;
    uint64_t end = page + count, other = r->page + r->count;

    if (page > other || end < r->page)
        return false;
    end = end > other ? end : other;
    if (end - first > LONGEST)
        return false;
    r->page = first;
    r->count = (uint32_t)(end - first);
    return true;
}

static void
run_append(struct hearthi_pageset *s, uint64_t page, uint32_t count)
{
    if (s->n == s->room) {
        size_t more = s->room > 0 ? 2 * s->room : LIMIT_MIN;
        size_t room = more < s->limit ? more : s->limit;
        void  *run = realloc(s->run, room * sizeof *s->run);

        if (run == NULL)
            hearthi_fatal("release", "no memory to note %zu runs of pages",
                          room);
        s->run = run;
        s->room = room;
    }
    HEARTHI_ASSERT(s->n < s->room && s->n < s->limit);
    s->run[s->n++] = (struct hearthi_pagerun){ page, count };
}

void
hearthi_pageset_add(struct hearthi_pageset *s, uint64_t page, uint32_t count)
{
    if (s->invalidate_all || count == 0)
        return;
    if (count == HEARTHI_INVALIDATE_ALL) {
        s->invalidate_all = true;
        s->n = 0;
        return;
    }
    s->loose = true;
    if (s->n > 0 && run_join(&s->run[s->n - 1], page, count))
        return;
    run_append(s, page, count);
    if (s->n >= s->limit)
        hearthi_pageset_normalise(s);
}

static int
run_order(const void *a, const void *b)
{
    const struct hearthi_pagerun *x = a, *y = b;

    return x->page < y->page ? -1 : x->page > y->page;
}

/* Merge sorted runs in place.  One that is too long is written in pieces,
 * never more than the runs that it was made of. */
static size_t
runs_merge(struct hearthi_pagerun *run, size_t n)
{
    size_t out = 0;

    for (size_t i = 0; i < n;) {
        uint64_t page = run[i].page, end = page;

        for (; i < n && run[i].page <= end; i++)
            if (run[i].page + run[i].count > end)
                end = run[i].page + run[i].count;
        for (uint64_t count; page < end; page += count) {
            count = end - page < LONGEST ? end - page : LONGEST;
            run[out++] = (struct hearthi_pagerun){ page, (uint32_t)count };
        }
    }
    return out;
}

static uint64_t
run_gap(const void *runs, size_t i)
{
    const struct hearthi_pagerun *r = (const struct hearthi_pagerun *)runs + i;

    return hearthi_gap_between(r[0].page, r[0].count, r[1].page, r[1].count);
}

/* Close the narrowest gaps between maximal runs.  As many runs as before stay
 * only where they would be too long. */
static size_t
runs_coarsen(struct hearthi_pagerun *run, size_t n, size_t most)
{
    struct hearthi_closing c =
        hearthi_gaps_close(run_gap, run, n - 1, n - most);
    size_t out = 0;

    HEARTHI_ASSERT(most > 0 && n > most);
    for (size_t i = 1; i < n; i++) {
        uint64_t end = run[out].page + run[out].count;
        uint64_t next = run[i].page + run[i].count;

        if (!hearthi_gap_is_closed(&c, run[i].page - end) ||
            !run_join(&run[out], end, next - end))
            run[++out] = run[i];
    }
    return out + 1;
}

/* Runs are not empty, in order, and do not touch unless they are longest. */
HEARTHI_FOR_ASSERT static bool
are_in_order(const struct hearthi_pageset *s)
{
    for (size_t i = 0; i < s->n; i++)
        if (s->run[i].count == 0 ||
            (i > 0 &&
             s->run[i - 1].page + s->run[i - 1].count > s->run[i].page) ||
            (i > 0 && s->run[i - 1].count < LONGEST &&
             s->run[i - 1].page + s->run[i - 1].count == s->run[i].page))
            return false;
    return true;
}

void
hearthi_pageset_normalise(struct hearthi_pageset *s)
{
    if (!s->loose)
        return;
    s->loose = false;
    qsort(s->run, s->n, sizeof *s->run, run_order);
    s->n = runs_merge(s->run, s->n);
    if (s->n > s->cap)
        s->n = runs_coarsen(s->run, s->n, s->cap);
    if (s->n > s->cap) {
        s->invalidate_all = true;
        s->n = 0;
    }
    s->limit = 2 * s->n > LIMIT_MIN ? 2 * s->n : LIMIT_MIN;
    HEARTHI_ASSERT(are_in_order(s));
}
