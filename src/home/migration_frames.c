/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "migration_frames.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/min.h"
#include "base/report.h"
#include "page/page_map.h"
#include "space/segment.h"
#include "world.h"

unsigned hearthi_migration_frames_count;

static uint64_t *taken; /* of each rank's spare frames */
static bool      fresh; /* some allocation may be */

static void *
memory(size_t n, size_t size)
{
    void *p = calloc(n, size);

    if (p == NULL)
        hearthi_fatal("hearth_alloc", "no memory for %zu spare runs", n);
    return p;
}

void
hearthi_migration_frames_open(void)
{
    hearthi_migration_frames_count = 0;
    fresh = false;
    taken = memory((size_t)hearthi_world.size, sizeof *taken);
}

void
hearthi_migration_frames_close(void)
{
    free(taken);
}

uint64_t
hearthi_migration_frames_reserved(int rank)
{
    HEARTHI_ASSERT(taken[rank] <= hearthi_segments.migration);
    return hearthi_segments.migration - taken[rank];
}

/* ---- with an allocation ---- */

/* Its pages at home on a rank. */
static uint64_t
pages_at(const struct hearthi_allocation *a, uint32_t rank)
{
    uint64_t n = 0;

    for (size_t i = 0; i < a->pieces; i++)
        n += a->piece[i].home == rank ? a->piece[i].count : 0;
    return n;
}

/* So that a rank can have its share and an eighth, and that what has its share
 * can get a quarter of others before it gives some of its own; or all of its
 * share where its own pages are as good as any. */
static uint64_t
wish_of(const struct hearthi_allocation *a, uint32_t rank, unsigned need)
{
    uint64_t size = (uint64_t)hearthi_world.size;
    uint64_t share = (a->pages + size - 1) / size, own = pages_at(a, rank);
    uint64_t most = share + share / 8 + 1, least = share / 4 + 1;
    uint64_t wish = own + least < most ? most - own : least;

    if (need == HEARTHI_FIRST_TOUCH)
        wish = most;
    return hearthi_min(wish, hearthi_migration_frames_reserved((int)rank));
}

static void
piece_add(struct hearthi_migration_frames *s, struct hearthi_piece p)
{
    s->piece = hearthi_grown(s->piece, s->n, sizeof *s->piece, &s->room);
    s->piece[s->n++] = p;
    hearthi_extents_give(&s->free[p.home], p.frame, p.count);
}

void
hearthi_migration_frames_take(struct hearthi_allocation *a,
                              struct hearthi_extents *frames, unsigned need)
{
    uint32_t                         size = (uint32_t)hearthi_world.size;
    struct hearthi_migration_frames *s = memory(1, sizeof *s);
    uint64_t                         first;

    s->need = need;
    s->free = memory(size, sizeof *s->free);
    s->room = size;
    s->piece = memory(size, sizeof *s->piece);
    for (uint32_t r = 0; r < size; r++) {
        uint64_t left = wish_of(a, r, need), n;

        for (; left > 0 &&
               (n = hearthi_extents_take_some(&frames[r], left, &first)) > 0;
             left -= n) {
            piece_add(s, (struct hearthi_piece){ 0, n, r, (uint32_t)first });
            taken[r] += n;
        }
    }
    a->migration = s;
    a->fresh = need == HEARTHI_FIRST_TOUCH;
    fresh |= a->fresh;
    hearthi_migration_frames_count++;
}

void
hearthi_migration_frames_give(struct hearthi_allocation *a,
                              struct hearthi_extents    *frames)
{
    struct hearthi_migration_frames *s = a->migration;

    for (size_t i = 0; i < s->n; i++) {
        hearthi_extents_give(&frames[s->piece[i].home], s->piece[i].frame,
                             s->piece[i].count);
        HEARTHI_ASSERT(taken[s->piece[i].home] >= s->piece[i].count);
        taken[s->piece[i].home] -= s->piece[i].count;
    }
    for (int r = 0; r < hearthi_world.size; r++)
        hearthi_extents_fini(&s->free[r]);
    free(s->free);
    free(s->piece);
    free(s);
    a->migration = NULL;
    HEARTHI_ASSERT(hearthi_migration_frames_count > 0);
    hearthi_migration_frames_count--;
}

void
hearthi_migration_frames_settle(void)
{
    struct hearthi_allocation *a;

    for (size_t i = 0; fresh && (a = hearthi_page_map_get(i)) != NULL; i++)
        a->fresh = false;
    fresh = false;
}

/* ---- for moves ---- */

uint64_t
hearthi_migration_frames_pick(struct hearthi_allocation *a, uint32_t *rank,
                              uint64_t count, uint64_t *frame)
{
    int      node = hearthi_world.node_of[*rank];
    uint64_t n =
        hearthi_extents_take_some(&a->migration->free[*rank], count, frame);

    for (int r = 0; n == 0 && r < hearthi_world.size; r++) {
        if (hearthi_world.node_of[r] != node)
            continue;
        *rank = (uint32_t)r;
        n = hearthi_extents_take_some(&a->migration->free[r], count, frame);
    }
    return n;
}
