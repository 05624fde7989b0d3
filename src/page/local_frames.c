/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "page_map.h"

#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "base/report.h"
#include "cluster.h"
#include "page.h"
#include "space/segment.h"
#include "world.h"

/* A piece whose home is on this node. */
struct local {
    const struct hearthi_allocation *in;
    const struct hearthi_piece      *piece;
};

/* Of each rank of this node: the pieces at home there, by frame, and the page
 * that has moved to a frame, and 1. */
static struct home {
    struct local *local;
    size_t        n, room;
    uint64_t      top;
    hearthi_page *migrated;
} * homes;

static size_t
migrated_bytes(void)
{
    return hearthi_segments.frames * sizeof(hearthi_page);
}

void
hearthi_local_frames_open(void)
{
    homes = calloc((size_t)hearthi_cluster.node_size, sizeof *homes);
    if (homes == NULL)
        hearthi_fatal("hearth_init", "no memory");
    for (int r = 0; r < hearthi_cluster.node_size; r++)
        homes[r].migrated = hearthi_sparse(migrated_bytes());
}

void
hearthi_local_frames_close(void)
{
    for (int r = 0; r < hearthi_cluster.node_size; r++) {
        free(homes[r].local);
        hearthi_sparse_free(homes[r].migrated, migrated_bytes());
    }
    free(homes);
}

/* ---- pieces ---- */

/* How many pieces of a home begin at or before a frame. */
static size_t
local_before(const struct home *h, uint64_t frame)
{
    size_t low = 0, high = h->n;

    while (low < high) {
        size_t i = (low + high) / 2;

        if (h->local[i].piece->frame <= frame)
            low = i + 1;
        else
            high = i;
    }
    return low;
}

static struct home *
home_near(const struct hearthi_piece *p)
{
    return hearthi_home_is_near((int)p->home)
               ? &homes[hearthi_world.node_rank_of[p->home]]
               : NULL;
}

void
hearthi_local_frames_add(const struct hearthi_allocation *a,
                         const struct hearthi_piece      *p)
{
    struct home *h = home_near(p);
    size_t       i;

    if (h == NULL)
        return;
    i = local_before(h, p->frame);
    HEARTHI_ASSERT(i == 0 || h->local[i - 1].piece->frame +
                                     h->local[i - 1].piece->count <=
                                 p->frame);
    HEARTHI_ASSERT(i == h->n ||
                   p->frame + p->count <= h->local[i].piece->frame);
    h->local = hearthi_grown(h->local, h->n, sizeof *h->local, &h->room);
    memmove(h->local + i + 1, h->local + i, (h->n - i) * sizeof *h->local);
    h->local[i] = (struct local){ a, p };
    h->n++;
    if (p->frame + p->count > h->top)
        h->top = p->frame + p->count;
}

void
hearthi_local_frames_remove(const struct hearthi_piece *p)
{
    struct home *h = home_near(p);
    size_t       i;

    if (h == NULL)
        return;
    i = local_before(h, p->frame) - 1;
    HEARTHI_ASSERT(i < h->n && h->local[i].piece == p);
    h->n--;
    memmove(h->local + i, h->local + i + 1, (h->n - i) * sizeof *h->local);
}

void
hearthi_local_frames_migrated(const struct hearthi_allocation *a,
                              const struct hearthi_piece *p, bool is)
{
    struct home *h = home_near(p);

    if (h == NULL)
        return;
    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(p->frame + p->count <= hearthi_segments.frames);
    for (uint64_t i = 0; i < p->count; i++)
        h->migrated[p->frame + i] =
            is ? (hearthi_page)(a->page + p->at + i + 1) : 0;
    if (h->top < p->frame + p->count)
        h->top = p->frame + p->count;
}

/* ---- frames ---- */

/* The page that an allocation counts as this one of its home's. */
static uint64_t
dealt_page(const struct hearthi_allocation *a, uint32_t home, uint64_t i)
{
    uint64_t turn = hearthi_dealt_first(a, home);

    return a->page + (i / a->block * a->ranks + turn) * a->block +
           i % a->block;
}

/* As allocations were placed. */
static uint64_t
page_placed_in(const struct home *h, uint64_t frame)
{
    size_t       i = local_before(h, frame);
    struct local n;
    uint64_t     at;

    if (i == 0)
        return HEARTHI_NO_PAGE;
    n = h->local[i - 1];
    at = frame - n.piece->frame;
    if (at >= n.piece->count)
        return HEARTHI_NO_PAGE;
    at += n.piece->at;
    return n.in->block > 0 ? dealt_page(n.in, n.piece->home, at)
                           : n.in->page + at;
}

/* A page that was placed here may have moved away. */
uint64_t
hearthi_page_in(int node_rank, uint64_t frame)
{
    const struct home *h = &homes[node_rank];
    uint64_t           page;

    HEARTHI_ASSERT_HAS(TABLE);
    if (h->migrated[frame] != 0)
        return h->migrated[frame] - 1;
    page = page_placed_in(h, frame);
    if (page != HEARTHI_NO_PAGE &&
        (hearthi_home_of(page) !=
             hearthi_world.first + hearthi_cluster.node_member[node_rank] ||
         hearthi_home_frame_of(page) != frame))
        return HEARTHI_NO_PAGE;
    return page;
}

uint64_t
hearthi_page_map_top(int node_rank)
{
    return homes[node_rank].top;
}
