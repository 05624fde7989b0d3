/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The pages that this rank is home of, into its file: after a barrier, when
 * all that any rank has stored is in the home frames.  A page of zeroes is not
 * written, nor is one looked at that has no memory.
 */
#include "config.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/min.h"
#include "base/mutex.h"
#include "checkpoint.h"
#include "cluster.h"
#include "malloc/arena_map.h"
#include "page/page.h"
#include "page/page_map.h"
#include "space/segment.h"
#include "world.h"

enum { PART_BYTES = 1 << 20 };

/* Pages that follow each other, with frames that do. */
struct run {
    uint64_t page, frame, count;
};

/* Runs of pages that are one part of the file. */
struct gathered {
    struct hearthi_image_writer *w;
    struct hearthi_page_run      run[HEARTHI_PART_PIECES];
    struct iovec                 piece[HEARTHI_PART_PIECES + 1];
    unsigned                     runs;
    size_t                       bytes;
};

/* ---- which they are ---- */

struct runs {
    struct run *run;
    size_t      n, room;
};

static int
run_add(struct runs *l, struct run r)
{
    size_t room = l->room == 0 ? 64 : 2 * l->room;
    void  *grown;

    if (l->n == l->room) {
        grown = realloc(l->run, room * sizeof *l->run);
        if (grown == NULL)
            return ENOMEM;
        l->run = grown;
        l->room = room;
    }
    l->run[l->n++] = r;
    return 0;
}

/* Of an arena, in which a run begins, what was ever split off: its words are
 * told of by the allocator.  Returns how many pages of the run are in it. */
static uint64_t
arena_cut(struct run *r)
{
    const uint64_t each = hearthi_arena_map.each >> hearthi_heap.shift;
    int            arena = hearthi_arena_of(hearthi_app(r->page));
    char          *base = hearthi_arena_map_base(arena);
    size_t bytes = hearthi_arena_map_split_so_far(arena) * HEARTHI_ARENA_BLOCK;
    uint64_t from = hearthi_page_of(base);
    uint64_t end = hearthi_page_of(base + bytes + hearthi_heap.page - 1);
    uint64_t here =
        hearthi_min(r->count, ((uint64_t)arena + 1) * each - r->page);

    if (bytes == 0)
        end = from;
    from = from > r->page ? from : r->page;
    end = hearthi_min(end, r->page + here);
    r->frame += from - r->page;
    r->page = from;
    r->count = end > from ? end - from : 0;
    return here;
}

static int
allocation_list(struct runs *l, const struct hearthi_allocation *a)
{
    uint64_t end = a->page + a->pages, n;
    int      failed = 0;

    for (uint64_t p = a->page; p < end && failed == 0; p += n) {
        const struct hearthi_page_place *at = hearthi_page_place_of(p);
        struct run r = { p, at->frame + (p - at->page), 0 };

        n = r.count = hearthi_min(at->page + at->count, end) - p;
        if ((int)at->home != hearthi_world.rank)
            continue;
        if (p < hearthi_heap.arena)
            n = arena_cut(&r);
        if (r.count > 0)
            failed = run_add(l, r);
    }
    return failed;
}

static int
own_list(struct runs *l)
{
    const struct hearthi_allocation *a;
    int                              failed = 0;

    hearthi_table_lock();
    for (size_t i = 0; failed == 0 && (a = hearthi_page_map_get(i)) != NULL;
         i++)
        if (a->placed)
            failed = allocation_list(l, a);
    hearthi_table_unlock();
    return failed;
}

/* ---- writing ---- */

static bool
is_zero(const char *p, size_t n)
{
    const uint64_t *word = (const uint64_t *)(const void *)p;

    return word[0] == 0 && memcmp(p, p + sizeof *word, n - sizeof *word) == 0;
}

static int
gathered_write(struct gathered *g)
{
    int pieces = 1, failed;

    if (g->runs == 0)
        return 0;
    g->piece[0] = (struct iovec){ g->run, g->runs * sizeof *g->run };
    for (unsigned i = 0; i < g->runs; i++) {
        struct iovec *last = &g->piece[pieces - 1], next = g->piece[i + 1];

        if (pieces > 1 &&
            (char *)last->iov_base + last->iov_len == next.iov_base)
            last->iov_len += next.iov_len;
        else
            g->piece[pieces++] = next;
    }
    failed =
        hearthi_image_put(g->w, HEARTHI_PART_PAGES, g->runs, g->piece, pieces);
    g->runs = 0;
    g->bytes = 0;
    hearthi_checkpoint_progress_note(g->w->at, false);
    return failed;
}

/* Pages that are not zero. */
static int
pages_gather(struct gathered *g, const struct run *r, char *at)
{
    const uint64_t most = PART_BYTES >> hearthi_heap.shift;
    int            failed = 0;

    for (uint64_t done = 0, n; done < r->count && failed == 0; done += n) {
        n = hearthi_min(r->count - done, most > 0 ? most : 1);
        g->run[g->runs] = (struct hearthi_page_run){ r->page + done, n };
        g->piece[++g->runs] =
            (struct iovec){ at + (done << hearthi_heap.shift),
                            n << hearthi_heap.shift };
        g->bytes += n << hearthi_heap.shift;
        if (g->bytes >= PART_BYTES || g->runs == HEARTHI_PART_PIECES)
            failed = gathered_write(g);
    }
    return failed;
}

/* Frames that have memory. */
static int
data_gather(struct gathered *g, uint64_t page, uint64_t frame, uint64_t end)
{
    char *at = hearthi_segments.base[hearthi_cluster.node_rank] +
               hearthi_frame_at(frame, hearthi_heap.shift);
    uint64_t n = end - frame, from = 0, to;
    int      failed = 0;

    for (; from < n && failed == 0; from = to) {
        while (from < n &&
               is_zero(at + (from << hearthi_heap.shift), hearthi_heap.page))
            from++;
        to = from;
        while (to < n &&
               !is_zero(at + (to << hearthi_heap.shift), hearthi_heap.page))
            to++;
        if (to > from)
            failed = pages_gather(
                g, &(struct run){ page + from, frame + from, to - from },
                at + (from << hearthi_heap.shift));
    }
    return failed;
}

static int
run_gather(struct gathered *g, const struct run *r)
{
    uint64_t end = r->frame + r->count, from = r->frame, until;
    int      failed = 0;

    while (failed == 0 &&
           (from = hearthi_segment_data(from, end, &until)) < end) {
        failed = data_gather(g, r->page + (from - r->frame), from, until);
        from = until;
    }
    return failed;
}

int
hearthi_save_pages(struct hearthi_image_writer *w)
{
    struct runs      l = { 0 };
    struct gathered *g = calloc(1, sizeof *g);
    int              failed = g == NULL ? ENOMEM : own_list(&l);

    if (g != NULL)
        g->w = w;
    for (size_t i = 0; i < l.n && failed == 0; i++)
        failed = run_gather(g, &l.run[i]);
    if (failed == 0)
        failed = gathered_write(g);
    free(l.run);
    free(g);
    return failed;
}
