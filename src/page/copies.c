/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A copy is closed in this order, here and everywhere: protect the
 * application view, then compare the system view with the twin, then wait
 * until the diff has arrived.  Another thread's store therefore either is in
 * the diff, or faults and opens the page again; it cannot fall in between.
 */
#include "config.h"

#include "copies.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "notice/diff.h"
#include "space/segment.h"
#include "transport/transport.h"
#include "world.h"

enum { MIN_CACHE = 16, BATCH = 256, LONGEST_DIFF = 1 << 20 };

static struct {
    uint64_t            bound;         /* pages that may have frames */
    hearthi_page       *ring;          /* pages that have one, oldest first */
    uint64_t            head, n, room; /* room is a power of two */
    char               *twins;
    uint32_t           *spare; /* free twin slots, a stack */
    uint32_t            nspare, slots, slots_max;
    struct hearthi_run *runs;  /* of one diff */
    uint64_t            diffs; /* made so far */
} c;

static struct { /* a diff run that may still grow */
    int         home;
    size_t      offset, len;
    const char *src;
} tail;

static uint64_t
cache_bound(void)
{
    size_t bytes = hearthi_opt.cache;

    if (bytes == 0)
        bytes = (size_t)sysconf(_SC_PHYS_PAGES) *
                (size_t)sysconf(_SC_PAGESIZE) / 8 /
                (size_t)hearthi_world.machine_ranks;
    bytes /= hearthi_heap.page;
    if (bytes > hearthi_heap.pages)
        bytes = hearthi_heap.pages;
    return bytes < MIN_CACHE ? MIN_CACHE : bytes;
}

void
hearthi_copies_open(void)
{
    c.bound = cache_bound();
    for (c.room = 1; c.room < c.bound + BATCH; c.room *= 2)
        ;
    c.ring = hearthi_sparse(c.room * sizeof *c.ring);
    c.slots_max = (uint32_t)c.bound;
    c.twins = hearthi_sparse((size_t)c.slots_max << hearthi_heap.shift);
    c.spare = hearthi_sparse(c.slots_max * sizeof *c.spare);
    c.runs = malloc((hearthi_heap.page / 2 + 1) * sizeof *c.runs);
    if (c.runs == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

void
hearthi_copies_close(void)
{
    hearthi_sparse_free(c.ring, c.room * sizeof *c.ring);
    hearthi_sparse_free(c.twins, (size_t)c.slots_max << hearthi_heap.shift);
    hearthi_sparse_free(c.spare, c.slots_max * sizeof *c.spare);
    free(c.runs);
    memset(&c, 0, sizeof c);
}

void
hearthi_list(uint64_t page)
{
    uint8_t *mark = &hearthi_table.mark[page];

    if (*mark & HEARTHI_LISTED)
        return;
    *mark |= HEARTHI_LISTED;
    hearthi_written.page[hearthi_written.n++] = (hearthi_page)page;
}

/* ---- twins and diffs ---- */

static char *
twin_at(uint64_t page)
{
    return c.twins + ((size_t)hearthi_table.twin[page] << hearthi_heap.shift);
}

/* There is a slot for every page that may have a frame. */
static void
twin_make(uint64_t page)
{
    hearthi_table.twin[page] = c.nspare > 0 ? c.spare[--c.nspare] : c.slots++;
    memcpy(twin_at(page), hearthi_cached(page), hearthi_heap.page);
}

static void
twin_free(uint64_t page)
{
    c.spare[c.nspare++] = hearthi_table.twin[page];
}

void
hearthi_copies_write(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++) {
        twin_make(p);
        hearthi_list(p);
    }
    hearthi_count(twins, count);
    hearthi_pages_set(page, count, HEARTHI_DIRTY);
}

static void
tail_send(void)
{
    if (tail.len > 0)
        hearthi_transport->diff(tail.home, tail.offset, tail.src, tail.len);
    tail.len = 0;
}

/* Runs that continue each other at both ends, across pages too, go as one. */
static void
tail_add(int home, size_t offset, const char *src, size_t len)
{
    if (tail.len > 0 && tail.home == home &&
        tail.offset + tail.len == offset && tail.src + tail.len == src &&
        tail.len < LONGEST_DIFF) {
        tail.len += len;
        return;
    }
    tail_send();
    tail.home = home;
    tail.offset = offset;
    tail.src = src;
    tail.len = len;
}

/* Queue a page's diff.  With refresh the page stays open, and another thread
 * may write while the diff is on its way: so the changed bytes are copied into
 * the twin once and sent from there.  A later write differs from the twin and
 * is found by the next diff. */
static bool
diff_begin(uint64_t page, bool refresh)
{
    const struct hearthi_table *t = &hearthi_table;
    char                       *now = hearthi_cached(page);
    char                       *twin = twin_at(page);
    size_t at = hearthi_frame_at(t->frame[page], hearthi_heap.shift);
    size_t n =
        hearthi_diff(now, twin, hearthi_heap.page, t->unit[page], c.runs);
    size_t bytes = 0;

    for (size_t i = 0; i < n; i++) {
        uint32_t off = c.runs[i].off, len = c.runs[i].len;

        if (refresh)
            memcpy(twin + off, now + off, len);
        tail_add((int)t->home[page], at + off, (refresh ? twin : now) + off,
                 len);
        bytes += len;
    }
    if (n == 0)
        return false;
    hearthi_table.mark[page] |= HEARTHI_CHANGED;
    hearthi_count(diffs, 1);
    hearthi_count(diff_runs, n);
    hearthi_count(diff_bytes, bytes);
    hearthi_distribute(diff_bytes, bytes);
    c.diffs++;
    return true;
}

void
hearthi_copies_shut(uint64_t page, uint64_t count)
{
    hearthi_pages_set(page, count, HEARTHI_CLEAN);
    for (uint64_t p = page; p < page + count; p++) {
        diff_begin(p, false);
        twin_free(p);
    }
}

bool
hearthi_copies_refresh(uint64_t page)
{
    return diff_begin(page, true);
}

uint64_t
hearthi_diffs_made(void)
{
    return c.diffs;
}

void
hearthi_diff_end(void)
{
    tail_send();
    hearthi_transport->flush();
}

/* ---- dropping ---- */

static bool
run_has_dirty(uint64_t page, uint64_t count)
{
    return memchr(hearthi_table.state + page, HEARTHI_DIRTY, count) != NULL;
}

/* Copies of a run, all valid: note the dirty ones before the protection and
 * with it the states change.  Runs are cut so that the note is small. */
static void
valid_run_drop(uint64_t page, uint64_t count)
{
    uint8_t was[BATCH];
    bool    dirty;

    while (count > 0) {
        uint64_t n = count < BATCH ? count : BATCH;

        dirty = run_has_dirty(page, n);
        memcpy(was, hearthi_table.state + page, n);
        hearthi_pages_set(page, n, HEARTHI_INVALID);
        for (uint64_t i = 0; dirty && i < n; i++) {
            if (was[i] != HEARTHI_DIRTY)
                continue;
            diff_begin(page + i, false);
            twin_free(page + i);
        }
        page += n;
        count -= n;
    }
}

/* The same, but the caller ends the diffs. */
static uint64_t
drop_begin(uint64_t page, uint64_t count)
{
    const uint8_t *state = hearthi_table.state;
    uint64_t       end = page + count, dropped = 0;

    while (page < end) {
        uint64_t n = 0;

        while (page < end && !hearthi_is_copy(state[page]))
            page++;
        while (page + n < end && hearthi_is_copy(state[page + n]))
            n++;
        if (n > 0)
            valid_run_drop(page, n);
        page += n;
        dropped += n;
    }
    return dropped;
}

uint64_t
hearthi_copies_drop(uint64_t page, uint64_t count)
{
    uint64_t n;

    hearthi_copies_reserve(0); /* a hole in a run splits its mapping */
    n = drop_begin(page, count);
    if (n > 0)
        hearthi_diff_end();
    return n;
}

static hearthi_page *
ring_at(uint64_t i)
{
    return &c.ring[(c.head + i) & (c.room - 1)];
}

/* The ring knows every page that has a frame, in about the order of their
 * addresses where they were fetched so: drop run by run. */
uint64_t
hearthi_copies_drop_all(void)
{
    uint64_t dropped = 0;

    for (uint64_t i = 0, n; i < c.n; i += n) {
        uint64_t page = *ring_at(i);

        for (n = 1; i + n < c.n && *ring_at(i + n) == page + n; n++)
            ;
        dropped += drop_begin(page, n);
    }
    hearthi_diff_end();
    return dropped;
}

/* ---- replacement ---- */

uint64_t
hearthi_copies_most(void)
{
    return c.bound / 4;
}

void
hearthi_copies_prepare(uint64_t page, uint64_t count)
{
    if (count > 1 && !(hearthi_table.mark[page] & HEARTHI_RESIDENT))
        hearthi_populate(hearthi_cached(page), count << hearthi_heap.shift,
                         true);
}

void
hearthi_copies_arrived(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++) {
        uint8_t *mark = &hearthi_table.mark[p];

        if (*mark & HEARTHI_RESIDENT) {
            *mark |= HEARTHI_SECOND;
            continue;
        }
        *mark |= HEARTHI_RESIDENT;
        *ring_at(c.n++) = (hearthi_page)p;
    }
}

static hearthi_page
ring_pop(void)
{
    hearthi_page page = *ring_at(0);

    c.head = (c.head + 1) & (c.room - 1);
    c.n--;
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

/* Length of the run of consecutive pages at i. */
static size_t
run_at(const hearthi_page *page, size_t n, size_t i)
{
    size_t run = 1;

    while (i + run < n && page[i + run] == page[i] + run)
        run++;
    return run;
}

/* Choose up to max victims: the oldest that were not fetched again since
 * their last turn.  Returns them sorted. */
static size_t
victims(hearthi_page *victim, size_t max)
{
    size_t n = 0;

    for (uint64_t turn = 2 * c.n; n < max && c.n > 0 && turn > 0; turn--) {
        hearthi_page page = ring_pop();
        uint8_t     *mark = &hearthi_table.mark[page];

        if (*mark & HEARTHI_SECOND) {
            *mark &= (uint8_t)~HEARTHI_SECOND;
            *ring_at(c.n++) = page;
        } else {
            *mark &= (uint8_t)~HEARTHI_RESIDENT;
            victim[n++] = page;
        }
    }
    pages_sort(victim, n);
    return n;
}

/* Give up to max frames back.  Diffs have arrived before a frame goes. */
static size_t
evict(size_t max)
{
    hearthi_page victim[BATCH];
    size_t       n = victims(victim, max < BATCH ? max : BATCH);
    uint64_t     dropped = 0;

    for (size_t i = 0, run; i < n; i += run) {
        run = run_at(victim, n, i);
        dropped += drop_begin(victim[i], run);
    }
    hearthi_diff_end();
    for (size_t i = 0, run; i < n; i += run) {
        run = run_at(victim, n, i);
        hearthi_heap_punch(victim[i], run);
    }
    hearthi_count(evictions, dropped);
    return n;
}

/* A run of mapped home pages that is one mapping of the kernel. */
static uint64_t
home_run(uint64_t page)
{
    const uint8_t *state = hearthi_table.state;
    uint64_t       n = 1;

    while (page + n < hearthi_table.top && state[page + n] == state[page] &&
           hearthi_follows(page + n - 1))
        n++;
    return n;
}

/* Home pages keep their frames; what is given up is the mapping, of short
 * runs in the order of their addresses, from behind the last one that was.
 * Long runs stay: they are few. */
static void
homes_give_up(uint64_t want)
{
    static uint64_t hand;
    const uint8_t  *state = hearthi_table.state;
    uint64_t        seen = 0, run;

    for (; want > 0 && seen < hearthi_table.top; seen += run, hand += run) {
        if (hand >= hearthi_table.top)
            hand = 0;
        run = 1;
        if (!hearthi_is_home(state[hand]) || state[hand] == HEARTHI_HOME_AWAY)
            continue;
        run = home_run(hand);
        if (run > HEARTHI_HOME_RUN)
            continue;
        hearthi_pages_set(hand, run, HEARTHI_HOME_AWAY);
        want--;
    }
}

/* Copies first: they can be fetched again.  A quarter more than needed goes,
 * so that the next fault finds room. */
static void
areas_relieve(void)
{
    struct hearthi_table *t = &hearthi_table;
    long                  goal = t->areas_max - t->areas_max / 8;

    while (t->areas > goal && evict(BATCH) > 0)
        ;
    while (t->areas > goal) {
        long before = t->areas;

        homes_give_up(BATCH);
        if (t->areas >= before)
            break;
    }
}

void
hearthi_copies_reserve(uint64_t count)
{
    while (c.n + count > c.bound && c.n > 0) {
        size_t spare = c.bound / 16;
        size_t want = (size_t)(c.n + count - c.bound);

        evict(want + (spare < BATCH / 2 ? spare : BATCH / 2));
    }
    if (hearthi_areas_short())
        areas_relieve();
}
