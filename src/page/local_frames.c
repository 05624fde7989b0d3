/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "local_frames.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "cluster.h"
#include "page.h"
#include "space/segment.h"
#include "world.h"

/* A piece whose home is on this node. */
struct near {
    const struct hearthi_allocation *in;
    const struct hearthi_piece      *piece;
};

/* Of each rank of this node: the pieces at home there, by frame, and the page
 * that has moved to a frame, and 1. */
static struct home {
    struct near  *near;
    size_t        n, room;
    uint64_t      top;
    hearthi_page *moved;
} * homes;

static size_t
moved_bytes(void)
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
        homes[r].moved = hearthi_sparse(moved_bytes());
}

void
hearthi_local_frames_close(void)
{
    for (int r = 0; r < hearthi_cluster.node_size; r++) {
        free(homes[r].near);
        hearthi_sparse_free(homes[r].moved, moved_bytes());
    }
    free(homes);
}

/* ---- pieces ---- */

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

void
hearthi_local_frames_add(const struct hearthi_allocation *a,
                         const struct hearthi_piece      *p)
{
    struct home *h = home_near(p);
    size_t       i;

    if (h == NULL)
        return;
    i = near_before(h, p->frame);
    h->near = hearthi_grown(h->near, h->n, sizeof *h->near, &h->room);
    memmove(h->near + i + 1, h->near + i, (h->n - i) * sizeof *h->near);
    h->near[i] = (struct near){ a, p };
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
    i = near_before(h, p->frame) - 1;
    h->n--;
    memmove(h->near + i, h->near + i + 1, (h->n - i) * sizeof *h->near);
}

void
hearthi_local_frames_migrated(const struct hearthi_allocation *a,
                              const struct hearthi_piece *p, bool is)
{
    struct home *h = home_near(p);

    if (h == NULL)
        return;
    for (uint64_t i = 0; i < p->count; i++)
        h->moved[p->frame + i] =
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
    size_t      i = near_before(h, frame);
    struct near n;
    uint64_t    at;

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

/* A page that was placed here may have moved away. */
uint64_t
hearthi_page_in(int node_rank, uint64_t frame)
{
    const struct home *h = &homes[node_rank];
    uint64_t           page;

    if (h->moved[frame] != 0)
        return h->moved[frame] - 1;
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
