/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A state decides what the application view of a page shows and allows:
 * hearthi_pages_set() changes both, and counts the kernel's mappings.
 */
#include "config.h"

#include <errno.h>
#include <string.h>
#include <sys/mman.h>

#include "base/dlsym_next.h"
#include "base/min.h"
#include "base/mutex.h"
#include "base/report.h"
#include "node_cache.h"
#include "page.h"
#include "space/foreign.h"
#include "space/segment.h"
#include "uffd_pages.h"
#include "world.h"

enum area { NOTHING, COPY_R, COPY_RW, WATCHED, HOME_R, HOME_RW };

static const uint8_t area_of[] = {
    [HEARTHI_UNUSED] = NOTHING,     [HEARTHI_INVALID] = NOTHING,
    [HEARTHI_IN_FLIGHT] = NOTHING,  [HEARTHI_STALE_IN_FLIGHT] = NOTHING,
    [HEARTHI_PREFETCHED] = NOTHING, [HEARTHI_CLEAN] = COPY_R,
    [HEARTHI_DIRTY] = COPY_RW,      [HEARTHI_HOME_OPEN] = HOME_RW,
    [HEARTHI_HOME_ARMED] = HOME_R,  [HEARTHI_HOME_DIRTY] = HOME_RW,
    [HEARTHI_HOME_AWAY] = NOTHING,
};

static const int prot_of[] = {
    [NOTHING] = PROT_NONE,
    [COPY_R] = PROT_READ,
    [COPY_RW] = PROT_READ | PROT_WRITE,
    [HOME_R] = PROT_READ,
    [HOME_RW] = PROT_READ | PROT_WRITE,
};

static enum area
area_at(uint64_t page)
{
    return hearthi_is_uffd_page(page) ? WATCHED
                                      : area_of[hearthi_state_of(page)];
}

/* Does the kernel need two mappings for page - 1 and page, which are these
 * areas? */
static bool
border(uint64_t page, enum area before, enum area a)
{
    const struct hearthi_table *t = &hearthi_table;

    if (page == 0 || page >= hearthi_heap.pages || a != before)
        return true;
    return a >= HOME_R ? !hearthi_follows(page - 1)
                       : t->shown[page - 1] != t->shown[page];
}

static long
borders(uint64_t page, uint64_t count)
{
    enum area before = page > 0 ? area_at(page - 1) : NOTHING;
    long      n = 0;

    for (uint64_t p = page; p <= page + count; p++) {
        enum area a = p < hearthi_heap.pages ? area_at(p) : NOTHING;

        n += border(p, before, a);
        before = a;
    }
    return n;
}

static void
chunks_touch(uint64_t page, uint64_t end)
{
    for (uint64_t p = page; p < end; p += HEARTHI_CHUNK)
        hearthi_touch(p);
    hearthi_touch(end - 1);
}

static void
area_failed(const char *what, uint64_t page, uint64_t count)
{
    hearthi_fatal("page table",
                  "%s of %llu pages at %p failed: %s (%ld mappings in use, "
                  "%ld planned for; see vm.max_map_count)",
                  what, (unsigned long long)count, (void *)hearthi_app(page),
                  strerror(errno), hearthi_table.areas,
                  hearthi_table.areas_max);
}

/* What the program has mapped there may refuse it. */
static void
protect(uint64_t page, uint64_t count, enum area a)
{
    int code;

    if (hearthi_mprotect(hearthi_app(page), count << hearthi_heap.shift,
                         prot_of[a]) == 0)
        return;
    code = errno;
    hearthi_foreign_check("page table");
    errno = code;
    area_failed("mprotect", page, count);
}

void
hearthi_home_show(uint64_t page, uint64_t count,
                  const struct hearthi_page_place *r)
{
    HEARTHI_ASSERT(hearthi_home_is_near((int)r->home));
    HEARTHI_ASSERT(page >= r->page && page + count <= r->page + r->count);
    errno =
        hearthi_segment_map(page, count, hearthi_world.node_rank_of[r->home],
                            r->frame + (page - r->page));
    if (errno != 0)
        area_failed("mapping", page, count);
}

/* Home frames over the heap, one mapping for each run of frames. */
static void
homes_map(uint64_t page, uint64_t count)
{
    for (uint64_t end = page + count, n; page < end; page += n) {
        const struct hearthi_page_place *r = hearthi_page_place_of(page);

        n = hearthi_min(end - page, r->page + r->count - page);
        hearthi_home_show(page, n, r);
        hearthi_uffd_pages_forget(page, n);
    }
}

/* What the view of a page shows that is no home page, as a distance from its
 * own place.  A page without a frame shows its own place, with no access: such
 * pages are one mapping however many have been replaced.  One that keeps its
 * frame keeps its mapping too, for when it is fetched again. */
static uint32_t
to_show(uint64_t page, enum hearthi_state to)
{
    const struct hearthi_table *t = &hearthi_table;

    if (hearthi_is_copy(to))
        return t->frame_offset[page];
    if (to == HEARTHI_INVALID && (t->mark[page] & HEARTHI_RESIDENT))
        return t->shown[page];
    return 0;
}

static void
frames_map(uint64_t page, uint64_t count, uint32_t distance, enum area a)
{
    errno = hearthi_heap_show(page, count, (uint32_t)(page + distance),
                              prot_of[a]);
    if (errno != 0)
        area_failed("mapping", page, count);
}

/* Is a page next to a run watched?  Then the run is one mapping with it if it
 * is watched, too, and otherwise if it is not. */
static bool
is_by_watched(uint64_t page, uint64_t count)
{
    return (page > 0 && hearthi_is_uffd_page(page - 1)) ||
           hearthi_is_uffd_page(page + count);
}

/* Pages that show their own place are watched from then on where those beside
 * them are. */
static void
cached_map(uint64_t page, uint64_t count, uint32_t distance,
           enum hearthi_state to)
{
    bool watch = hearthi_uffd_pages.up && distance == 0 &&
                 to != HEARTHI_UNUSED && is_by_watched(page, count);
    enum area a = watch ? NOTHING : area_of[to];

    frames_map(page, count, distance, a);
    for (uint64_t p = page; p < page + count; p++)
        if (hearthi_table.shown[p] != distance)
            hearthi_table.shown[p] = distance;
    hearthi_uffd_pages_forget(page, count);
    if (watch) {
        hearthi_uffd_pages_watch(page, count);
        hearthi_uffd_pages_set(page, count, to);
    }
}

/* How a page is changed. */
enum way { MAP, PROTECT, WATCH };

/* Cached frames are shown by protection alone where they are shown already.
 * A page that is not watched, and gives up its frame, is mapped anew, to be
 * watched again. */
static enum way
way_of(uint64_t page, enum hearthi_state to)
{
    const struct hearthi_table *t = &hearthi_table;

    if (t->shown[page] != to_show(page, to))
        return MAP;
    if (hearthi_is_uffd_page(page))
        return WATCH;
    return hearthi_uffd_pages.up &&
                   hearthi_uffd_pages.page[page] == HEARTHI_UFFD_LEFT &&
                   !hearthi_is_copy(to) && !(t->mark[page] & HEARTHI_RESIDENT)
               ? MAP
               : PROTECT;
}

/* `anew`: no cached frames were shown. */
static void
cached_set(uint64_t page, uint64_t count, enum hearthi_state to, bool anew)
{
    for (uint64_t end = page + count, n; page < end; page += n) {
        uint32_t want = to_show(page, to);
        enum way way = anew ? MAP : way_of(page, to);

        for (n = 1; page + n < end && to_show(page + n, to) == want &&
                    (anew || way_of(page + n, to) == way);
             n++)
            ;
        switch (way) {
        case MAP: cached_map(page, n, want, to); break;
        case PROTECT: protect(page, n, area_of[to]); break;
        case WATCH: hearthi_uffd_pages_set(page, n, to); break;
        }
    }
}

/* ---- the first copies of a place ---- */

/* Pages from this one on that are valid copies as it is, or are none. */
static uint64_t
same_copies(uint64_t page, uint64_t end)
{
    const uint8_t *state = hearthi_table.state;
    uint64_t       n = 1;

    while (page + n < end &&
           (hearthi_is_copy(state[page]) ? state[page + n] == state[page]
                                         : !hearthi_is_copy(state[page + n])))
        n++;
    return n;
}

/* What is under mprotect may have entries in page tables, which are to go
 * before all of it is readable and writable.  Other threads that touch a copy
 * meanwhile fault, and wait; a child that fork(2) makes meanwhile shows again
 * what was noted as watched. */
static void
range_watch(uint64_t page, uint64_t end)
{
    long more = -borders(page, end - page);

    HEARTHI_ASSERT(page < end && end <= hearthi_table.top);
    chunks_touch(page, end);
    hearthi_uffd_pages_note(page, end - page);
    frames_map(page, end - page, 0, NOTHING);
    hearthi_uffd_pages_watch(page, end - page);
    more += borders(page, end - page);
    hearthi_table.areas += more;
    hearthi_page_place_of(page)->in->areas += more;
    for (uint64_t n; page < end; page += n) {
        n = same_copies(page, end);
        if (hearthi_is_copy(hearthi_table.state[page]))
            hearthi_uffd_pages_show(page, n);
    }
}

/* A copy whose frame lies elsewhere takes a mapping in any case. */
static void
copies_begin(uint64_t page, uint64_t count)
{
    if (!hearthi_uffd_pages.up)
        return;
    hearthi_uffd_policy_note(page, count);
    for (uint64_t p = page, end = page + count, first, last; p < end; p++) {
        if (!hearthi_uffd_policy_scattered(p, hearthi_areas_now())) {
            p |= HEARTHI_UFFD_GRANULE - 1;
        } else if (hearthi_table.frame_offset[p] == 0 &&
                   hearthi_may_watch(p)) {
            hearthi_uffd_pages_around(p, &first, &last);
            range_watch(first, last);
        }
    }
}

void
hearthi_pages_set(uint64_t page, uint64_t count, enum hearthi_state to)
{
    struct hearthi_table *t = &hearthi_table;
    enum area             a = area_of[to], was;
    long                  more;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(count > 0 && page + count <= t->top);
    HEARTHI_ASSERT(hearthi_states_may_become(page, count, to));
    HEARTHI_ASSERT(hearthi_states_are_marked(page, count, to));
    HEARTHI_ASSERT(hearthi_states_are_placed(page, count, to));
    if (hearthi_is_copy(to))
        copies_begin(page, count);
    was = area_at(page);
    if (to != HEARTHI_CLEAN && was < HOME_R)
        hearthi_node_cache_keep(page, count);
    more = -borders(page, count);
    if (a < HOME_R)
        cached_set(page, count, to, was >= HOME_R);
    else if (was >= HOME_R)
        protect(page, count, a);
    else {
        homes_map(page, count);
        if (a == HOME_R)
            protect(page, count, a);
    }
    chunks_touch(page, page + count);
    hearthi_states_put(page, count, to);
    more += borders(page, count);
    t->areas += more;
    hearthi_page_place_of(page)->in->areas += more;
}

/* A thread that faults meanwhile waits for the lock, and tries again.  */
void
hearthi_copies_unwatched(uint64_t page, uint64_t count)
{
    long more = -borders(page, count);

    HEARTHI_ASSERT_HAS(TABLE);
    frames_map(page, count, 0, NOTHING);
    hearthi_uffd_pages_forget(page, count);
    more += borders(page, count);
    hearthi_table.areas += more;
    hearthi_page_place_of(page)->in->areas += more;
}

void
hearthi_copies_hide(uint64_t page, uint64_t count)
{
    HEARTHI_ASSERT_HAS(TABLE);
    frames_map(page, count, 0, NOTHING);
}

/* Is the view of a page that has no copy what it was at first? */
bool
hearthi_view_is_own(uint64_t page)
{
    return hearthi_table.shown[page] == 0 &&
           (!hearthi_uffd_pages.up ||
            hearthi_uffd_pages.page[page] != HEARTHI_UFFD_LEFT);
}

bool
hearthi_view_is_alike(uint64_t page, uint64_t other)
{
    return hearthi_table.shown[page] == hearthi_table.shown[other] &&
           hearthi_is_uffd_page(page) == hearthi_is_uffd_page(other);
}

void
hearthi_copies_unwatch(uint64_t page, uint64_t count)
{
    const uint8_t *state = hearthi_table.state;
    long           more;

    HEARTHI_ASSERT_HAS(TABLE);
    if (!hearthi_uffd_pages.up)
        return;
    more = -borders(page, count);
    for (uint64_t p = page, n; p < page + count; p += n) {
        for (n = 1; p + n < page + count && state[p + n] == state[p] &&
                    hearthi_is_uffd_page(p + n) == hearthi_is_uffd_page(p);
             n++)
            ;
        if (hearthi_is_uffd_page(p) && hearthi_is_copy(state[p]))
            hearthi_uffd_pages_unwatch(p, n, prot_of[area_of[state[p]]]);
    }
    more += borders(page, count);
    hearthi_table.areas += more;
    hearthi_page_place_of(page)->in->areas += more;
}

/* What is watched is shown already. */
void
hearthi_copies_populate(uint64_t page, uint64_t count, bool write)
{
    if (count > 1 && !hearthi_is_uffd_page(page))
        hearthi_populate(hearthi_app(page), count << hearthi_heap.shift,
                         write);
}
