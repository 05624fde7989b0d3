/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "page_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/min.h"
#include "base/mutex.h"
#include "base/report.h"
#include "page.h"
#include "space/segment.h"
#include "world.h"

/* Answers that are kept.  Pages that follow each other have places of their
 * own, so that small blocks that are dealt do not take each other's. */
enum { KEPT = 16 };

static struct hearthi_allocation **list; /* by page */
static size_t                      n_list, room;
static struct hearthi_page_place   kept[KEPT];
static struct hearthi_allocation  *recent; /* the last one that had a page */

static void
kept_forget(void)
{
    memset(kept, 0, sizeof kept);
    recent = NULL;
}

void
hearthi_page_map_open(void)
{
    hearthi_local_frames_open();
    kept_forget();
}

static void
allocation_free(struct hearthi_allocation *a)
{
    free(a->piece);
    free(a->rank);
    hearthi_migrated_free(&a->migrated);
    free(a);
}

void
hearthi_page_map_close(void)
{
    for (size_t i = 0; i < n_list; i++)
        allocation_free(list[i]);
    hearthi_local_frames_close();
    free(list);
    list = NULL;
    n_list = room = 0;
}

void *
hearthi_grown(void *array, size_t n, size_t size, size_t *most)
{
    if (n < *most)
        return array;
    *most = *most == 0 ? 64 : 2 * *most;
    array = realloc(array, *most * size);
    if (array == NULL)
        hearthi_fatal("hearth_alloc", "no memory for %zu allocations", *most);
    return array;
}

/* ---- allocations ---- */

size_t
hearthi_page_map_before(uint64_t page)
{
    size_t low = 0, high = n_list;

    while (low < high) {
        size_t i = (low + high) / 2;

        if (list[i]->page <= page)
            low = i + 1;
        else
            high = i;
    }
    return low;
}

struct hearthi_allocation *
hearthi_page_map_get(size_t i)
{
    return i < n_list ? list[i] : NULL;
}

struct hearthi_allocation *
hearthi_allocation_of(uint64_t page)
{
    size_t i = hearthi_page_map_before(page);

    if (i == 0 || page - list[i - 1]->page >= list[i - 1]->pages ||
        !list[i - 1]->placed)
        return NULL;
    return list[i - 1];
}

struct hearthi_allocation *
hearthi_page_map_add(const struct hearthi_allocation *a)
{
    struct hearthi_allocation *own = malloc(sizeof *own);
    size_t                     i = hearthi_page_map_before(a->page);

    if (own == NULL)
        hearthi_fatal("hearth_alloc", "no memory");
    HEARTHI_ASSERT(a->pages > 0 && a->page + a->pages <= hearthi_heap.pages);
    HEARTHI_ASSERT(i == 0 ||
                   list[i - 1]->page + list[i - 1]->pages <= a->page);
    HEARTHI_ASSERT(i == n_list || a->page + a->pages <= list[i]->page);
    *own = *a;
    list = hearthi_grown(list, n_list, sizeof *list, &room);
    memmove(list + i + 1, list + i, (n_list - i) * sizeof *list);
    list[i] = own;
    n_list++;
    return own;
}

/* ---- placed, moved and removed ---- */

void
hearthi_page_map_placed(struct hearthi_allocation *a)
{
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(!a->placed && a->pieces > 0);
    for (size_t i = 0; i < a->pieces; i++)
        hearthi_local_frames_add(a, &a->piece[i]);
    a->placed = true;
    kept_forget();
}

void
hearthi_page_map_mapped(struct hearthi_allocation *a)
{
    a->mapped = true;
    kept_forget();
}

void
hearthi_page_map_move(uint64_t page, uint64_t count, uint32_t home,
                      uint32_t frame)
{
    struct hearthi_allocation *a = hearthi_allocation_of(page);
    struct hearthi_piece       to = { page - a->page, count, home, frame };

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(page + count <= a->page + a->pages);
    HEARTHI_ASSERT(home < (uint32_t)hearthi_world.size);
    for (uint64_t p = page, n; p < page + count; p += n) {
        struct hearthi_page_place r = *hearthi_page_place_of(p);

        n = hearthi_min(page + count, r.page + r.count) - p;
        hearthi_local_frames_migrated(
            a,
            &(struct hearthi_piece){ p - a->page, n, r.home,
                                     (uint32_t)(r.frame + p - r.page) },
            false);
    }
    hearthi_migrated_add(&a->migrated, to);
    hearthi_local_frames_migrated(a, &to, true);
    kept_forget();
}

void
hearthi_page_map_remove(struct hearthi_allocation *a)
{
    size_t i = hearthi_page_map_before(a->page) - 1;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(i < n_list && list[i] == a);
    for (size_t k = 0; k < a->pieces; k++)
        hearthi_local_frames_remove(&a->piece[k]);
    for (size_t k = 0; k < a->migrated.n; k++)
        hearthi_local_frames_migrated(a, &a->migrated.piece[k], false);
    n_list--;
    memmove(list + i, list + i + 1, (n_list - i) * sizeof *list);
    kept_forget();
    allocation_free(a);
}

/* ---- where a page lives ---- */

/* The last piece that begins at or before a page of the allocation.  There is
 * one. */
static const struct hearthi_piece *
piece_placed(const struct hearthi_allocation *a, uint64_t at)
{
    size_t low = 0, high = a->pieces;

    while (high - low > 1) {
        size_t i = (low + high) / 2;

        if (a->piece[i].at <= at)
            low = i;
        else
            high = i;
    }
    return &a->piece[low];
}

/* Which of the ranks to which blocks are dealt a rank is; their number if
 * none. */
static uint32_t
index_of(const struct hearthi_allocation *a, uint32_t rank)
{
    uint32_t low = 0, high = a->ranks;

    if (a->rank == NULL)
        return rank;
    while (low < high) {
        uint32_t i = (low + high) / 2;

        if (a->rank[i] < rank)
            low = i + 1;
        else
            high = i;
    }
    return low < a->ranks && a->rank[low] == rank ? low : a->ranks;
}

uint32_t
hearthi_dealt_first(const struct hearthi_allocation *a, uint32_t rank)
{
    uint32_t i = index_of(a, rank);

    if (i == a->ranks)
        return HEARTHI_NO_BLOCK;
    return i < a->first ? i + a->ranks - a->first : i - a->first;
}

/* The last such piece where blocks are dealt, for a page that the i-th of the
 * ranks counts as this one.  Most often each has one piece. */
static const struct hearthi_piece *
piece_dealt(const struct hearthi_allocation *a, uint32_t i, uint64_t at)
{
    size_t   low = 0, high = a->pieces;
    uint32_t home = hearthi_dealt_rank(a, i);

    if (high == a->ranks && a->piece[i].home == home &&
        at - a->piece[i].at < a->piece[i].count)
        return &a->piece[i];
    while (high - low > 1) {
        size_t                      middle = (low + high) / 2;
        const struct hearthi_piece *p = &a->piece[middle];

        if (p->home == home ? p->at <= at : p->home < home)
            low = middle;
        else
            high = middle;
    }
    return &a->piece[low];
}

static void
run_as_placed(struct hearthi_page_place *r, uint64_t i)
{
    const struct hearthi_piece *p = piece_placed(r->in, i);

    r->page = r->in->page + p->at;
    r->count = p->count;
    r->home = p->home;
    r->frame = p->frame;
}

/* A block, or as much of it as lies in one piece.  Numbers of pages and ranks
 * have 32 bits, in which divisions cost half. */
static void
run_as_dealt(struct hearthi_page_place *r, uint32_t i)
{
    const struct hearthi_allocation *a = r->in;
    const struct hearthi_piece      *p;
    uint32_t                         block = (uint32_t)a->block, b = i / block;
    uint64_t at = (uint64_t)(b / a->ranks) * block, from, end;

    p = piece_dealt(a, hearthi_dealt_to(a, b), at + i % block);
    r->home = p->home;
    from = p->at > at ? p->at : at;
    end = hearthi_min(at + block, p->at + p->count);
    r->page = a->page + (uint64_t)b * block + (from - at);
    r->count = end - from;
    r->frame = (uint32_t)(p->frame + (from - p->at));
}

/* True if the page has moved, and r is where; else r is cut where pages have.
 */
static bool
run_migrated(struct hearthi_page_place *r, uint64_t page)
{
    uint64_t base = r->in->page, from = r->page - base;
    uint64_t end = from + r->count;

    const struct hearthi_piece *p =
        hearthi_migrated_at(&r->in->migrated, page - base, &from, &end);

    if (p != NULL) {
        r->page = base + p->at;
        r->count = p->count;
        r->home = p->home;
        r->frame = p->frame;
        return true;
    }
    r->frame += (uint32_t)(base + from - r->page);
    r->page = base + from;
    r->count = end - from;
    return false;
}

const struct hearthi_page_place *
hearthi_page_place_of(uint64_t page)
{
    struct hearthi_page_place *r = &kept[page % KEPT];
    bool                       mapped;

    HEARTHI_ASSERT_HAS(TABLE);
    if (page - r->page < r->count)
        return r;
    if (recent == NULL || page - recent->page >= recent->pages)
        recent = hearthi_allocation_of(page);
    r->in = recent;
    if (r->in == NULL) {
        *r = (struct hearthi_page_place){
            page, 1, (uint32_t)HEARTHI_NO_HOME, 0, HEARTHI_UNUSED, NULL
        };
        return r;
    }
    if (r->in->block > 0)
        run_as_dealt(r, (uint32_t)(page - r->in->page));
    else
        run_as_placed(r, page - r->in->page);
    HEARTHI_ASSERT(page - r->page < r->count);
    mapped = r->in->mapped;
    if (r->in->migrated.n > 0 && run_migrated(r, page))
        mapped = false;
    HEARTHI_ASSERT(page - r->page < r->count);
    HEARTHI_ASSERT(r->home < (uint32_t)hearthi_world.size);
    HEARTHI_ASSERT(r->frame + r->count <= hearthi_segments.frames);
    r->state = HEARTHI_INVALID;
    if (hearthi_home_is_near((int)r->home))
        r->state = mapped ? HEARTHI_HOME_OPEN : HEARTHI_HOME_AWAY;
    return r;
}
