/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "home.h"

#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "base/option.h"
#include "base/report.h"
#include "migration_frames.h"
#include "page/copies.h"
#include "page/diffs.h"
#include "page/fault.h"
#include "page/fork_child.h"
#include "page/node_cache.h"
#include "page/page.h"
#include "page/pin_count.h"
#include "page/twins.h"
#include "policy/stride_prefetch.h"
#include "space/extent.h"
#include "space/segment.h"
#include "transport/transport.h"
#include "world.h"

enum { GUARD = 1 }; /* unused page behind each allocation: overruns show */

static uint64_t                numbers;
static struct hearthi_extents  pages;  /* free pages of the heap */
static struct hearthi_extents *frames; /* free frames of each rank */
static struct hearthi_extents  freed;  /* of mine, not yet cleared */
static uint64_t                reach;  /* frames taken lie below */
static uint64_t                most;   /* of mine, at a time */

void
hearthi_home_open(void)
{
    frames = calloc((size_t)hearthi_world.size, sizeof *frames);
    if (frames == NULL)
        hearthi_fatal("hearth_init", "no memory");
    hearthi_extents_init(&pages, hearthi_heap.arena,
                         hearthi_heap.pages - hearthi_heap.arena);
    for (int r = 0; r < hearthi_world.size; r++)
        hearthi_extents_init(&frames[r], 0, hearthi_segments.frames);
    hearthi_migration_frames_open();
    hearthi_nearest = hearthi_home_nearest;
}

void
hearthi_home_close(void)
{
    for (int r = 0; r < hearthi_world.size; r++)
        hearthi_extents_fini(&frames[r]);
    hearthi_extents_fini(&pages);
    hearthi_extents_fini(&freed);
    hearthi_migration_frames_close();
    free(frames);
    reach = most = 0;
}

uint64_t
hearthi_home_reach(void)
{
    return reach;
}

static void
no_home_memory(int rank, uint64_t want)
{
    const struct hearthi_segments *s = &hearthi_segments;
    unsigned long long             all = s->frames - s->migration - s->arena;
    unsigned long long             more = want,
                       left = frames[rank].left -
                              hearthi_migration_frames_reserved(rank);
    unsigned long long need = all - left + want;

    if (hearthi_segments_lack_shm(need, hearthi_opt.malloc ? s->arena : 0))
        hearthi_fatal(
            "hearth_alloc",
            "rank %d has no home memory for %llu more pages (%llu of %llu are "
            "free): with them each rank has %llu MiB, which lie in /dev/shm, "
            "and /dev/shm has %zu MiB for all: " HEARTHI_SHM_REMEDY
            ", or use a layout that spreads the pages",
            rank, more, left, all, need << hearthi_heap.shift >> 20,
            s->shm >> 20);
    hearthi_fatal("hearth_alloc",
                  "rank %d has no home memory for %llu more pages (%llu of "
                  "%llu are free): raise HEARTH_HOME, now %llu MiB, or use a "
                  "layout that spreads the pages",
                  rank, more, left, all, all << hearthi_heap.shift >> 20);
}

/* Frames above all that were in use before must be made reachable. */
static void
reach_note(const struct hearthi_piece *p, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        uint64_t end = p[i].frame + p[i].count;

        HEARTHI_ASSERT(p[i].count > 0 && end <= hearthi_segments.frames);
        if (reach < end)
            reach = end;
    }
}

/* May its pages move, and when? */
static unsigned
need_of(const struct hearthi_placing *to)
{
    if (hearthi_segments.migration == 0)
        return 0;
    if (to->layout.kind == HEARTH_FIRST_TOUCH)
        return HEARTHI_FIRST_TOUCH;
    return hearthi_opt.migrate == HEARTHI_WHEN_ON ? HEARTHI_OTHERS : 0;
}

/* Arenas are taken first, whatever is in them. */
static void
most_note(void)
{
    uint64_t taken = hearthi_segments.frames - hearthi_segments.arena -
                     frames[hearthi_world.rank].left;

    most = taken > most ? taken : most;
}

uint64_t
hearthi_home_most(void)
{
    return most;
}

/* Frames for the pages of an allocation. */
static struct hearthi_allocation *
frames_take(struct hearthi_allocation *a, const struct hearthi_placing *to)
{
    uint64_t want;
    int      rank = hearthi_home_layout_take(a, to, frames, &want);

    if (rank >= 0)
        no_home_memory(rank, want);
    reach_note(a->piece, a->pieces);
    if (need_of(to) > 0) {
        hearthi_migration_frames_take(a, frames, need_of(to));
        reach_note(a->migration->piece, a->migration->n);
    }
    most_note();
    return hearthi_page_map_add(a);
}

struct hearthi_allocation *
hearthi_home_take(size_t bytes, unsigned unit,
                  const struct hearthi_placing *to)
{
    struct hearthi_allocation a = {
        .pages = (bytes + hearthi_heap.page - 1) >> hearthi_heap.shift,
        .bytes = bytes,
        .unit = unit,
        .number = ++numbers,
        .kind = to->stretch != NULL ? HEARTHI_STRETCHES : (int)to->layout.kind,
    };

    HEARTHI_ASSERT_HAS(TABLE);
    if (hearthi_extents_take(&pages, a.pages + GUARD, &a.page) != 0)
        hearthi_fatal(
            "hearth_alloc",
            "%zu bytes do not fit the heap (%llu MiB of %zu MiB are "
            "free): raise HEARTH_HEAP",
            bytes,
            (unsigned long long)(pages.left << hearthi_heap.shift >> 20),
            hearthi_opt.heap >> 20);
    return frames_take(&a, to);
}

struct hearthi_allocation *
hearthi_home_take_again(const struct hearthi_taken_before *b,
                        const struct hearthi_placing      *to)
{
    struct hearthi_allocation a = {
        .page = b->page,
        .pages = (b->bytes + hearthi_heap.page - 1) >> hearthi_heap.shift,
        .bytes = b->bytes,
        .unit = b->unit,
        .number = b->number,
        .kind = b->kind,
    };
    struct hearthi_allocation *again;

    HEARTHI_ASSERT_HAS(TABLE);
    if (hearthi_extents_take_at(&pages, a.page, a.pages + GUARD) != 0)
        hearthi_fatal("hearth_init",
                      "page %llu of the heap that is to be restarted is not "
                      "free",
                      (unsigned long long)a.page);
    if (numbers < a.number)
        numbers = a.number;
    again = frames_take(&a, to);
    again->fresh = false;
    return again;
}

/* The first frames of each rank are for arenas, whether it has any or not. */
struct hearthi_allocation *
hearthi_home_arena(uint64_t count, uint64_t each)
{
    struct hearthi_allocation a = { .unit = 1, .number = UINT64_MAX };
    uint64_t                  ranks = (uint64_t)hearthi_world.size, first;

    if (each == 0)
        return NULL;
    a.pages = each * count;
    a.bytes = a.pages << hearthi_heap.shift;
    a.pieces = count;
    a.piece = malloc(count * sizeof *a.piece);
    if (a.piece == NULL)
        hearthi_fatal("hearth_init", "no memory");
    for (uint64_t r = 0; r < ranks; r++)
        hearthi_extents_take(&frames[r], hearthi_segments.arena, &first);
    for (uint64_t k = 0; k < count; k++)
        a.piece[k] =
            (struct hearthi_piece){ k * each, each, (uint32_t)(k % ranks),
                                    (uint32_t)(k / ranks * each) };
    reach_note(a.piece, count);
    return hearthi_page_map_add(&a);
}

void
hearthi_home_place(struct hearthi_allocation *a)
{
    hearthi_pages_place(a);
}

static bool
is_arena(const struct hearthi_allocation *a)
{
    return a->page < hearthi_heap.arena;
}

struct hearthi_allocation *
hearthi_home_find(const void *p)
{
    struct hearthi_allocation *a;

    if (!hearthi_in_heap(p))
        return NULL;
    a = hearthi_allocation_of(hearthi_page_of(p));
    return a != NULL && !is_arena(a) && hearthi_app(a->page) == p ? a : NULL;
}

const struct hearthi_allocation *
hearthi_home_around(const void *p)
{
    return hearthi_allocation_of(hearthi_page_of(p));
}

/* Frames go back in runs; the home itself will make them zero again. */
static void
own_clear(const struct hearthi_piece *p, size_t n)
{
    for (; n > 0; p++, n--) {
        if ((int)p->home != hearthi_world.rank)
            continue;
        hearthi_segment_unflag(p->frame, p->count);
        hearthi_extents_give(&freed, p->frame, p->count);
    }
}

static void
frames_give(struct hearthi_allocation *a)
{
    for (size_t i = 0; i < a->pieces; i++)
        hearthi_extents_give(&frames[a->piece[i].home], a->piece[i].frame,
                             a->piece[i].count);
    own_clear(a->piece, a->pieces);
    if (a->migration == NULL)
        return;
    own_clear(a->migration->piece, a->migration->n);
    hearthi_migration_frames_give(a, frames);
}

/* A freed page is in no list, or it might come twice when it is used again. */
static void
list_forget(struct hearthi_pagelist *l, uint64_t page, uint64_t count)
{
    size_t n = 0;

    for (size_t i = 0; i < l->n; i++)
        if (l->page[i] < page || l->page[i] >= page + count)
            l->page[n++] = l->page[i];
    l->n = n;
}

/* Another thread's hearth_prefetch may have opened pages since the barrier.
 * What is stored there from now on is for no rank. */
static void
copies_forget(uint64_t page, uint64_t end)
{
    while ((page = hearthi_touched_next(page, end)) < end) {
        uint8_t state = hearthi_table.state[page];

        if (hearthi_is_copy(state) || state == HEARTHI_PREFETCHED)
            hearthi_node_cache_keep(page, 1);
        if (state == HEARTHI_DIRTY)
            hearthi_twin_free(page);
        page++;
    }
}

/* From the allocation before it to the one behind. */
static void
gap_free(struct hearthi_allocation *a)
{
    size_t                           i = hearthi_page_map_before(a->page);
    const struct hearthi_allocation *before =
        i > 1 ? hearthi_page_map_get(i - 2) : NULL;
    const struct hearthi_allocation *next = hearthi_page_map_get(i);
    uint64_t from = before == NULL ? 0 : before->page + before->pages;
    uint64_t end = next == NULL ? hearthi_heap.pages : next->page;

    hearthi_stride_prefetch_forget(a->page, a->pages);
    hearthi_pages_free(a, from, end - from);
}

/* Is one of its pages on its way, or held? */
HEARTHI_FOR_ASSERT static bool
is_in_use(const struct hearthi_allocation *a)
{
    uint64_t end = a->page + a->pages;

    for (uint64_t p = a->page; (p = hearthi_touched_next(p, end)) < end; p++)
        if (hearthi_is_in_flight(hearthi_table.state[p]) ||
            hearthi_is_pinned(p))
            return true;
    return false;
}

void
hearthi_home_free(struct hearthi_allocation *a)
{
    uint64_t page = a->page, count = a->pages;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(a->placed && !is_in_use(a));
    hearthi_fork_reuse();
    copies_forget(page, page + count);
    gap_free(a);
    list_forget(&hearthi_written, page, count);
    list_forget(&hearthi_provisional, page, count);
    HEARTHI_ASSERT(a->areas == 0);
    frames_give(a);
    hearthi_extents_give(&pages, page, count + GUARD);
    hearthi_page_map_remove(a);
}

/* Pages dealt one by one have frames that follow each other at their home, so
 * whole runs of frames are cleared, however short the runs of pages. */
void
hearthi_home_clear(void)
{
    for (size_t i = 0; i < freed.n; i++)
        hearthi_segment_clear(freed.free[i].first, freed.free[i].count,
                              hearthi_transport->registers());
    hearthi_extents_fini(&freed);
}

/* The one before a page, which may have it, or the one behind it.  An arena is
 * none. */
static const struct hearthi_allocation *
nearest(uint64_t page)
{
    size_t                           i = hearthi_page_map_before(page);
    const struct hearthi_allocation *next = hearthi_page_map_get(i), *before;
    uint64_t                         end;

    before = i > 0 ? hearthi_page_map_get(i - 1) : NULL;
    if (before == NULL || is_arena(before))
        return next;
    end = before->page + before->pages;
    if (next == NULL || page < end)
        return before;
    return next->page - page < page - end ? next : before;
}

/* For a thread that has lost its way, while others may allocate. */
bool
hearthi_home_nearest(const void *addr, const void **base, size_t *bytes)
{
    const struct hearthi_allocation *near;

    hearthi_table_lock();
    near = nearest(hearthi_page_of(addr));
    if (near != NULL) {
        *base = hearthi_app(near->page);
        *bytes = near->bytes;
    }
    hearthi_table_unlock();
    return near != NULL;
}
