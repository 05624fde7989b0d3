/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "fetch_round.h"

#include "base/clock.h"
#include "base/stat.h"
#include "frames.h"
#include "node_cache.h"
#include "page.h"
#include "page_in_flight.h"
#include "sharer_notify.h"

void
hearthi_fetch_round_init(struct hearthi_fetch_round *b)
{
    b->n = b->pages = 0;
    b->rest.run = b->from_home;
    b->rest.room = HEARTHI_RUNS;
}

static struct hearthi_fetch
fetch_of(uint64_t page, uint64_t count)
{
    return (struct hearthi_fetch){
        .page = page,
        .count = (uint32_t)count,
        .home = hearthi_home_of(page),
        .frame = hearthi_home_frame_of(page),
        .to = hearthi_cached(page),
        .announce = hearthi_registered(page, count) < count,
    };
}

uint64_t
hearthi_fetch_round_add(struct hearthi_fetch_round *b, uint64_t page,
                        uint64_t count)
{
    uint64_t done = 0, n;

    for (; done < count && b->n < HEARTHI_RUNS; done += n) {
        n = hearthi_frames_take(page + done, count - done);
        b->run[b->n++] = fetch_of(page + done, n);
    }
    b->pages += done;
    return done;
}

uint64_t
hearthi_fetch_round_claim(struct hearthi_fetch_round *b, uint64_t page,
                          uint64_t count)
{
    uint64_t n = hearthi_node_cache_until(page, count, false);
    uint64_t done = hearthi_fetch_round_add(b, page, n);

    hearthi_node_cache_keep(page + done, n - done);
    return done;
}

void
hearthi_runs_count(const struct hearthi_fetch *run, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hearthi_count(getpages, run[i].count);
    hearthi_count(fetches, n);
}

void
hearthi_runs_fetch(const struct hearthi_fetch *run, size_t n, bool told)
{
    hearthi_transport->fetch(run, n);
    if (told)
        hearthi_sharer_notify_fence(); /* for the fetches to come */
}

static void
rest_bring(const struct hearthi_rest *r, bool alone)
{
    bool told = hearthi_sharer_notify_runs(r->run, r->n);
    int  way = told || alone ? -1 : hearthi_way_take(r->all, r->n);

    for (size_t i = 0; i < r->n; i++)
        hearthi_in_flight_begin(&r->run[i]);
    if (way < 0) {
        hearthi_runs_fetch(r->run, r->n, told);
    } else {
        uint64_t start = hearthi_node_cache_on ? hearthi_now() : 0;

        hearthi_table_leave();
        hearthi_transport->bring(way, r->run, r->n);
        hearthi_table_return();
        if (hearthi_node_cache_on)
            hearthi_node_cache_took(hearthi_now() - start);
        hearthi_way_give(way, r->all);
    }
    hearthi_runs_count(r->run, r->n);
}

void
hearthi_fetch_round_bring(struct hearthi_fetch_round *b, bool alone)
{
    hearthi_node_copy(b->run, b->n, HEARTHI_ASKED, &b->rest);
    if (b->rest.n > 0)
        rest_bring(&b->rest, alone);
    for (size_t i = 0; i < b->n; i++)
        hearthi_in_flight_end(&b->run[i]);
}
