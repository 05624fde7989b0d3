/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "frames.h"

#include <stdbool.h>
#include <string.h>

#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "migration_freeze.h"
#include "page.h"
#include "pin_count.h"
#include "space/pool.h"
#include "uffd_pages.h"

enum { MIN_CACHE = 16 };

static struct {
    uint64_t            bound;         /* pages that may have frames */
    hearthi_page       *ring;          /* pages that have one, oldest first */
    uint64_t            head, n, room; /* room is a power of two */
    bool               *used; /* frames that ever belonged to a page */
    uint64_t            n_used;
    struct hearthi_pool pool; /* of these, those that belong to none now */
} f;

static uint64_t
cache_bound(void)
{
    size_t bytes = hearthi_opt.cache;

    if (bytes == 0)
        bytes = hearthi_machine_memory() / 8 /
                (size_t)hearthi_cluster.machine_ranks;
    bytes /= hearthi_heap.page;
    if (bytes > hearthi_heap.pages)
        bytes = hearthi_heap.pages;
    return bytes < MIN_CACHE ? MIN_CACHE : bytes;
}

uint64_t
hearthi_frames_open(void)
{
    f.bound = cache_bound();
    for (f.room = 1; f.room < f.bound; f.room *= 2)
        ;
    f.ring = hearthi_sparse(f.room * sizeof *f.ring);
    f.used = hearthi_sparse(hearthi_heap.pages * sizeof *f.used);
    hearthi_pool_open(&f.pool, hearthi_heap.pages);
    return f.bound;
}

void
hearthi_frames_close(void)
{
    hearthi_sparse_free(f.ring, f.room * sizeof *f.ring);
    hearthi_sparse_free(f.used, hearthi_heap.pages * sizeof *f.used);
    hearthi_pool_close(&f.pool);
    memset(&f, 0, sizeof f);
}

uint64_t
hearthi_frames_bound(void)
{
    return f.bound;
}

uint64_t
hearthi_frames_given(void)
{
    return f.n;
}

static hearthi_page *
ring_at(uint64_t i)
{
    return &f.ring[(f.head + i) & (f.room - 1)];
}

uint64_t
hearthi_frames_run(uint64_t i, uint64_t *page)
{
    uint64_t n = 1;

    if (i >= f.n)
        return 0;
    *page = *ring_at(i);
    while (i + n < f.n && *ring_at(i + n) == *page + n)
        n++;
    return n;
}

static bool
resident(uint64_t page)
{
    return (hearthi_table.mark[page] & HEARTHI_RESIDENT) != 0;
}

/* May it have the frame at its own place? */
static bool
place_is_new(uint64_t page)
{
    return f.n_used < f.bound && !f.used[page];
}

static void
frame_note(uint64_t page, uint64_t frame)
{
    uint32_t distance = (uint32_t)(frame - page);

    if (distance != 0)
        hearthi_table.moved[page] = distance;
    hearthi_touch(page);
    hearthi_table.mark[page] |= HEARTHI_RESIDENT;
    *ring_at(f.n++) = (hearthi_page)page;
}

static void
place_take(uint64_t page)
{
    f.used[page] = true;
    f.n_used++;
    frame_note(page, page);
}

/* There is one: frames in use are those of pages, f.n, and those in the pool.
 * With f.bound in use, f.n is less since there is room.  With fewer, every
 * page that has a frame is one whose own place was used, and so is this page:
 * f.n < f.n_used. */
static uint64_t
left_take(uint64_t page, uint64_t count)
{
    uint64_t n = 1, first;

    while (n < count && !resident(page + n) && !place_is_new(page + n))
        n++;
    n = hearthi_pool_take(&f.pool, n, &first);
    if (n == 0)
        hearthi_fatal("page fault",
                      "no frame is left for a copy, with "
                      "%llu of %llu in use",
                      (unsigned long long)f.n, (unsigned long long)f.bound);
    for (uint64_t i = 0; i < n; i++)
        frame_note(page + i, first + i);
    return n;
}

/* Is there, or can there be, a frame for next that follows those from page
 * on? */
static bool
frame_follows(uint64_t page, uint64_t next)
{
    const uint32_t *moved = hearthi_table.moved;

    if (resident(next)) {
        if (moved[next] != moved[page])
            return false;
        hearthi_table.mark[next] |= HEARTHI_SECOND;
        return true;
    }
    if (moved[page] != 0 || !place_is_new(next))
        return false;
    place_take(next);
    return true;
}

uint64_t
hearthi_frames_take(uint64_t page, uint64_t count)
{
    uint64_t n = 1;
    bool     fresh = false;

    if (resident(page)) {
        hearthi_table.mark[page] |= HEARTHI_SECOND;
    } else if ((fresh = place_is_new(page))) {
        place_take(page);
    } else {
        n = left_take(page, count);
    }
    while (n < count && frame_follows(page, page + n))
        n++;
    if (fresh && n > 1)
        hearthi_populate(hearthi_cached(page), n << hearthi_heap.shift, true);
    return n;
}

void
hearthi_frames_give(const hearthi_page *victim, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        hearthi_pool_give(&f.pool, hearthi_frame_of(victim[i]), 1);
        if (hearthi_table.moved[victim[i]] != 0)
            hearthi_table.moved[victim[i]] = 0;
    }
}

static hearthi_page
ring_pop(void)
{
    hearthi_page page = *ring_at(0);

    f.head = (f.head + 1) & (f.room - 1);
    f.n--;
    return page;
}

/* Insertion sort: the ring is nearly in order, and qsort may allocate, which
 * the fault handler must not. */
static void
pages_sort(hearthi_page *page, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        hearthi_page p = page[i];
        size_t       at = i;

        for (; at > 0 && page[at - 1] > p; at--)
            page[at] = page[at - 1];
        page[at] = p;
    }
}

size_t
hearthi_frames_victims(hearthi_page *victim, size_t max, bool split)
{
    size_t n = 0;

    for (uint64_t turn = 2 * f.n; n < max && f.n > 0 && turn > 0; turn--) {
        hearthi_page page = ring_pop();
        uint8_t     *mark = &hearthi_table.mark[page];

        if (split && hearthi_is_uffd_page(page)) {
            *ring_at(f.n++) = page;
        } else if ((*mark & HEARTHI_SECOND) || hearthi_is_pinned(page) ||
                   (hearthi_is_in_flight(hearthi_table.state[page]) &&
                    !hearthi_is_frozen(page))) {
            *mark &= (uint8_t)~HEARTHI_SECOND;
            *ring_at(f.n++) = page;
        } else {
            *mark &= (uint8_t)~HEARTHI_RESIDENT;
            victim[n++] = page;
        }
    }
    pages_sort(victim, n);
    return n;
}
