/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The table's memory, and what it says of whole allocations.
 *
 * Every entry that is not all zeroes lies in a chunk that is marked as
 * touched, so what is looked for in a large range is looked for in these
 * chunks alone.
 */
#include "config.h"

#include "base/descriptor.h"
#include "base/mutex.h"
#include "fork_child.h"
#include "freed_frames.h"
#include "page.h"

#include <stdio.h>
#include <string.h>

#include "base/min.h"
#include "cluster.h"
#include "uffd_pages.h"
#include "world.h"

enum { FEW = 1024 };

struct hearthi_table hearthi_table;

/* ---- the kernel's mappings ---- */

/* Lines of /proc/self/maps: the mappings that others have made so far. */
static long
areas_now(void)
{
    FILE *f = hearthi_file_to_read("/proc/self/maps");
    long  n = 0;

    if (f == NULL)
        return 1000;
    for (int c; (c = getc(f)) != EOF;)
        n += c == '\n';
    fclose(f);
    return n;
}

static long
areas_limit(void)
{
    uint64_t n = 65530;

    hearthi_file_number("/proc/sys/vm/max_map_count", &n);
    return (long)n;
}

/* ---- open and close ---- */

static size_t
chunks(void)
{
    return hearthi_heap.pages / HEARTHI_CHUNK + 1;
}

void
hearthi_table_open(void)
{
    struct hearthi_table *t = &hearthi_table;
    uint64_t              n = hearthi_heap.pages + 1;
    long                  limit = areas_limit();

    HEARTHI_ASSERT(hearthi_written.n == 0 && hearthi_provisional.n == 0);
    t->state = hearthi_sparse(n);
    t->mark = hearthi_sparse(n);
    t->reuse = hearthi_sparse(n);
    t->wrote = hearthi_sparse(n);
    t->twin = hearthi_sparse(n * sizeof *t->twin);
    t->frame_offset = hearthi_sparse(n * sizeof *t->frame_offset);
    t->shown = hearthi_sparse(n * sizeof *t->shown);
    t->touched = hearthi_sparse(chunks());
    hearthi_written.page = hearthi_sparse(n * sizeof(hearthi_page));
    hearthi_provisional.page = hearthi_sparse(n * sizeof(hearthi_page));
    hearthi_page_map_open();
    hearthi_uffd_pages_open();
    t->areas = 0;
    /* An eighth stays free for threads, libraries and malloc. */
    t->areas_max = limit - areas_now() - limit / 8;
}

void
hearthi_table_close(void)
{
    struct hearthi_table *t = &hearthi_table;
    uint64_t              n = hearthi_heap.pages + 1;

    HEARTHI_ASSERT_HAS_NOT(TABLE);
    hearthi_sparse_free(t->state, n);
    hearthi_sparse_free(t->mark, n);
    hearthi_sparse_free(t->reuse, n);
    hearthi_sparse_free(t->wrote, n);
    hearthi_sparse_free(t->twin, n * sizeof *t->twin);
    hearthi_sparse_free(t->frame_offset, n * sizeof *t->frame_offset);
    hearthi_sparse_free(t->shown, n * sizeof *t->shown);
    hearthi_sparse_free(t->touched, chunks());
    hearthi_sparse_free(hearthi_written.page, n * sizeof(hearthi_page));
    hearthi_sparse_free(hearthi_provisional.page, n * sizeof(hearthi_page));
    hearthi_written.n = hearthi_provisional.n = 0;
    hearthi_fork_close();
    hearthi_page_map_close();
    hearthi_uffd_pages_close();
    memset(t, 0, sizeof *t);
}

/* ---- what was touched ---- */

uint64_t
hearthi_touched_next(uint64_t page, uint64_t end)
{
    while (page < end && !hearthi_table.touched[page / HEARTHI_CHUNK])
        page = (page / HEARTHI_CHUNK + 1) * HEARTHI_CHUNK;
    return hearthi_min(page, end);
}

void
hearthi_state_note(uint64_t page)
{
    uint8_t state = (uint8_t)hearthi_state_of(page);

    HEARTHI_ASSERT_HAS(TABLE);
    if (state == HEARTHI_UNUSED)
        return;
    hearthi_touch(page);
    hearthi_states_put(page, 1, (enum hearthi_state)state);
}

/* Of pages of one chunk: which have a frame is all that stays.  True if none
 * has. */
static bool
marks_forget(uint64_t page, uint64_t end)
{
    struct hearthi_table *t = &hearthi_table;
    bool                  none = true;

    for (uint64_t p = page; p < end; p++) {
        if (t->mark[p] == 0)
            continue;
        t->mark[p] &= HEARTHI_RESIDENT;
        none &= t->mark[p] == 0;
    }
    return none;
}

static void
chunk_forget(uint64_t page, uint64_t end)
{
    struct hearthi_table *t = &hearthi_table;
    uint64_t              n = end - page;

    hearthi_sparse_clear(t->state + page, n);
    hearthi_sparse_clear(t->reuse + page, n);
    hearthi_sparse_clear(t->wrote + page, n);
    hearthi_uffd_pages_clear(page, n);
    hearthi_sparse_clear(t->shown + page, n * sizeof *t->shown);
    hearthi_sparse_clear(t->twin + page, n * sizeof *t->twin);
    if (!marks_forget(page, end))
        return;
    hearthi_sparse_clear(t->mark + page, n);
    hearthi_sparse_clear(t->frame_offset + page, n * sizeof *t->frame_offset);
    if (page % HEARTHI_CHUNK == 0 && n == HEARTHI_CHUNK)
        t->touched[page / HEARTHI_CHUNK] = 0;
}

/* The same of a few pages, whose entries are likely to be used again soon. */
static void
few_forget(uint64_t page, uint64_t end)
{
    struct hearthi_table *t = &hearthi_table;

    marks_forget(page, end);
    hearthi_uffd_pages_forget(page, end - page);
    for (; page < end; page++) {
        if (t->shown[page] != 0)
            t->shown[page] = 0;
        if (t->state[page] != HEARTHI_UNUSED)
            t->state[page] = HEARTHI_UNUSED;
        if (t->reuse[page] != 0)
            t->reuse[page] = 0;
    }
}

static void
range_forget(uint64_t page, uint64_t end)
{
    while ((page = hearthi_touched_next(page, end)) < end) {
        uint64_t next = (page / HEARTHI_CHUNK + 1) * HEARTHI_CHUNK;

        next = hearthi_min(next, end);
        chunk_forget(page, next);
        page = next;
    }
}

/* Whole chunks around few pages: what smaller allocations left there. */
static void
around_forget(const struct hearthi_allocation *a, uint64_t from, uint64_t end)
{
    uint64_t last = a->page + a->pages;
    uint64_t before = a->page / HEARTHI_CHUNK * HEARTHI_CHUNK;
    uint64_t behind = (last / HEARTHI_CHUNK + 1) * HEARTHI_CHUNK;

    few_forget(a->page, last);
    if (from < before)
        range_forget(from, before);
    if (behind < end)
        range_forget(behind, end);
}

/* ---- whole allocations ---- */

/* What a run at home on this node takes: `after` tells whether the pages
 * before it are such a run, too, so that one border serves both. */
static long
areas_of_run(uint64_t page, bool after)
{
    return 1 + (!after && page > 0);
}

/* What is done with each such run, until it returns false. */
typedef bool home_run(const struct hearthi_page_place *r, bool after,
                      void *arg);

static bool
is_near(uint64_t home)
{
    return hearthi_home_is_near((int)home);
}

static bool
pieces_visit(const struct hearthi_allocation *a, home_run *f, void *arg)
{
    bool after = false;

    for (size_t i = 0; i < a->pieces; i++) {
        const struct hearthi_piece *p = &a->piece[i];
        bool                        near = is_near(p->home);

        if (near && !f(hearthi_page_place_of(a->page + p->at), after, arg))
            return false;
        after = near;
    }
    return true;
}

static bool
is_near_block(const struct hearthi_allocation *a, uint64_t block)
{
    return is_near(
        hearthi_dealt_rank(a, hearthi_dealt_to(a, (uint32_t)block)));
}

/* The runs of one block, which are several where its home had no longer run of
 * free frames. */
static bool
block_visit(const struct hearthi_allocation *a, uint64_t block, home_run *f,
            void *arg)
{
    uint64_t page = a->page + block * a->block;
    uint64_t end = hearthi_min(page + a->block, a->page + a->pages);
    bool     after = block > 0 && is_near_block(a, block - 1);

    for (uint64_t n; page < end; page += n) {
        const struct hearthi_page_place *r = hearthi_page_place_of(page);

        n = r->count;
        if (!f(r, after, arg))
            return false;
        after = true;
    }
    return true;
}

/* The blocks that this node's ranks have of each round: not one is looked at
 * that is at home elsewhere.  HEARTHI_NO_BLOCK is behind all. */
static bool
blocks_visit(const struct hearthi_allocation *a, home_run *f, void *arg)
{
    uint64_t blocks = (a->pages + a->block - 1) / a->block;

    for (uint64_t round = 0; round < blocks; round += a->ranks) {
        for (int r = 0; r < hearthi_cluster.node_size; r++) {
            int home = hearthi_world.first + hearthi_cluster.node_member[r];
            uint64_t block = round + hearthi_dealt_first(a, (uint32_t)home);

            if (block < blocks && !block_visit(a, block, f, arg))
                return false;
        }
    }
    return true;
}

static bool
homes_visit(const struct hearthi_allocation *a, home_run *f, void *arg)
{
    if (hearthi_world.home_node < 0)
        return true;
    return a->block > 0 ? blocks_visit(a, f, arg) : pieces_visit(a, f, arg);
}

static bool
run_count(const struct hearthi_page_place *r, bool after, void *left)
{
    long *n = left;

    *n -= areas_of_run(r->page, after);
    return *n >= 0;
}

static bool
run_map(const struct hearthi_page_place *r, bool after, void *areas)
{
    hearthi_home_show(r->page, r->count, r);
    *(long *)areas += areas_of_run(r->page, after);
    return true;
}

/* More home pages than there is memory will not all be touched. */
static bool
is_sparse(const struct hearthi_allocation *a)
{
    uint64_t near = 0;

    for (size_t i = 0; i < a->pieces; i++)
        near += is_near(a->piece[i].home) ? a->piece[i].count : 0;
    return near > hearthi_cluster.memory >> hearthi_heap.shift;
}

/* Has the table nothing of a range but which pages have a cached frame? */
HEARTHI_FOR_ASSERT static bool
is_new(uint64_t page, uint64_t end)
{
    const struct hearthi_table *t = &hearthi_table;

    for (; (page = hearthi_touched_next(page, end)) < end; page++)
        if (t->state[page] != HEARTHI_UNUSED || t->shown[page] != 0 ||
            (t->mark[page] & ~HEARTHI_RESIDENT) != 0)
            return false;
    return true;
}

/* Home pages are mapped now, unless that would take most of the kernel's
 * mappings, or milliseconds for what may never be touched: then each comes
 * when it is. */
void
hearthi_pages_place(struct hearthi_allocation *a)
{
    struct hearthi_table *t = &hearthi_table;
    uint64_t              end = a->page + a->pages;
    long                  left = t->areas_max / 2 - t->areas;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(!a->placed && end <= hearthi_heap.pages);
    HEARTHI_ASSERT(is_new(a->page, end));
    hearthi_page_map_placed(a);
    hearthi_freed_frames_forget(a->page, a->pages);
    if (end > t->top)
        t->top = end;
    if (is_sparse(a) && left > FEW)
        left = FEW;
    if (left < 0 || !homes_visit(a, run_count, &left))
        return;
    homes_visit(a, run_map, &a->areas);
    t->areas += a->areas;
    hearthi_page_map_mapped(a);
}

/* Cached frames stay for the next allocation, to which they are like any
 * others: they are in the ring, and replaced when their turn comes.  Their
 * memory need not stay as long. */
void
hearthi_pages_free(struct hearthi_allocation *a, uint64_t from, uint64_t gap)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(a->page >= from && a->page + a->pages <= from + gap);
    HEARTHI_ASSERT(hearthi_table.areas >= a->areas);
    hearthi_copies_hide(a->page, a->pages);
    hearthi_table.areas -= a->areas;
    a->areas = 0;
    if (a->pages < HEARTHI_CHUNK)
        around_forget(a, from, from + gap);
    else
        range_forget(from, from + gap);
    HEARTHI_ASSERT(is_new(a->page, a->page + a->pages));
    hearthi_freed_frames_add(a->page, a->pages);
}
