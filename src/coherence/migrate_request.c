/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "migrate_request.h"

#include <string.h>

#include "base/min.h"
#include "base/mutex.h"
#include "base/option.h"
#include "home/migration_frames.h"
#include "page/page.h"
#include "page/pin_count.h"
#include "world.h"

/* Of a page: in how many barriers in a row it was written.  And how often it
 * has moved, or did not, with a mark that a lower rank of this node wrote it
 * in this barrier, which is the one to ask. */
enum { ROW = UINT8_MAX, TURNS = HEARTHI_MIGRATE_MOST, NODE_RANK = 128 };

_Static_assert(HEARTHI_OTHERS << (TURNS - 1) <= ROW,
               "what is asked for last can be counted");
_Static_assert(TURNS < NODE_RANK, "the mark is beside the count");

static struct {
    uint8_t               *row, *turns;
    bool                  *used; /* of a chunk: rows are not all 0 */
    struct hearthi_pagerun run[HEARTHI_MIGRATE_REQUESTS];
    size_t                 n;
    uint64_t               pages, unshares;
} w;

/* To make pages new all ranks meet some times more: what it saves, a fault for
 * each page and interval, is to be worth that at once. */
enum { UNSHARE_LEAST = 32 };

static uint64_t
unshares_least(void)
{
    return hearthi_opt.migrate == HEARTHI_WHEN_ON ? 1 : UNSHARE_LEAST;
}

static bool
may_ask(void)
{
    return hearthi_opt.migrate != HEARTHI_WHEN_OFF;
}

static size_t
chunks(void)
{
    return hearthi_heap.pages / HEARTHI_CHUNK + 1;
}

void
hearthi_migrate_requests_open(void)
{
    memset(&w, 0, sizeof w);
    w.row = hearthi_sparse(hearthi_heap.pages);
    w.turns = hearthi_sparse(hearthi_heap.pages);
    w.used = hearthi_sparse(chunks());
}

void
hearthi_migrate_requests_close(void)
{
    hearthi_sparse_free(w.row, hearthi_heap.pages);
    hearthi_sparse_free(w.turns, hearthi_heap.pages);
    hearthi_sparse_free(w.used, chunks());
}

/* ---- what this rank wrote ---- */

static uint64_t
pages_most(void)
{
    return HEARTHI_MIGRATE_PAGES / (uint64_t)hearthi_world.size + 1;
}

static bool
run_add(uint64_t page)
{
    struct hearthi_pagerun *last = w.n > 0 ? &w.run[w.n - 1] : NULL;

    HEARTHI_ASSERT(w.pages <= pages_most() && w.n <= HEARTHI_MIGRATE_REQUESTS);
    if (w.pages == pages_most())
        return false;
    if (last != NULL && last->page + last->count == page)
        last->count++;
    else if (w.n < HEARTHI_MIGRATE_REQUESTS)
        w.run[w.n++] = (struct hearthi_pagerun){ page, 1 };
    else
        return false;
    w.pages++;
    return true;
}

static unsigned
turns_of(uint64_t page)
{
    return w.turns[page] & (NODE_RANK - 1);
}

static bool
is_enough(uint64_t page, unsigned need)
{
    unsigned turns = turns_of(page);

    return turns < TURNS && w.row[page] >= need << turns;
}

/* Is it asked for where it was written first, whichever other ranks did?  Of
 * the ranks that ask the first has it. */
static bool
is_first(uint64_t page, unsigned need)
{
    return need == HEARTHI_FIRST_TOUCH && turns_of(page) == 0;
}

static bool
is_near(const struct hearthi_page_place *r)
{
    return hearthi_world.node_of[r->home] == hearthi_world.node;
}

/* In how many barriers in a row it must be written, or 0. */
static unsigned
need_of(const struct hearthi_page_place *r)
{
    if (r->in == NULL)
        return 0;
    if (is_near(r))
        return HEARTHI_OTHERS;
    return r->in->migration != NULL ? r->in->migration->need : 0;
}

static bool
is_tracked(uint64_t page)
{
    return (hearthi_table.mark[page] & HEARTHI_TRACKED) &&
           !hearthi_is_pinned(page);
}

static void
run_count(uint64_t page, uint64_t end, unsigned need, bool near)
{
    for (; page < end; page++) {
        if (near && !is_tracked(page))
            continue;
        w.row[page] += w.row[page] < ROW;
        w.turns[page] &= (uint8_t)~NODE_RANK;
        w.used[page / HEARTHI_CHUNK] = true;
        if (is_enough(page, need) && run_add(page))
            w.unshares += near;
    }
}

static void
all_forget(void)
{
    for (size_t i = 0; i < chunks(); i++)
        if (w.used[i])
            hearthi_sparse_clear(
                w.row + i * HEARTHI_CHUNK,
                hearthi_min(HEARTHI_CHUNK,
                            hearthi_heap.pages - i * HEARTHI_CHUNK));
    hearthi_sparse_clear(w.used, chunks());
    w.n = w.pages = 0;
}

bool
hearthi_migrate_requests_begin(const struct hearthi_pageset *own)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(!own->loose);
    w.n = w.pages = w.unshares = 0;
    if (!may_ask())
        return false;
    if (own->invalidate_all)
        all_forget();
    for (size_t i = 0; i < own->n; i++) {
        uint64_t page = own->run[i].page, end = page + own->run[i].count;

        for (uint64_t next; page < end; page = next) {
            const struct hearthi_page_place *r = hearthi_page_place_of(page);
            unsigned                         need = need_of(r);

            next = hearthi_min(end, r->page + r->count);
            if (need > 0)
                run_count(page, next, need, is_near(r));
        }
    }
    if (w.pages == w.unshares && w.unshares < unshares_least())
        w.n = w.pages = 0;
    return w.n > 0;
}

/* ---- what others wrote ---- */

/* Pages of a run in a chunk that has rows. */
static void
rows_change(const struct hearthi_notice *n, bool mate)
{
    uint64_t end = hearthi_min(n->page + n->count, hearthi_table.top);

    for (uint64_t page = n->page, next; page < end; page = next) {
        next = (page / HEARTHI_CHUNK + 1) * HEARTHI_CHUNK;
        next = hearthi_min(next, end);
        if (!w.used[page / HEARTHI_CHUNK])
            continue;
        if (!mate)
            memset(w.row + page, 0, next - page);
        for (uint64_t p = page; mate && p < next; p++)
            w.turns[p] |= w.row[p] > 0 ? NODE_RANK : 0;
    }
}

void
hearthi_migrate_requests_learn(const struct hearthi_barrier_notices *news)
{
    const uint32_t me = (uint32_t)hearthi_world.rank;

    if (!may_ask())
        return;
    hearthi_migration_frames_settle();
    if (news->invalidate_all)
        all_forget();
    for (size_t i = 0; i < news->n; i++) {
        const struct hearthi_notice *n = &news->notice[i];
        bool near = hearthi_world.node_of[n->writer] == hearthi_world.node;

        if (n->count == HEARTHI_INVALIDATE_ALL && n->writer != me)
            all_forget();
        else if (!near || n->writer < me)
            rows_change(n, near);
    }
}

/* ---- asking ---- */

/* Has this rank earned it? */
static bool
is_earned(uint64_t page, const struct hearthi_page_place *r)
{
    unsigned need = need_of(r);
    bool     alone = !(w.turns[page] & NODE_RANK) && is_enough(page, need);

    return alone || is_first(page, need);
}

/* Ask for a page, in the last run if that is open; false: there is no room for
 * another run. */
static bool
page_ask(struct hearthi_migrate_requests *to, uint64_t page, bool open)
{
    if (!open && to->n == HEARTHI_MIGRATE_REQUESTS)
        return false;
    if (!open)
        to->run[to->n++] =
            (struct hearthi_migrate_request){ (uint32_t)page, 0 };
    HEARTHI_ASSERT(to->n > 0);
    to->run[to->n - 1].count++;
    w.row[page] = 0;
    return true;
}

/* It is to be earned anew if it stays. */
void
hearthi_migrate_requests_take(struct hearthi_migrate_requests *to)
{
    HEARTHI_ASSERT_HAS(TABLE);
    to->n = 0;
    for (size_t i = 0; i < w.n; i++) {
        uint64_t page = w.run[i].page, end = page + w.run[i].count;

        for (bool open = false, was = false; page < end; page++) {
            const struct hearthi_page_place *r = hearthi_page_place_of(page);
            bool near = is_near(r), mine = is_earned(page, r);

            open = open && near == was;
            was = near;
            if (mine && !page_ask(to, page, open))
                break;
            if (w.row[page] == 0 && !mine) /* others wrote it, too */
                hearthi_migrate_requests_done(page, 1);
            open = mine;
        }
    }
    w.n = w.pages = 0;
}

void
hearthi_migrate_requests_done(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++)
        if (turns_of(p) < TURNS)
            w.turns[p]++;
}

void
hearthi_migrate_requests_forget(uint64_t page, uint64_t count)
{
    if (!may_ask())
        return;
    hearthi_sparse_clear(w.row + page, count);
    hearthi_sparse_clear(w.turns + page, count);
    w.n = w.pages = 0;
}
