/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The page table: what this rank knows of every page of the heap.  A page's
 * state decides its protection in the application view, so the one function
 * that changes protections, hearthi_pages_set(), changes the state with it,
 * and always for a whole run of pages.  States that show nothing change alone.
 *
 * The table is memory that stays untouched until a page is touched: an entry
 * of zeroes says that the page is as its allocation placed it, which
 * page_map.h works out.  So it grows with the pages that this rank touches and
 * not with those that are allocated; what is freed gives its part back.
 *
 * All of it is guarded by hearthi_table_lock(), which the fault handler takes
 * too.  A thread that holds it must not touch the application view.
 */
#ifndef HEARTHI_PAGE_H
#define HEARTHI_PAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/mutex.h"
#include "page_map.h"
#include "space/heap.h"

enum hearthi_state {
    HEARTHI_UNUSED,    /* in no allocation; in the table: as it was placed */
    HEARTHI_INVALID,   /* home on another node, no valid copy here */
    HEARTHI_IN_FLIGHT, /* the same, a copy is on its way (page_in_flight.h) */
    HEARTHI_STALE_IN_FLIGHT, /* the same, but it may come too old */
    HEARTHI_PREFETCHED, /* valid copy that was brought in advance: not shown */
    HEARTHI_CLEAN,      /* valid copy, read-only */
    HEARTHI_DIRTY,      /* valid copy with a twin, open for writing */
    HEARTHI_HOME_OPEN,  /* home on this node, no other node ever had it */
    HEARTHI_HOME_ARMED, /* the same, shared: read-only, the next write counts
                         */
    HEARTHI_HOME_DIRTY, /* the same, shared and open for writing */
    HEARTHI_HOME_AWAY,  /* home on this node, its mapping given up */
};

enum hearthi_mark {
    HEARTHI_REGISTERED = 1,  /* its sharer flag was set by this rank once */
    HEARTHI_PROVISIONAL = 2, /* first copy: dropped at the next acquire */
    HEARTHI_WROTE = 4,     /* written when it was last used (written_row.h) */
    HEARTHI_LISTED = 8,    /* in the list of this interval's pages */
    HEARTHI_CHANGED = 16,  /* a diff of this interval was not empty */
    HEARTHI_RESIDENT = 32, /* has a cached frame */
    HEARTHI_SECOND = 64,   /* fetched again since it has one */
    HEARTHI_TRACKED = 128, /* home page whose sharer flag was seen */
};

struct hearthi_table {
    uint8_t  *state;
    uint8_t  *mark;
    uint8_t  *reuse; /* how it was used so far (policy/reuse_predictor.h) */
    uint8_t  *wrote; /* while it has HEARTHI_WROTE (written_row.h) */
    uint32_t *twin;  /* slot, while HEARTHI_DIRTY */
    uint32_t *frame_offset; /* of its cached frame from its own place */
    uint32_t *shown;        /* the same of what the application view shows */
    uint8_t  *touched;      /* of HEARTHI_CHUNK pages: not all are zeroes */
    uint64_t  top;          /* all allocated pages lie below */
    long      areas, areas_max; /* kernel mappings: made by us, and allowed */
    long      areas_stuck;      /* at about so many, nothing can be given up */
};

extern struct hearthi_table hearthi_table;

/* Side by side. */
struct hearthi_pages {
    uint64_t page, count;
};

/* Entries of the table, however long the pages are: 4 KiB of states. */
enum { HEARTHI_CHUNK = 4096 };

/* Before an entry gets its first value that is not zero. */
static inline void
hearthi_touch(uint64_t page)
{
    HEARTHI_ASSERT(page < hearthi_heap.pages);
    hearthi_table.touched[page / HEARTHI_CHUNK] = 1;
}

/* The first page from this one on that may have an entry, or end. */
uint64_t hearthi_touched_next(uint64_t page, uint64_t end);

/* A page's state, whether it has an entry or not. */
static inline enum hearthi_state
hearthi_state_of(uint64_t page)
{
    uint8_t state = hearthi_table.state[page];

    return state != HEARTHI_UNUSED
               ? (enum hearthi_state)state
               : (enum hearthi_state)hearthi_page_place_of(page)->state;
}

/* Under the lock.  Code that looks at the table without it (api/api_atomic.c,
 * user calls that ask where a page is) only asks whether there is an entry: no
 * order is needed, since an entry that is there stays while the memory is
 * allocated. */
static inline void
hearthi_states_put(uint64_t page, uint64_t count, enum hearthi_state to)
{
    for (uint64_t p = page; p < page + count; p++)
        __atomic_store_n(&hearthi_table.state[p], (uint8_t)to,
                         __ATOMIC_RELAXED);
}

/* Let the table say it, for code that looks there without the lock. */
void hearthi_state_note(uint64_t page);

/* A list of pages, each at most once: room for every page of the heap. */
struct hearthi_pagelist {
    hearthi_page *page;
    size_t        n;
};

/* How many pages of a list follow each other from the i-th on. */
static inline size_t
hearthi_pages_in_row(const hearthi_page *page, size_t n, size_t i)
{
    size_t run = 1;

    while (i + run < n && page[i + run] == page[i] + run)
        run++;
    return run;
}

/* May allocate: not for the handler of faults. */
void hearthi_pagelist_sort(struct hearthi_pagelist *l);

/* Written, or maybe written, since the last release, in the order in which
 * they were opened (HEARTHI_LISTED); and copies to be dropped at the next
 * acquire (HEARTHI_PROVISIONAL). */
extern struct hearthi_pagelist hearthi_written, hearthi_provisional;

/* Under the lock, but whether anything was written is asked without (no order:
 * it only says from when on the next interval is measured). */
static inline void
hearthi_pagelist_count(struct hearthi_pagelist *l, size_t n)
{
    __atomic_store_n(&l->n, n, __ATOMIC_RELAXED);
}

/* Add a page to the list of those with this mark, which it gets. */
static inline void
hearthi_pagelist_add(struct hearthi_pagelist *l, enum hearthi_mark mark,
                     uint64_t page)
{
    HEARTHI_ASSERT_HAS(TABLE);
    if (hearthi_table.mark[page] & mark)
        return;
    hearthi_touch(page);
    hearthi_table.mark[page] |= (uint8_t)mark;
    HEARTHI_ASSERT(l->n < hearthi_heap.pages);
    l->page[l->n] = (hearthi_page)page;
    hearthi_pagelist_count(l, l->n + 1);
}

void hearthi_table_open(void);
void hearthi_table_close(void);

/* One lock for the table and everything about pages.  A thread that faults
 * while it holds the lock would wait for itself: that ends the job. */
void hearthi_table_lock(void);
bool hearthi_table_trylock(void);
void hearthi_table_unlock(void);

/* For what is said at the end of the job, by a thread that may have the lock
 * or have left it: true if nobody changes the table any more.  It is not given
 * back.  A thread that keeps it for a second waits for this one, or for what
 * does not come. */
bool hearthi_table_seize(void);

/* Let others have the lock while this thread waits for another node.  It still
 * counts as inside: a fault of its own ends the job. */
void hearthi_table_leave(void);
void hearthi_table_return(void);

/* Give the pages of a run a state, and so a protection, and let the view show
 * what belongs to it (protect.c).  All of them have their home here, or none
 * has. */
void hearthi_pages_set(uint64_t page, uint64_t count, enum hearthi_state to);

/* Let the view show the home pages of an allocation that no rank has used yet:
 * all of it is as it was placed from then on. */
void hearthi_pages_place(struct hearthi_allocation *a);

/* Let it show nothing of one that goes, and note nothing of its pages but
 * which of them have a cached frame.  What the table has of the gap in which
 * they will lie, `gap` pages from `from` on, is given back. */
void hearthi_pages_free(struct hearthi_allocation *a, uint64_t from,
                        uint64_t gap);

/* For these two: let the view show home frames of a run, readable and
 * writable, and no cached frames.  The table is not changed. */
void hearthi_home_show(uint64_t page, uint64_t count,
                       const struct hearthi_page_place *r);
void hearthi_copies_hide(uint64_t page, uint64_t count);

/* Pages that are watched, and of which none has a copy or a frame, are so no
 * more: they are one mapping with those beside them that have nothing. */
void hearthi_copies_unwatched(uint64_t page, uint64_t count);

/* True when the kernel's limit on mappings is near: give something up. */
static inline bool
hearthi_areas_short(void)
{
    return hearthi_table.areas > hearthi_table.areas_max;
}

/* True if the view of a page that has no copy, and no frame, is as
 * hearthi_pages_set() would have it. */
bool hearthi_view_is_own(uint64_t page);

/* Does the view show two pages that are no home pages, or nothing of them, in
 * one way: would one call for both do? */
bool hearthi_view_is_alike(uint64_t page, uint64_t other);

/* Copies are about to be given to the kernel: none of the run is watched
 * (uffd_pages.h) from now on. */
void hearthi_copies_unwatch(uint64_t page, uint64_t count);

/* See hearthi_populate(): for pages that have just become visible. */
void hearthi_copies_populate(uint64_t page, uint64_t count, bool write);

/* What is asserted of each change of a run's state: with --enable-debug only
 * (states.c). */

/* May each page of a run come to this state from the one that it has? */
bool hearthi_states_may_become(uint64_t page, uint64_t count,
                               enum hearthi_state to);

/* Has each the marks that go with the state, and none that does not? */
bool hearthi_states_are_marked(uint64_t page, uint64_t count,
                               enum hearthi_state to);

/* Are all of one allocation, and at home here where the state says so? */
bool hearthi_states_are_placed(uint64_t page, uint64_t count,
                               enum hearthi_state to);

/* The number of a page's cached frame.  Distances are modulo 2^32, so that
 * pages that follow each other with equal ones have frames that do, and that
 * 0, a page at its own place, needs no table to be filled. */
static inline uint64_t
hearthi_frame_of(uint64_t page)
{
    return (uint32_t)(page + hearthi_table.frame_offset[page]);
}

/* The system view of a page's cached frame. */
static inline char *
hearthi_cached(uint64_t page)
{
    HEARTHI_ASSERT(hearthi_frame_of(page) < hearthi_heap.pages);
    return hearthi_heap.cached +
           (hearthi_frame_of(page) << hearthi_heap.shift);
}

static inline bool
hearthi_is_copy(unsigned state)
{
    return state == HEARTHI_CLEAN || state == HEARTHI_DIRTY;
}

static inline bool
hearthi_is_in_flight(unsigned state)
{
    return state == HEARTHI_IN_FLIGHT || state == HEARTHI_STALE_IN_FLIGHT;
}

static inline bool
hearthi_is_home(unsigned state)
{
    return state >= HEARTHI_HOME_OPEN;
}

/* True if page + 1 lies behind page in the same segment too, so that one
 * message or mapping serves both. */
static inline bool
hearthi_follows(uint64_t page)
{
    const struct hearthi_page_place *r = hearthi_page_place_of(page);

    return page + 1 - r->page < r->count;
}

/* How many pages of a run were announced to their home before? */
static inline uint64_t
hearthi_registered(uint64_t page, uint64_t count)
{
    uint64_t n = 0;

    for (uint64_t p = page; p < page + count; p++)
        n += (hearthi_table.mark[p] & HEARTHI_REGISTERED) != 0;
    return n;
}

/* How far the pages from `page` on are in this state and, for messages, at
 * neighbouring frames of one home. */
static inline uint64_t
hearthi_run_length(uint64_t page, uint64_t max, enum hearthi_state state)
{
    const struct hearthi_page_place *r = hearthi_page_place_of(page);
    const uint8_t                   *noted = hearthi_table.state + page;
    uint64_t                         n = 1, left = r->page + r->count - page;

    if (max > left)
        max = left;
    while (n < max && (noted[n] == HEARTHI_UNUSED ? r->state : noted[n]) ==
                          (uint8_t)state)
        n++;
    return n;
}

/* The same of those before it, and it. */
static inline uint64_t
hearthi_run_before(uint64_t page, uint64_t max, enum hearthi_state state)
{
    const struct hearthi_page_place *r = hearthi_page_place_of(page);
    const uint8_t                   *noted = hearthi_table.state + page;
    uint64_t                         n = 1, left = page - r->page + 1;

    if (max > left)
        max = left;
    while (n < max && (noted[-(int64_t)n] == HEARTHI_UNUSED
                           ? r->state
                           : noted[-(int64_t)n]) == (uint8_t)state)
        n++;
    return n;
}

#endif
