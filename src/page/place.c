/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "place.h"

#include <stdlib.h>
#include <string.h>

#include "base/least.h"
#include "base/report.h"
#include "page.h"
#include "world.h"

/* A piece whose home is on this node. */
struct near {
    const struct hearthi_allocation *in;
    const struct hearthi_piece      *piece;
};

/* Answers that are kept.  Pages that follow each other have places of their
 * own, so that small blocks that are dealt do not take each other's. */
enum { KEPT = 16 };

static struct hearthi_allocation **list; /* by page */
static size_t                      n_list, room;
static struct hearthi_place        kept[KEPT];
static struct hearthi_allocation  *recent; /* the last one that had a page */

/* Of each rank of this node: the pieces at home there, by frame. */
static struct home {
    struct near *near;
    size_t       n, room;
    uint64_t     top;
} * homes;

static void
kept_forget(void)
{
    memset(kept, 0, sizeof kept);
    recent = NULL;
}

void
hearthi_places_open(void)
{
    homes = calloc((size_t)hearthi_world.node_size, sizeof *homes);
    if (homes == NULL)
        hearthi_fatal("hearth_init", "no memory");
    kept_forget();
}

void
hearthi_places_close(void)
{
    for (size_t i = 0; i < n_list; i++) {
        free(list[i]->piece);
        free(list[i]);
    }
    for (int r = 0; r < hearthi_world.node_size; r++)
        free(homes[r].near);
    free(homes);
    free(list);
    list = NULL;
    n_list = room = 0;
}

/* Room for one more element of an array. */
static void *
grown(void *array, size_t n, size_t size, size_t *most)
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
hearthi_places_before(uint64_t page)
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
hearthi_places_get(size_t i)
{
    return i < n_list ? list[i] : NULL;
}

struct hearthi_allocation *
hearthi_allocation_of(uint64_t page)
{
    size_t i = hearthi_places_before(page);

    if (i == 0 || page - list[i - 1]->page >= list[i - 1]->pages ||
        !list[i - 1]->placed)
        return NULL;
    return list[i - 1];
}

struct hearthi_allocation *
hearthi_places_add(const struct hearthi_allocation *a)
{
    struct hearthi_allocation *own = malloc(sizeof *own);
    size_t                     i = hearthi_places_before(a->page);

    if (own == NULL)
        hearthi_fatal("hearth_alloc", "no memory");
    *own = *a;
    list = grown(list, n_list, sizeof *list, &room);
    memmove(list + i + 1, list + i, (n_list - i) * sizeof *list);
    list[i] = own;
    n_list++;
    return own;
}

/* ---- frames of this node ---- */

/* How many pieces of a home begin at or before a frame. */
static size_t
near_before(const struct home *h, uint64_t frame)
{
    size_t low = 0, high = h->n;

    while (low < high) {
        size_t i = (low + high) / 2;

        if (h->near[i].piece->frame <= frame)
            low = i + 1;
        else
            high = i;
    }
    return low;
}

static struct home *
home_near(const struct hearthi_piece *p)
{
    return hearthi_world.node_of[p->home] == hearthi_world.node
               ? &homes[hearthi_world.node_rank_of[p->home]]
               : NULL;
}

static void
near_add(const struct hearthi_allocation *a, const struct hearthi_piece *p)
{
    struct home *h = home_near(p);
    size_t       i;

    if (h == NULL)
        return;
    i = near_before(h, p->frame);
    h->near = grown(h->near, h->n, sizeof *h->near, &h->room);
    memmove(h->near + i + 1, h->near + i, (h->n - i) * sizeof *h->near);
    h->near[i] = (struct near){ a, p };
    h->n++;
    if (p->frame + p->count > h->top)
        h->top = p->frame + p->count;
}

static void
near_remove(const struct hearthi_piece *p)
{
    struct home *h = home_near(p);
    size_t       i;

    if (h == NULL)
        return;
    i = near_before(h, p->frame) - 1;
    h->n--;
    memmove(h->near + i, h->near + i + 1, (h->n - i) * sizeof *h->near);
}

/* The page that an allocation counts as this one of its home's. */
static uint64_t
dealt_page(const struct hearthi_allocation *a, uint32_t home, uint64_t i)
{
    uint64_t size = (uint64_t)hearthi_world.size;
    uint64_t turn = (home + size - a->first) % size;

    return a->page + (i / a->block * size + turn) * a->block + i % a->block;
}

uint64_t
hearthi_page_in(int node_rank, uint64_t frame)
{
    const struct home *h = &homes[node_rank];
    size_t             i = near_before(h, frame);
    struct near        n;
    uint64_t           at;

    if (i == 0)
        return HEARTHI_NO_PAGE;
    n = h->near[i - 1];
    at = frame - n.piece->frame;
    if (at >= n.piece->count)
        return HEARTHI_NO_PAGE;
    at += n.piece->at;
    return n.in->block > 0 ? dealt_page(n.in, n.piece->home, at)
                           : n.in->page + at;
}

uint64_t
hearthi_places_top(int node_rank)
{
    return homes[node_rank].top;
}

/* ---- placed, and removed ---- */

void
hearthi_places_placed(struct hearthi_allocation *a)
{
    for (size_t i = 0; i < a->pieces; i++)
        near_add(a, &a->piece[i]);
    a->placed = true;
    kept_forget();
}

void
hearthi_places_mapped(struct hearthi_allocation *a)
{
    a->mapped = true;
    kept_forget();
}

void
hearthi_places_remove(struct hearthi_allocation *a)
{
    size_t i = hearthi_places_before(a->page) - 1;

    for (size_t k = 0; k < a->pieces; k++)
        near_remove(&a->piece[k]);
    n_list--;
    memmove(list + i, list + i + 1, (n_list - i) * sizeof *list);
    kept_forget();
    free(a->piece);
    free(a);
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

/* The same where blocks are dealt, for a page that its home counts as this
 * one.  Most often each home has one piece. */
static const struct hearthi_piece *
piece_dealt(const struct hearthi_allocation *a, uint32_t home, uint64_t at)
{
    size_t low = 0, high = a->pieces;

    if (high == (size_t)hearthi_world.size && a->piece[home].home == home &&
        at - a->piece[home].at < a->piece[home].count)
        return &a->piece[home];
    while (high - low > 1) {
        size_t                      i = (low + high) / 2;
        const struct hearthi_piece *p = &a->piece[i];

        if (p->home == home ? p->at <= at : p->home < home)
            low = i;
        else
            high = i;
    }
    return &a->piece[low];
}

static void
run_as_placed(struct hearthi_place *r, uint64_t i)
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
run_as_dealt(struct hearthi_place *r, uint32_t i)
{
    const struct hearthi_allocation *a = r->in;
    const struct hearthi_piece      *p;
    uint32_t size = (uint32_t)hearthi_world.size, block = (uint32_t)a->block;
    uint32_t b = i / block, round = b / size, home = a->first + b % size;
    uint64_t at = (uint64_t)round * block, from, end;

    r->home = home < size ? home : home - size;
    p = piece_dealt(a, r->home, at + i % block);
    from = p->at > at ? p->at : at;
    end = hearthi_least(at + block, p->at + p->count);
    r->page = a->page + (uint64_t)b * block + (from - at);
    r->count = end - from;
    r->frame = (uint32_t)(p->frame + (from - p->at));
}

const struct hearthi_place *
hearthi_place_of(uint64_t page)
{
    struct hearthi_place *r = &kept[page % KEPT];

    if (page - r->page < r->count)
        return r;
    if (recent == NULL || page - recent->page >= recent->pages)
        recent = hearthi_allocation_of(page);
    r->in = recent;
    if (r->in == NULL) {
        *r = (struct hearthi_place){
            page, 1, (uint32_t)HEARTHI_NO_HOME, 0, HEARTHI_UNUSED, NULL
        };
        return r;
    }
    if (r->in->block > 0)
        run_as_dealt(r, (uint32_t)(page - r->in->page));
    else
        run_as_placed(r, page - r->in->page);
    r->state = HEARTHI_INVALID;
    if (hearthi_world.node_of[r->home] == hearthi_world.node)
        r->state = r->in->mapped ? HEARTHI_HOME_OPEN : HEARTHI_HOME_AWAY;
    return r;
}
