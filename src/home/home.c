/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "home.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "page/copies.h"
#include "page/diffs.h"
#include "page/fault.h"
#include "page/page.h"
#include "space/extent.h"
#include "space/segment.h"
#include "transport/transport.h"
#include "world.h"

enum { GUARD = 1 }; /* unused page behind each allocation: overruns show */

static struct hearthi_allocation *list; /* sorted by page */
static uint64_t                   numbers;
static size_t                     n_list, room;
static struct hearthi_extents     pages;  /* free pages of the heap */
static struct hearthi_extents    *frames; /* free frames of each rank */
static struct hearthi_extents     freed;  /* of mine, not yet cleared */
static uint64_t                   reach;  /* frames taken lie below */

void
hearthi_home_open(void)
{
    frames = calloc((size_t)hearthi_world.size, sizeof *frames);
    if (frames == NULL)
        hearthi_fatal("hearth_init", "no memory");
    hearthi_extents_init(&pages, 0, hearthi_heap.pages);
    for (int r = 0; r < hearthi_world.size; r++)
        hearthi_extents_init(&frames[r], 0, hearthi_segments.frames);
    hearthi_nearest = hearthi_home_nearest;
}

void
hearthi_home_close(void)
{
    for (int r = 0; r < hearthi_world.size; r++)
        hearthi_extents_fini(&frames[r]);
    hearthi_extents_fini(&pages);
    hearthi_extents_fini(&freed);
    free(frames);
    free(list);
    list = NULL;
    n_list = room = 0;
    reach = 0;
}

uint64_t
hearthi_home_reach(void)
{
    return reach;
}

/* The home of page i of n.  Block: the bytes are cut into equal parts, and a
 * page belongs to the rank in whose part its middle byte lies. */
static int
layout_home(hearth_layout l, size_t bytes, uint64_t i)
{
    uint64_t size = (uint64_t)hearthi_world.size;
    uint64_t middle = (i << hearthi_heap.shift) + hearthi_heap.page / 2;
    uint64_t r;

    switch (l.kind) {
    case HEARTH_CYCLIC: return (int)(i / l.pages % size);
    case HEARTH_ON: return l.rank;
    case HEARTH_BLOCK: break;
    }
    r = (uint64_t)((unsigned __int128)middle * size / bytes);
    return (int)(r < size ? r : size - 1);
}

static void
no_home_memory(int rank, uint64_t want)
{
    hearthi_fatal(
        "hearth_alloc",
        "rank %d has no home memory for %llu more pages (%llu of "
        "%llu are free): raise HEARTH_HOME, now %llu MiB, or use a "
        "layout that spreads the pages",
        rank, (unsigned long long)want, (unsigned long long)frames[rank].left,
        (unsigned long long)hearthi_segments.frames,
        (unsigned long long)(hearthi_segments.frames << hearthi_heap.shift >>
                             20));
}

/* How many pages each rank becomes home of, in *want. */
static void
homes_fill(const struct hearthi_allocation *a,
           const struct hearthi_placing *to, uint64_t *want)
{
    for (uint64_t i = 0; i < a->pages; i++) {
        uint32_t home = to->homes != NULL
                            ? to->homes[i]
                            : (uint32_t)layout_home(to->layout, a->bytes, i);

        hearthi_table.home[a->page + i] = home;
        want[home]++;
    }
}

/* Frames in the order in which the pages come, so that pages that follow each
 * other at a home have frames that do. */
static void
frames_fill(const struct hearthi_allocation *a, const uint64_t *want)
{
    struct hearthi_table  *t = &hearthi_table;
    struct hearthi_extent *got;
    uint64_t              *left;

    got = calloc((size_t)hearthi_world.size, sizeof *got);
    left = calloc((size_t)hearthi_world.size, sizeof *left);
    if (got == NULL || left == NULL)
        hearthi_fatal("hearth_alloc", "no memory");
    memcpy(left, want, (size_t)hearthi_world.size * sizeof *left);
    for (uint64_t p = a->page; p < a->page + a->pages; p++) {
        uint32_t home = t->home[p];

        if (got[home].count == 0) {
            got[home].count = hearthi_extents_take_some(
                &frames[home], left[home], &got[home].first);
            left[home] -= got[home].count;
        }
        got[home].count--;
        t->frame[p] = (uint32_t)got[home].first++;
        if (reach < got[home].first)
            reach = got[home].first;
    }
    free(got);
    free(left);
}

static bool
page_is_near(uint64_t page)
{
    return hearthi_world.node_of[hearthi_table.home[page]] ==
           hearthi_world.node;
}

/* Kernel mappings that the home pages would take at once. */
static long
areas_needed(const struct hearthi_allocation *a)
{
    long n = 1;

    for (uint64_t p = a->page; p + 1 < a->page + a->pages; p++)
        n += !hearthi_follows(p) && (page_is_near(p) || page_is_near(p + 1));
    return n;
}

/* Home pages are mapped now, unless that would take most of the kernel's
 * mappings: then each comes when it is touched. */
static void
pages_map(const struct hearthi_allocation *a)
{
    struct hearthi_table *t = &hearthi_table;
    enum hearthi_state    near = HEARTHI_HOME_OPEN;
    uint64_t              end = a->page + a->pages;

    if (t->areas + areas_needed(a) > t->areas_max / 2)
        near = HEARTHI_HOME_AWAY;
    for (uint64_t p = a->page; p < end;) {
        bool     here = page_is_near(p);
        uint64_t n = 1;

        while (p + n < end && page_is_near(p + n) == here)
            n++;
        hearthi_pages_set(p, n, here ? near : HEARTHI_INVALID);
        p += n;
    }
}

static struct hearthi_allocation *
list_add(struct hearthi_allocation a)
{
    size_t i = n_list;

    if (n_list == room) {
        room = room == 0 ? 64 : 2 * room;
        list = realloc(list, room * sizeof *list);
        if (list == NULL)
            hearthi_fatal("hearth_alloc", "no memory");
    }
    while (i > 0 && list[i - 1].page > a.page) {
        list[i] = list[i - 1];
        i--;
    }
    list[i] = a;
    n_list++;
    return &list[i];
}

const struct hearthi_allocation *
hearthi_home_take(size_t bytes, unsigned unit,
                  const struct hearthi_placing *to)
{
    uint64_t count = (bytes + hearthi_heap.page - 1) >> hearthi_heap.shift;
    uint64_t page, *want;
    struct hearthi_allocation *a;

    if (hearthi_extents_take(&pages, count + GUARD, &page) != 0)
        hearthi_fatal(
            "hearth_alloc",
            "%zu bytes do not fit the heap (%llu MiB of %zu MiB are "
            "free): raise HEARTH_HEAP",
            bytes,
            (unsigned long long)(pages.left << hearthi_heap.shift >> 20),
            hearthi_heap.bytes >> 20);
    a = list_add(
        (struct hearthi_allocation){ page, count, bytes, unit, ++numbers });
    want = calloc((size_t)hearthi_world.size, sizeof *want);
    if (want == NULL)
        hearthi_fatal("hearth_alloc", "no memory");
    homes_fill(a, to, want);
    for (int r = 0; r < hearthi_world.size; r++)
        if (want[r] > frames[r].left)
            no_home_memory(r, want[r]);
    frames_fill(a, want);
    free(want);
    return a;
}

/* Home frames of this node know their page. */
static void
frame_note(uint64_t page)
{
    struct hearthi_table *t = &hearthi_table;
    int      node_rank = hearthi_world.node_rank_of[t->home[page]];
    uint64_t frame = t->frame[page];

    t->page_of[node_rank][frame] = (hearthi_page)page + 1;
    if (frame >= t->frames_top[node_rank])
        t->frames_top[node_rank] = frame + 1;
}

void
hearthi_home_place(const struct hearthi_allocation *a)
{
    uint64_t end = a->page + a->pages;

    for (uint64_t p = a->page; p < end; p++)
        if (page_is_near(p))
            frame_note(p);
    memset(hearthi_table.unit + a->page, (int)a->unit, a->pages);
    if (end > hearthi_table.top)
        hearthi_table.top = end;
    pages_map(a);
}

const struct hearthi_allocation *
hearthi_home_find(const void *p)
{
    for (size_t i = 0; i < n_list; i++)
        if (hearthi_app(list[i].page) == p)
            return &list[i];
    return NULL;
}

/* The list is in the order of the addresses.  What is being allocated has no
 * pages yet. */
const struct hearthi_allocation *
hearthi_home_around(const void *p)
{
    uint64_t page = hearthi_page_of(p);
    size_t   low = 0, high = n_list;

    while (low < high) {
        size_t i = (low + high) / 2;

        if (page < list[i].page)
            high = i;
        else if (page >= list[i].page + list[i].pages)
            low = i + 1;
        else
            return hearthi_table.state[page] == HEARTHI_UNUSED ? NULL
                                                               : &list[i];
    }
    return NULL;
}

/* Frames go back in runs; the home itself will make them zero again. */
static void
frames_give(const struct hearthi_allocation *a)
{
    const struct hearthi_table *t = &hearthi_table;
    uint64_t                    end = a->page + a->pages;

    for (uint64_t p = a->page, n; p < end; p += n) {
        uint32_t home = t->home[p];

        for (n = 1; p + n < end && hearthi_follows(p + n - 1); n++)
            ;
        hearthi_extents_give(&frames[home], t->frame[p], n);
        if ((int)home == hearthi_world.rank) {
            hearthi_segment_unflag(t->frame[p], n);
            hearthi_extents_give(&freed, t->frame[p], n);
        }
        if (page_is_near(p))
            memset(t->page_of[hearthi_world.node_rank_of[home]] + t->frame[p],
                   0, n * sizeof(hearthi_page));
    }
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
 * What is stored there from now on is for nobody. */
static void
twins_drop(uint64_t page, uint64_t end)
{
    for (; page < end; page++)
        if (hearthi_table.state[page] == HEARTHI_DIRTY)
            hearthi_twin_free(page);
}

void
hearthi_home_free(const struct hearthi_allocation *a)
{
    struct hearthi_table *t = &hearthi_table;
    uint64_t              page = a->page, count = a->pages, end = page + count;
    size_t                i = (size_t)(a - list);

    twins_drop(page, end);
    hearthi_pages_set(page, count, HEARTHI_UNUSED);
    list_forget(&hearthi_written, page, count);
    list_forget(&hearthi_provisional, page, count);
    frames_give(a);
    /* Cached frames stay for the next allocation, to which they are like any
     * others: they are in the ring, and replaced when their turn comes. */
    for (uint64_t p = page; p < end; p++)
        t->mark[p] &= HEARTHI_RESIDENT;
    hearthi_extents_give(&pages, page, count + GUARD);
    n_list--;
    memmove(list + i, list + i + 1, (n_list - i) * sizeof *list);
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

static const struct hearthi_allocation *
nearest(uint64_t page)
{
    const struct hearthi_allocation *near = NULL;
    uint64_t                         best = UINT64_MAX;

    for (size_t i = 0; i < n_list; i++) {
        uint64_t end = list[i].page + list[i].pages;
        uint64_t far = page < list[i].page ? list[i].page - page
                       : page >= end       ? page - end
                                           : 0;

        if (far < best) {
            best = far;
            near = &list[i];
        }
    }
    return near;
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
