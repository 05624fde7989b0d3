/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "home_layout.h"

#include <stdlib.h>
#include <string.h>

#include "base/min.h"
#include "base/report.h"
#include "migration_frames.h"
#include "space/heap.h"
#include "world.h"

static void *
memory(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (p == NULL)
        hearthi_fatal("hearth_alloc", "no memory for %zu pieces", n);
    return p;
}

/* ---- ranks ---- */

/* The allocation is for the ranks of these clusters. */
static void
ranks_choose(struct hearthi_allocation *a, uint64_t clusters)
{
    uint32_t size = (uint32_t)hearthi_world.size, n = 0;
    int      cluster = 0;

    a->ranks = size;
    if (clusters == HEARTH_ALL_CLUSTERS)
        return;
    a->rank = memory(size, sizeof *a->rank);
    for (uint32_t r = 0; r < size; r++) {
        if ((int)r == hearthi_world.first_of[cluster + 1])
            cluster++;
        if (clusters >> cluster & 1)
            a->rank[n++] = r;
    }
    a->ranks = n;
}

/* ---- stretches ---- */

/* The first page of the i-th rank's part.  Block: the bytes are cut into equal
 * parts, and a page belongs to the rank in whose part its middle byte lies;
 * but a few bytes, less than a page, are the first rank's. */
static uint64_t
block_first(const struct hearthi_allocation *a, uint64_t i)
{
    uint64_t half = hearthi_heap.page / 2;
    uint64_t at = (uint64_t)(((unsigned __int128)a->bytes * i + a->ranks - 1) /
                             a->ranks);

    if (i == a->ranks)
        return a->pages;
    if (a->bytes < hearthi_heap.page)
        return i == 0 ? 0 : a->pages;
    if (at <= half)
        return 0;
    return hearthi_min(a->pages, (at - half + hearthi_heap.page - 1) >>
                                     hearthi_heap.shift);
}

/* Of each of its ranks that has any. */
static size_t
blocks_fill(const struct hearthi_allocation *a, struct hearthi_stretch *to)
{
    size_t   n = 0;
    uint64_t from = 0;

    for (uint32_t i = 0; i < a->ranks; i++) {
        uint64_t end = block_first(a, i + 1);

        if (end > from)
            to[n++] = (struct hearthi_stretch){ end - from,
                                                hearthi_dealt_rank(a, i) };
        from = end;
    }
    return n;
}

/* ---- frames ---- */

/* Of each home: how many frames are wanted still, and the run of frames that
 * was taken last. */
struct taking {
    struct hearthi_extents *frames;
    uint64_t               *want;
    struct hearthi_extent  *got;
};

static int
homes_without(const struct taking *t, uint64_t *want)
{
    for (int r = 0; r < hearthi_world.size; r++) {
        *want = t->want[r];
        if (t->want[r] + hearthi_migration_frames_reserved(r) >
            t->frames[r].left)
            return r;
    }
    return -1;
}

/* Up to so many frames of a home that follow each other. */
static struct hearthi_extent
frames_take(struct taking *t, uint32_t home, uint64_t count)
{
    struct hearthi_extent *got = &t->got[home], out;

    if (got->count == 0) {
        got->count = hearthi_extents_take_some(&t->frames[home], t->want[home],
                                               &got->first);
        t->want[home] -= got->count;
    }
    out =
        (struct hearthi_extent){ got->first, hearthi_min(count, got->count) };
    got->first += out.count;
    got->count -= out.count;
    return out;
}

static void
piece_add(struct hearthi_allocation *a, struct hearthi_piece p, size_t *room)
{
    struct hearthi_piece *last = &a->piece[a->pieces - 1];

    if (a->pieces > 0 && last->home == p.home &&
        last->at + last->count == p.at &&
        last->frame + last->count == p.frame) {
        last->count += p.count;
        return;
    }
    if (a->pieces == *room) {
        *room *= 2;
        a->piece = realloc(a->piece, *room * sizeof *a->piece);
        if (a->piece == NULL)
            hearthi_fatal("hearth_alloc", "no memory for %zu pieces", *room);
    }
    a->piece[a->pieces++] = p;
}

/* Pages from `at` on, as the allocation counts them; several pieces where free
 * frames do not follow each other. */
static void
pieces_add(struct hearthi_allocation *a, struct taking *t, uint64_t at,
           struct hearthi_stretch s, size_t *room)
{
    while (s.pages > 0) {
        struct hearthi_extent e = frames_take(t, s.home, s.pages);

        piece_add(
            a,
            (struct hearthi_piece){ at, e.count, s.home, (uint32_t)e.first },
            room);
        at += e.count;
        s.pages -= e.count;
    }
}

/* ---- each kind ---- */

static int
stretches_take(struct hearthi_allocation *a, const struct hearthi_stretch *s,
               size_t n, struct taking *t, uint64_t *want)
{
    size_t   room = n;
    uint64_t at = 0;
    int      rank;

    for (size_t i = 0; i < n; i++)
        t->want[s[i].home] += s[i].pages;
    rank = homes_without(t, want);
    if (rank >= 0)
        return rank;
    a->piece = memory(room, sizeof *a->piece);
    for (size_t i = 0; i < n; i++) {
        pieces_add(a, t, at, s[i], &room);
        at += s[i].pages;
    }
    return -1;
}

/* How many pages a rank gets where blocks are dealt. */
static uint64_t
dealt_count(const struct hearthi_allocation *a, uint32_t rank)
{
    uint64_t round = a->block * a->ranks, rest = a->pages % round;
    uint64_t before = hearthi_dealt_first(a, rank) * a->block;

    return a->pages / round * a->block +
           (rest > before ? hearthi_min(rest - before, a->block) : 0);
}

static int
dealt_take(struct hearthi_allocation *a, struct taking *t, uint64_t *want)
{
    size_t room = a->ranks;
    int    rank;

    for (uint32_t i = 0; i < a->ranks; i++) {
        uint32_t r = hearthi_dealt_rank(a, i);

        t->want[r] = dealt_count(a, r);
    }
    rank = homes_without(t, want);
    if (rank >= 0)
        return rank;
    a->piece = memory(room, sizeof *a->piece);
    for (uint32_t i = 0; i < a->ranks; i++) {
        uint32_t r = hearthi_dealt_rank(a, i);

        pieces_add(a, t, 0, (struct hearthi_stretch){ dealt_count(a, r), r },
                   &room);
    }
    return -1;
}

static int
layout_take(struct hearthi_allocation *a, const struct hearthi_placing *to,
            struct taking *t, uint64_t *want)
{
    const hearth_layout    *l = &to->layout;
    struct hearthi_stretch  one = { a->pages, (uint32_t)l->rank };
    struct hearthi_stretch *parts;
    int                     rank;

    ranks_choose(a, l->clusters);
    if (l->kind == HEARTH_CYCLIC && a->ranks > 1 && l->pages < a->pages) {
        a->block = l->pages;
        a->first = to->first;
        return dealt_take(a, t, want);
    }
    if (l->kind == HEARTH_ON || l->kind == HEARTH_CYCLIC) {
        if (l->kind == HEARTH_CYCLIC) /* one block, or one rank */
            one.home = hearthi_dealt_rank(a, to->first);
        return stretches_take(a, &one, 1, t, want);
    }
    parts = memory(a->ranks, sizeof *parts);
    rank = stretches_take(a, parts, blocks_fill(a, parts), t, want);
    free(parts);
    return rank;
}

int
hearthi_home_layout_take(struct hearthi_allocation    *a,
                         const struct hearthi_placing *to,
                         struct hearthi_extents *frames, uint64_t *want)
{
    struct taking t = { .frames = frames };
    size_t        size = (size_t)hearthi_world.size;
    int           rank;

    t.want = memory(size, sizeof *t.want);
    t.got = memory(size, sizeof *t.got);
    if (to->stretch != NULL)
        rank = stretches_take(a, to->stretch, to->n, &t, want);
    else
        rank = layout_take(a, to, &t, want);
    free(t.want);
    free(t.got);
    return rank;
}
