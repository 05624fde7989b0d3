/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "reuse_prefetch.h"

#include <string.h>

#include "base/min.h"
#include "base/option.h"
#include "base/stat.h"
#include "base/test_limits.h"
#include "evict.h"
#include "fetch.h"
#include "node_cache.h"
#include "page.h"
#include "page_in_flight.h"
#include "policy/reuse_predictor.h"
#include "policy/stride_prefetch.h"

enum {
    SPANS = HEARTHI_TEST_LIMIT(256, 3),
    RUNS = HEARTHI_TEST_LIMIT(128, 2),
    CREDIT_MOST = 256,
    CREDIT_FIRST = 16,
    MISS = 4, /* costs as much as so many hits earn */
    DOUBT = 4 /* acquires */
};

/* Pages that follow each other and are to be fetched. */
struct span {
    uint64_t page, count;
};

static struct {
    bool                 on, noting;
    struct span          span[SPANS];
    size_t               spans;
    struct hearthi_fetch run[RUNS]; /* on their way, or about to be */
    size_t               runs;
    uint64_t             pages; /* in these */
    struct hearthi_fetch from_home[RUNS];
    struct hearthi_rest  rest; /* that no other rank of the node has */
    int                  credit, doubt;
    uint64_t             round; /* fetches that were begun */
} p;

void
hearthi_reuse_prefetch_open(void)
{
    memset(&p, 0, sizeof p);
    p.on =
        hearthi_opt.predict != HEARTHI_WHEN_OFF && hearthi_opt.fetch_ahead > 1;
    p.credit = CREDIT_FIRST;
    p.rest.run = p.from_home;
    p.rest.room = RUNS;
}

void
hearthi_reuse_prefetch_close(void)
{
    hearthi_reuse_prefetch_finish();
    p.on = false;
}

/* ---- what an acquire drops ---- */

void
hearthi_reuse_prefetch_begin(void)
{
    p.spans = 0;
    p.noting = p.on;
}

static void
span_add(uint64_t page)
{
    struct span *last = p.spans > 0 ? &p.span[p.spans - 1] : NULL;

    if (last != NULL && last->page + last->count == page) {
        last->count++;
    } else if (p.spans < SPANS) {
        p.span[p.spans].page = page;
        p.span[p.spans++].count = 1;
    }
}

/* A page without a frame was evicted, and is not worth another's. */
static bool
may_come(uint64_t page)
{
    const uint8_t which = HEARTHI_REGISTERED | HEARTHI_RESIDENT;

    return (hearthi_table.mark[page] & which) == which;
}

void
hearthi_reuse_prefetch_dropped(uint64_t page, uint64_t count)
{
    for (uint64_t end = page + count; p.noting && page < end; page++)
        if (hearthi_reuse_predictor_used(page) && may_come(page))
            span_add(page);
}

void
hearthi_reuse_prefetch_unused(uint64_t page)
{
    if (hearthi_reuse_predictor_missed(page))
        p.doubt = DOUBT;
    if (p.credit > -CREDIT_MOST)
        p.credit -= MISS;
}

/* ---- bringing it again ---- */

/* May so little be known of this program that it is to be let alone?  Each
 * time counts a little, so that there is another try. */
static bool
is_refused(void)
{
    if (hearthi_opt.predict == HEARTHI_WHEN_ON || p.credit > 0)
        return false;
    p.credit++;
    return true;
}

/* What was dropped later may have taken mappings, and a frame to make room. */
static bool
is_still_wanted(uint64_t page)
{
    return may_come(page) && hearthi_table.state[page] == HEARTHI_INVALID;
}

/* Can page + 1 come behind page in one piece? */
static bool
comes_together(uint64_t page)
{
    return is_still_wanted(page + 1) && hearthi_follows(page) &&
           hearthi_table.moved[page] == hearthi_table.moved[page + 1];
}

/* Ranks of a node that leave a barrier together bring different pages: one
 * that finds another at work passes by this many, so that runs are not cut to
 * single pages.  What it passes by it finds at the other when it is touched.
 */
enum { SHARE = 16 };

static uint64_t
passed_by(uint64_t page, uint64_t number)
{
    if (!is_still_wanted(page))
        return 1;
    return hearthi_node_cache_claim(page, number) ? 0 : SHARE - page % SHARE;
}

static void
span_gather(struct span s, uint64_t most, uint64_t number)
{
    while (s.count > 0 && p.runs < RUNS && p.pages < most) {
        uint64_t n = hearthi_min(passed_by(s.page, number), s.count);

        if (n > 0) {
            s.page += n;
            s.count -= n;
            continue;
        }
        for (n = 1; n < s.count && p.pages + n < most &&
                    comes_together(s.page + n - 1) &&
                    hearthi_node_cache_claim(s.page + n, number);
             n++)
            ;
        p.run[p.runs++] = (struct hearthi_fetch){
            .page = s.page,
            .count = (uint32_t)n,
            .home = hearthi_home_of(s.page),
            .frame = hearthi_home_frame_of(s.page),
            .to = hearthi_cached(s.page),
        };
        p.pages += n;
        s.page += n;
        s.count -= n;
    }
}

void
hearthi_reuse_prefetch_fetch(void)
{
    uint64_t most =
        hearthi_min(hearthi_opt.fetch_ahead, hearthi_copies_most());
    uint64_t number;

    p.noting = false;
    if (p.spans == 0 || is_refused())
        return;
    hearthi_reuse_prefetch_finish();
    number = hearthi_node_cache_number();
    for (size_t i = 0; i < p.spans; i++)
        span_gather(p.span[i], most, number);
    p.spans = 0;
    if (p.runs == 0)
        return;
    p.round++;
    p.doubt -= p.doubt > 0;
    hearthi_count(predicted, p.pages);
    if (!hearthi_fetch_start(p.run, p.runs, &p.rest))
        hearthi_reuse_prefetch_finish();
}

/* ---- they are here ---- */

static void
used(uint64_t pages)
{
    hearthi_count(predicted_used, pages);
    p.credit = (int)hearthi_min((uint64_t)(p.credit + CREDIT_MOST) + pages,
                                2 * CREDIT_MOST) -
               CREDIT_MOST;
}

void
hearthi_reuse_prefetch_show(uint64_t page, uint64_t count, bool write)
{
    uint64_t n = 0;

    for (uint64_t q = page; q < page + count; q++)
        if (hearthi_table.state[q] == HEARTHI_PREFETCHED) {
            hearthi_table.mark[q] |= HEARTHI_SECOND;
            n++;
        }
    if (n == 0)
        return;
    used(n);
    hearthi_run_open(page, count, HEARTHI_PREFETCHED, write);
}

static void
run_land(const struct hearthi_fetch *run)
{
    uint64_t end = run->page + run->count;

    for (uint64_t q = run->page; q < end; q++)
        if (hearthi_table.state[q] == HEARTHI_STALE_IN_FLIGHT)
            hearthi_reuse_prefetch_unused(q);
    hearthi_in_flight_end(run);
    for (uint64_t q = run->page; q < end; q++)
        if (hearthi_table.state[q] == HEARTHI_IN_FLIGHT)
            hearthi_table.state[q] = HEARTHI_PREFETCHED;
}

static bool
opens_at_once(uint64_t page)
{
    return hearthi_table.state[page] == HEARTHI_PREFETCHED && p.doubt == 0 &&
           hearthi_reuse_predictor_is_sure(page, p.round);
}

/* Each opening may take mappings. */
static void
run_show(const struct hearthi_fetch *run)
{
    uint64_t page = run->page, end = page + run->count;

    while (page < end && !hearthi_areas_short()) {
        uint64_t n = 0;

        while (page + n < end && opens_at_once(page + n))
            n++;
        hearthi_reuse_prefetch_show(page, n, false);
        page += n + 1;
    }
}

bool
hearthi_reuse_prefetch_finish(void)
{
    size_t n = p.runs;

    if (n == 0)
        return false;
    hearthi_fetch_finish(&p.rest);
    p.runs = 0;
    p.pages = 0;
    for (size_t i = 0; i < n; i++)
        run_land(&p.run[i]);
    for (size_t i = 0; i < n; i++)
        run_show(&p.run[i]);
    hearthi_node_copy_end(&p.rest);
    return true;
}

bool
hearthi_reuse_prefetch_brings(uint64_t page)
{
    for (size_t i = 0; i < p.runs; i++)
        if (page - p.run[i].page < p.run[i].count)
            return true;
    return false;
}

/* ---- they are touched ---- */

static uint64_t
apart_show(uint64_t page, int64_t stride, uint64_t step)
{
    uint64_t n = 0;

    for (; n < step && page < hearthi_table.top; n++) {
        hearthi_reuse_prefetch_show(page, 1, false);
        page += (uint64_t)stride;
    }
    return n;
}

/* As a fault that fetches does, so that there are no more faults than without
 * prediction. */
void
hearthi_reuse_prefetch_touch(uint64_t page, bool write)
{
    struct hearthi_stride *s =
        hearthi_stride_prefetch_find(HEARTHI_READS, page);
    bool     row = s->step > 1 && s->stride == 1;
    uint64_t n = 1, begin = page, end = page + 1;

    if (s->stride == 1 && s->step > 1)
        n = hearthi_run_length(page, s->step, HEARTHI_PREFETCHED);
    else if (s->stride == -1)
        n = hearthi_run_before(page, s->step, HEARTHI_PREFETCHED);
    hearthi_reuse_prefetch_show(page, 1, write);
    if (s->step == 1 && hearthi_is_in_group(page, &begin, &end))
        hearthi_reuse_prefetch_show(begin, end - begin, false);
    else if (row)
        hearthi_reuse_prefetch_show(page, n, write);
    else if (s->stride == -1)
        hearthi_reuse_prefetch_show(page - n + 1, n, false);
    else
        n = apart_show(page, s->stride, s->step);
    hearthi_stride_prefetch_took(s, page, n);
    if (write && row)
        hearthi_stride_prefetch_opened(s, page, n);
}
