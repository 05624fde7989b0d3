/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "reuse_prefetch.h"

#include <string.h>

#include "base/clock.h"
#include "base/min.h"
#include "base/mutex.h"
#include "base/option.h"
#include "base/stat.h"
#include "base/test_limits.h"
#include "copies.h"
#include "evict.h"
#include "fetch.h"
#include "node_cache.h"
#include "page.h"
#include "page_in_flight.h"
#include "policy/reuse_predictor.h"
#include "policy/stride_prefetch.h"
#include "profile/profile.h"

enum { RUNS = HEARTHI_TEST_LIMIT(128, 2) };

static struct {
    bool                 noting;    /* what is dropped */
    struct hearthi_fetch run[RUNS]; /* on their way, or about to be */
    size_t               runs;
    uint64_t             pages; /* in these */
    struct hearthi_fetch from_home[RUNS];
    struct hearthi_rest  rest; /* that no other rank of the node has */
} p;

void
hearthi_reuse_prefetch_open(void)
{
    memset(&p, 0, sizeof p);
    hearthi_reuse_predictor_open();
    p.rest.run = p.from_home;
    p.rest.room = RUNS;
}

void
hearthi_reuse_prefetch_close(void)
{
    hearthi_reuse_prefetch_finish();
    hearthi_reuse_predictor_close();
    HEARTHI_ASSERT(p.runs == 0 && p.pages == 0);
}

/* ---- what an acquire drops ---- */

void
hearthi_reuse_prefetch_begin(void)
{
    p.noting = hearthi_reuse_predictor_begin();
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
        hearthi_reuse_predictor_used(page, &hearthi_table.reuse[page],
                                     may_come(page));
}

void
hearthi_reuse_prefetch_unused(uint64_t page)
{
    hearthi_reuse_predictor_missed(&hearthi_table.reuse[page]);
}

void
hearthi_reuse_prefetch_noted(void)
{
    p.noting = false;
}

/* ---- bringing it again ---- */

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
           hearthi_table.frame_offset[page] ==
               hearthi_table.frame_offset[page + 1];
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
span_gather(struct hearthi_reuse_span s, uint64_t most, uint64_t number)
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
    uint64_t most = hearthi_min(hearthi_fetch_ahead(), hearthi_copies_most());
    const struct hearthi_reuse_span *span;
    size_t                           spans;
    uint64_t                         number, begin;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(!p.noting);
    spans = hearthi_reuse_predictor_end(&span);
    if (spans == 0)
        return;
    begin = hearthi_now();
    hearthi_reuse_prefetch_finish();
    number = hearthi_node_cache_number();
    for (size_t i = 0; i < spans; i++)
        span_gather(span[i], most, number);
    if (p.runs > 0) {
        hearthi_reuse_predictor_fetched();
        hearthi_count(predicted, p.pages);
        for (size_t i = 0; hearthi_profile != NULL && i < p.runs; i++)
            hearthi_profile_ahead(p.run[i].page, p.run[i].count);
        if (!hearthi_fetch_start(p.run, p.runs, &p.rest))
            hearthi_reuse_prefetch_finish();
    }
    hearthi_count(predict_ns, hearthi_now() - begin);
}

/* ---- they are here ---- */

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
    hearthi_count(predicted_used, n);
    hearthi_reuse_predictor_hit(n);
    hearthi_run_open(page, count, HEARTHI_PREFETCHED, write);
}

static void
run_land(const struct hearthi_fetch *run)
{
    uint64_t end = run->page + run->count;

    HEARTHI_ASSERT(!hearthi_is_home(hearthi_state_of(run->page)));
    for (uint64_t q = run->page; q < end; q++)
        if (hearthi_table.state[q] == HEARTHI_STALE_IN_FLIGHT)
            hearthi_reuse_prefetch_unused(q);
    hearthi_in_flight_end(run);
    for (uint64_t q = run->page; q < end; q++)
        if (hearthi_table.state[q] == HEARTHI_IN_FLIGHT)
            hearthi_states_put(q, 1, HEARTHI_PREFETCHED);
}

static bool
opens_at_once(uint64_t page)
{
    return hearthi_table.state[page] == HEARTHI_PREFETCHED &&
           hearthi_reuse_predictor_is_sure(page, hearthi_table.reuse[page]);
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
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(n <= RUNS && p.pages >= n);
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
    struct hearthi_stride *s = hearthi_stride_prefetch_find(
        HEARTHI_READS, page, hearthi_copies_most());
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
        hearthi_copies_opened(s, page, n);
}
