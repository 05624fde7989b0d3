/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "frames.h"

#include <stdbool.h>
#include <string.h>

#include "base/mutex.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "fork_child.h"
#include "migration_freeze.h"
#include "page.h"
#include "pin_count.h"
#include "read_mostly.h"
#include "space/pool.h"
#include "uffd_pages.h"

enum { MIN_CACHE = 16 };

struct hearthi_frames hearthi_frames;

static struct {
    hearthi_page       *ring;       /* pages that have one, oldest first */
    uint64_t            head, room; /* room is a power of two */
    bool               *used;       /* frames that ever belonged to a page */
    struct hearthi_pool pool; /* of these, those that belong to none now */
} f;

static uint64_t
cache_bound(void)
{
    size_t bytes = hearthi_opt.cache;

    if (bytes == 0)
        bytes = hearthi_cluster.memory_share / 8;
    bytes /= hearthi_heap.page;
    if (bytes > hearthi_heap.pages)
        bytes = hearthi_heap.pages;
    return bytes < MIN_CACHE ? MIN_CACHE : bytes;
}

uint64_t
hearthi_frames_open(void)
{
    hearthi_frames.bound = cache_bound();
    for (f.room = 1; f.room < hearthi_frames.bound; f.room *= 2)
        ;
    f.ring = hearthi_sparse(f.room * sizeof *f.ring);
    f.used = hearthi_sparse(hearthi_heap.pages * sizeof *f.used);
    hearthi_pool_open(&f.pool, hearthi_heap.pages);
    return hearthi_frames.bound;
}

void
hearthi_frames_close(void)
{
    hearthi_sparse_free(f.ring, f.room * sizeof *f.ring);
    hearthi_sparse_free(f.used, hearthi_heap.pages * sizeof *f.used);
    hearthi_pool_close(&f.pool);
    memset(&f, 0, sizeof f);
    memset(&hearthi_frames, 0, sizeof hearthi_frames);
}

static hearthi_page *
ring_at(uint64_t i)
{
    HEARTHI_ASSERT(i < f.room);
    return &f.ring[(f.head + i) & (f.room - 1)];
}

uint64_t
hearthi_frames_run(uint64_t i, uint64_t *page)
{
    uint64_t n = 1;

    if (i >= hearthi_frames.given)
        return 0;
    *page = *ring_at(i);
    while (i + n < hearthi_frames.given && *ring_at(i + n) == *page + n)
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
    return hearthi_frames.used < hearthi_frames.bound && !f.used[page];
}

static void
frame_note(uint64_t page, uint64_t frame)
{
    uint32_t distance = (uint32_t)(frame - page);

    HEARTHI_ASSERT(!resident(page) && f.used[frame]);
    HEARTHI_ASSERT(hearthi_frames.given < hearthi_frames.bound &&
                   frame < hearthi_heap.pages);
    HEARTHI_ASSERT(hearthi_table.frame_offset[page] == 0);
    if (distance != 0)
        hearthi_table.frame_offset[page] = distance;
    hearthi_touch(page);
    hearthi_table.mark[page] |= HEARTHI_RESIDENT;
    *ring_at(hearthi_frames.given++) = (hearthi_page)page;
}

static void
place_take(uint64_t page)
{
    HEARTHI_ASSERT(!f.used[page] &&
                   hearthi_frames.used < hearthi_frames.bound);
    f.used[page] = true;
    hearthi_frames.used++;
    frame_note(page, page);
}

/* There is one: frames in use are those of pages, hearthi_frames.given, and
 * those in the pool. With hearthi_frames.bound in use, hearthi_frames.given is
 * less since there is room.  With fewer, every page that has a frame is one
 * whose own place was used, and so is this page: hearthi_frames.given <
 * hearthi_frames.used. */
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
                      (unsigned long long)hearthi_frames.given,
                      (unsigned long long)hearthi_frames.bound);
    hearthi_fork_reuse();
    for (uint64_t i = 0; i < n; i++)
        frame_note(page + i, first + i);
    return n;
}

/* Each frame that was ever used belongs to a page or to none. */
HEARTHI_FOR_ASSERT static bool
are_all_there(void)
{
    return hearthi_frames.given + f.pool.left == hearthi_frames.used &&
           hearthi_frames.used <= hearthi_frames.bound;
}

/* May a page lose its frame?  It has no copy, and none comes. */
HEARTHI_FOR_ASSERT static bool
may_lose(uint64_t page)
{
    unsigned state = hearthi_table.state[page];

    return !resident(page) && !hearthi_is_copy(state) &&
           state != HEARTHI_IN_FLIGHT && state != HEARTHI_PREFETCHED &&
           !hearthi_is_pinned(page);
}

/* Is there, or can there be, a frame for next that follows those from page
 * on? */
static bool
frame_follows(uint64_t page, uint64_t next)
{
    const uint32_t *frame_offset = hearthi_table.frame_offset;

    if (resident(next)) {
        if (frame_offset[next] != frame_offset[page])
            return false;
        hearthi_table.mark[next] |= HEARTHI_SECOND;
        return true;
    }
    if (frame_offset[page] != 0 || !place_is_new(next))
        return false;
    place_take(next);
    return true;
}

uint64_t
hearthi_frames_take(uint64_t page, uint64_t count)
{
    uint64_t n = 1;
    bool     fresh = false;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(count > 0 && page + count <= hearthi_table.top);
    if (resident(page)) {
        hearthi_table.mark[page] |= HEARTHI_SECOND;
    } else if ((fresh = place_is_new(page))) {
        place_take(page);
    } else {
        n = left_take(page, count);
    }
    while (n < count && frame_follows(page, page + n))
        n++;
    HEARTHI_ASSERT(n <= count && resident(page + n - 1));
    if (fresh && n > 1)
        hearthi_populate(hearthi_cached(page), n << hearthi_heap.shift, true);
    return n;
}

void
hearthi_frames_give(const hearthi_page *victim, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        HEARTHI_ASSERT(may_lose(victim[i]));
        hearthi_pool_give(&f.pool, hearthi_frame_of(victim[i]), 1);
        if (hearthi_table.frame_offset[victim[i]] != 0)
            hearthi_table.frame_offset[victim[i]] = 0;
    }
    HEARTHI_ASSERT(are_all_there());
}

static hearthi_page
ring_pop(void)
{
    hearthi_page page = *ring_at(0);

    HEARTHI_ASSERT(hearthi_frames.given > 0 && resident(page));
    f.head = (f.head + 1) & (f.room - 1);
    hearthi_frames.given--;
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

static bool
may_go(uint64_t page)
{
    return !hearthi_is_pinned(page) &&
           (!hearthi_is_in_flight(hearthi_table.state[page]) ||
            hearthi_is_frozen(page));
}

/* The youngest one again; or it goes. */
static void
ring_push(hearthi_page page)
{
    *ring_at(hearthi_frames.given++) = page;
}

static hearthi_page
resident_no_more(hearthi_page page)
{
    hearthi_table.mark[page] &= (uint8_t) ~(HEARTHI_RESIDENT | HEARTHI_SECOND);
    return page;
}

/* Those that are read mostly go first: of so many that are the oldest, for
 * each that is wanted.  The others stay in their order. */
enum { LOOKED_AT = 16 };

static size_t
read_mostly_victims(hearthi_page *victim, size_t max)
{
    uint64_t turn = hearthi_frames.given;
    size_t   n = 0;

    if (turn > LOOKED_AT * max)
        turn = LOOKED_AT * max;
    for (; n < max && turn > 0; turn--) {
        hearthi_page page = ring_pop();

        if (hearthi_is_read_mostly(page) && may_go(page))
            victim[n++] = resident_no_more(page);
        else
            ring_push(page);
    }
    return n;
}

/* *longer: pages that were found to be watched with more than few, and those
 * around them that were looked at for that. */
static bool
takes_mappings(uint64_t page, uint64_t few, struct hearthi_pages *longer)
{
    struct hearthi_pages r;

    if (page - longer->page < longer->count)
        return false;
    if (!hearthi_is_uffd_page(page) ||
        hearthi_uffd_pages_are_few(page, few, &r.page, &r.count))
        return true;
    *longer = r;
    return false;
}

size_t
hearthi_frames_victims(hearthi_page *victim, size_t max, uint64_t few)
{
    struct hearthi_pages longer = { 0 };
    size_t               n = 0;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(are_all_there());
    if (hearthi_read_mostly_ranges > 0 && few == 0)
        n = read_mostly_victims(victim, max);
    for (uint64_t turn = 2 * hearthi_frames.given;
         n < max && hearthi_frames.given > 0 && turn > 0; turn--) {
        hearthi_page page = ring_pop();
        uint8_t     *mark = &hearthi_table.mark[page];

        if (few > 0 && !takes_mappings(page, few, &longer)) {
            ring_push(page);
        } else if ((*mark & HEARTHI_SECOND) || !may_go(page)) {
            *mark &= (uint8_t)~HEARTHI_SECOND;
            ring_push(page);
        } else {
            victim[n++] = resident_no_more(page);
        }
    }
    pages_sort(victim, n);
    return n;
}
