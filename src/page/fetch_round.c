/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "fetch_round.h"

#include "base/clock.h"
#include "base/mutex.h"
#include "base/stat.h"
#include "frames.h"
#include "node_cache.h"
#include "page.h"
#include "page_in_flight.h"
#include "sharer_notify.h"
#include "space/segment.h"
#include "world.h"

/* ---- what others of the node have ---- */

/* A part of a run. */
static struct hearthi_fetch
part_of(const struct hearthi_fetch *run, uint32_t at, uint32_t count)
{
    struct hearthi_fetch part = *run;

    part.page += at;
    part.frame += at;
    part.to += (uint64_t)at << hearthi_heap.shift;
    part.count = count;
    if (at + count < run->count)
        part.behind = 0;
    if (count < run->count) /* else it is what it was */
        part.announce = hearthi_registered(part.page, count) < count;
    return part;
}

static void
rest_add(struct hearthi_rest *rest, const struct hearthi_fetch *run,
         uint32_t at, uint32_t end)
{
    if (at == end)
        return;
    HEARTHI_ASSERT(at < end && rest->n < rest->room);
    rest->run[rest->n++] = part_of(run, at, end - at);
    rest->pages += end - at;
}

/* The page's flag is at its home, whichever rank has set it.  This rank is as
 * if it had: what is first goes at the next acquire, and then its home is
 * told. */
static void
taken_note(uint64_t page, enum hearthi_lent how)
{
    HEARTHI_ASSERT(hearthi_state_of(page) == HEARTHI_INVALID);
    HEARTHI_ASSERT(hearthi_table.mark[page] & HEARTHI_RESIDENT);
    hearthi_touch(page);
    hearthi_states_put(page, 1, HEARTHI_IN_FLIGHT);
    hearthi_table.mark[page] |= HEARTHI_REGISTERED;
    if (how == HEARTHI_LENT_FIRST)
        hearthi_pagelist_add(&hearthi_provisional, HEARTHI_PROVISIONAL, page);
}

/* `after`: runs behind this one, for each of which there must be room. */
static void
run_borrow(const struct hearthi_fetch *run, size_t after,
           struct hearthi_rest *rest)
{
    uint32_t from = 0, i = 0;
    uint64_t taken = 0;

    for (; i < run->count; i++) {
        size_t            need = rest->n + (from < i) + 1 + after;
        enum hearthi_lent how;

        if (need > rest->room)
            continue;
        how = hearthi_node_cache_take(run->page + i);
        if (how == HEARTHI_NOT_LENT)
            continue;
        taken_note(run->page + i, how);
        taken++;
        rest_add(rest, run, from, i);
        from = i + 1;
    }
    rest_add(rest, run, from, i);
    hearthi_count(matepages, taken);
}

void
hearthi_node_copy(const struct hearthi_fetch *run, size_t n,
                  enum hearthi_why why, struct hearthi_rest *rest)
{
    rest->n = rest->pages = rest->all = 0;
    rest->number = 0;
    for (size_t i = 0; i < n; i++) {
        rest->all += run[i].count;
        if (hearthi_node_cache_on)
            run_borrow(&run[i], n - i - 1, rest);
        else
            rest_add(rest, &run[i], 0, run[i].count);
    }
    if (rest->n == 0 || !hearthi_node_cache_on)
        return;
    rest->number = hearthi_node_tags_number();
    for (size_t i = 0; i < rest->n; i++)
        hearthi_node_cache_begin(rest->run[i].page, rest->run[i].count, why,
                                 rest->number);
}

void
hearthi_node_copy_end(const struct hearthi_rest *rest)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(rest->pages <= rest->all && rest->n <= rest->room);
    for (size_t i = 0; hearthi_node_cache_on && i < rest->n; i++)
        hearthi_node_cache_lend(rest->run[i].page, rest->run[i].count,
                                rest->number);
}

uint64_t
hearthi_rest_ahead(const struct hearthi_rest *rest, uint64_t page)
{
    for (size_t i = 0; i < rest->n; i++)
        if (page - rest->run[i].page < rest->run[i].count)
            return rest->pages - 1;
    return rest->pages;
}

/* ---- rounds ---- */

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
        HEARTHI_ASSERT(hearthi_state_of(page + done) == HEARTHI_INVALID);
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

    HEARTHI_ASSERT(n > 0 && n <= count && done <= n);
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

/* Is each a run of pages of a home elsewhere, with a place to go to? */
HEARTHI_FOR_ASSERT static bool
are_runs(const struct hearthi_fetch *run, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (run[i].count == 0 || run[i].to == NULL ||
            run[i].page + run[i].count > hearthi_table.top ||
            run[i].frame + run[i].count > hearthi_segments.frames ||
            hearthi_home_is_near(run[i].home))
            return false;
    return true;
}

void
hearthi_runs_fetch(const struct hearthi_fetch *run, size_t n, bool told)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(are_runs(run, n));
    hearthi_transport->data.fetch(run, n);
    if (told)
        hearthi_sharer_notify_fence(); /* for the fetches to come */
}

static void
rest_bring(const struct hearthi_rest *r, bool alone)
{
    bool told = hearthi_sharer_notify_runs(r->run, r->n);
    int  way = told || alone ? -1 : hearthi_way_take(r->all, r->n);

    HEARTHI_ASSERT(are_runs(r->run, r->n) && r->pages <= r->all);
    for (size_t i = 0; i < r->n; i++)
        hearthi_in_flight_begin(&r->run[i]);
    if (way < 0) {
        hearthi_runs_fetch(r->run, r->n, told);
    } else {
        uint64_t start = hearthi_node_cache_on ? hearthi_now() : 0;

        hearthi_table_leave();
        hearthi_transport->data.fetch_concurrent(way, r->run, r->n);
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
