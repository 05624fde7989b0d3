/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What others hand over, at its owner: the argument is in remote_free.c.
 */
#include "config.h"

#include <stdlib.h>

#include "arena_map.h"
#include "base/min.h"
#include "base/mutex.h"
#include "base/report.h"
#include "central_freelist.h"
#include "coherence/range_sync.h"
#include "guard.h"
#include "owner_cache.h"
#include "remote_free.h"
#include "remote_free_overflow.h"
#include "transport/remote_word.h"
#include "world.h"

static struct {
    pthread_mutex_t taking; /* one thread at a time */
    uint64_t        bell;   /* as it was */
    uint64_t        at[HEARTHI_OVERFLOW_MOST];
    uint64_t       *taken; /* from each rank */
} h = { .taking = PTHREAD_MUTEX_INITIALIZER };

void
hearthi_remote_free_owner_open(void)
{
    h.taken = calloc((size_t)hearthi_world.size, sizeof *h.taken);
    if (h.taken == NULL)
        hearthi_fatal("hearth_init", "no memory");
    h.bell = 0;
}

void
hearthi_remote_free_owner_close(void)
{
    free(h.taken);
    h.taken = NULL;
}

/* No rank has these, and what was written there is at home; at most a
 * message. */
static void
some_give(const uint64_t *at, size_t n, bool listed)
{
    struct hearthi_heap_range range[HEARTHI_REMOTE_FREE_MOST];

    HEARTHI_ASSERT(n > 0 && n <= HEARTHI_REMOTE_FREE_MOST);
    for (size_t i = 0; i < n; i++)
        range[i] = (struct hearthi_heap_range){
            at[i], hearthi_freelist_object_bytes(hearthi_heap.base + at[i])
        };
    hearthi_ranges_order(range, n, hearthi_range_sync_acquire);
    for (size_t i = 0; i < n; i++)
        if (hearthi_guard_on)
            hearthi_guard_keep(hearthi_heap.base + at[i], listed);
        else
            hearthi_freelist_give_object(hearthi_heap.base + at[i]);
}

static void
objects_give(const uint64_t *at, size_t n, bool listed)
{
    for (size_t i = 0, some; i < n; i += some) {
        some = hearthi_min(n - i, HEARTHI_REMOTE_FREE_MOST);
        some_give(at + i, some, listed);
    }
}

/* The program of another rank has freed it: does it have it? */
static bool
object_return(const char *p)
{
    struct hearthi_slab *s = hearthi_slab_around(p);
    int                  slot;

    if (s == NULL)
        return hearthi_block_get(p) == HEARTHI_BLOCK_LARGE &&
               hearthi_run_return(p);
    slot = hearthi_slot_of(s, p);
    return slot != HEARTHI_NO_SLOT && hearthi_slot_return(s, slot);
}

static void
objects_return(uint64_t *at, size_t n, int rank)
{
    for (size_t i = 0; i < n; i++) {
        bool  resized = at[i] & HEARTHI_RESIZED;
        char *p = hearthi_heap.base + (at[i] -= resized);
        char  text[128];

        if (!object_return(p))
            hearthi_fatal(
                resized ? "hearth_realloc" : "hearth_free",
                "%p, which rank %d has %s, is not what "
                "hearth_malloc returned, or was freed before%s: free "
                "each object once",
                (void *)p, rank, resized ? "resized" : "freed",
                hearthi_guard_where(p, text, sizeof text));
    }
}

/* ---- taking ---- */

/* Some of what a rank has sent, which may send more from then on. */
static size_t
batch_take(int rank, uint64_t *at)
{
    uint64_t *taken = &h.taken[rank];
    size_t    n = hearthi_min(
           hearthi_arena_map_own(hearthi_remote_freed_at(rank)) - *taken,
           HEARTHI_REMOTE_FREE_MOST);
    const size_t ring = hearthi_remote_free_ring_at(rank);

    HEARTHI_ASSERT(hearthi_arena_map_own(hearthi_remote_freed_at(rank)) -
                       *taken <=
                   hearthi_arena_map.ring);
    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        at[i] = hearthi_arena_map_own(
            ring + (*taken + i) % hearthi_arena_map.ring * sizeof *at);
    /* The slots were loaded before the other rank is told that it may store to
     * them again: the step may be an MPI's, which orders nothing for us. */
    __atomic_thread_fence(__ATOMIC_RELEASE);
    hearthi_owner_cache_used_by(rank);
    *taken += n;
    hearthi_remote_word_put(hearthi_world.rank,
                            hearthi_remote_free_taken_at(rank), *taken);
    objects_return(at, n, rank);
    return n;
}

static bool
chain_take(int rank, bool give)
{
    uint64_t next = hearthi_overflow_take(rank);
    bool     any = next != 0;
    size_t   n;

    if (any)
        hearthi_owner_cache_used_by(rank);
    while ((n = hearthi_overflow_read(&next, h.at, rank)) > 0) {
        HEARTHI_ASSERT(n <= HEARTHI_OVERFLOW_MOST);
        objects_return(h.at, n, rank);
        if (give)
            objects_give(h.at, n, true);
    }
    return any;
}

static bool
batches_take(bool give)
{
    uint64_t at[HEARTHI_REMOTE_FREE_MOST], bell;
    bool     any = false;
    size_t   n;

    HEARTHI_ASSERT_HAS(REMOTE_FREE_TAKE);
    if (!__atomic_load_n(&hearthi_arena_map.split, __ATOMIC_RELAXED))
        return false; /* and no page of the arena is touched */
    bell = hearthi_arena_map_own(hearthi_remote_free_bell_at());
    if (bell == h.bell)
        return false;
    h.bell = bell;
    for (int r = 0; r < hearthi_world.size; r++) {
        while ((n = batch_take(r, at)) > 0) {
            if (give)
                objects_give(at, n, false);
            any = true;
        }
        any |= chain_take(r, give);
    }
    return any;
}

/* The background thread may come to take, too, until it ends. */
static bool
alone_take(bool give)
{
    bool any;

    hearthi_mutex_lock(&h.taking, HEARTHI_MUTEX_REMOTE_FREE_TAKE);
    any = batches_take(give);
    hearthi_mutex_unlock(&h.taking, HEARTHI_MUTEX_REMOTE_FREE_TAKE);
    return any;
}

bool
hearthi_remote_free_take(void)
{
    return alone_take(true);
}

void
hearthi_remote_free_check(void)
{
    alone_take(false);
}

uint64_t
hearthi_remote_free_to_take(void)
{
    uint64_t n = 0;

    hearthi_mutex_lock(&h.taking, HEARTHI_MUTEX_REMOTE_FREE_TAKE);
    for (int r = 0; r < hearthi_world.size; r++)
        n += hearthi_arena_map_own(hearthi_remote_freed_at(r)) - h.taken[r];
    hearthi_mutex_unlock(&h.taking, HEARTHI_MUTEX_REMOTE_FREE_TAKE);
    return n;
}
