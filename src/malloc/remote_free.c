/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A freed object must not be used again, by its owner or by who gets it from
 * there, before two things:
 *
 *   - What the freer wrote is at the home.  Its diff would arrive later, over
 *     what the next user has written: so who frees releases those pages
 *     (hearthi_range_sync_release), then hands over.  Others who wrote the
 * object did so before it was freed, by the program's own order, and have
 *     released since.
 *
 *   - The owner's copy is newer than that.  Where the owner is not at home, it
 *     may have a copy from before the freer wrote.  If the next user stores
 *     what that copy has already, the diff is empty and the home keeps the
 *     freer's bytes.  And the next user may be any rank, with such a copy of
 *     its own.  So the owner acquires those pages when it takes the object
 *     back (hearthi_range_sync_acquire): its own copies go, and it tells of
 * them in locks and flags as if it had written them, by which the copies of
 * those go who get the object from it.  A barrier the writers have told, since
 *     they synchronised as writers.
 *
 * What an owner frees itself it may use again at once: it has seen what others
 * wrote there, and tells of that.  But under scope consistency a lock tells of
 * its own sections only: so whatever is given out again counts as written by
 * who gets it, in the section in which that is (malloc.c).
 *
 * On a node of its home nobody has a copy, and stores are seen at once; the
 * owner tells of it all the same.
 *
 * An object waits at the freer until there are some for its owner: they go
 * together into a ring that the freer has at the owner, by one message, and
 * then a word there says how many it has mailed in all.  Another word says how
 * many the owner has taken; the freer looks there when the ring may be full,
 * and gathers more if it is.  Each word is one rank's to write: the owner's
 * after it has read what was mailed, the freer's after that is there.  A bell,
 * which each mail adds to, saves the owner from looking at the words of all.
 */
#include "config.h"

#include "remote_free.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arena_map.h"
#include "base/min.h"
#include "base/report.h"
#include "central_freelist.h"
#include "cluster.h"
#include "coherence/range_sync.h"
#include "page/diffs.h"
#include "page/local_frames.h"
#include "page/page.h"
#include "ranges.h"
#include "space/segment.h"
#include "transport/remote_word.h"
#include "transport/transport.h"
#include "world.h"

enum { SOME = HEARTHI_TEST_LIMIT(64, 3) };

/* For one owner; addresses as offsets in the heap. */
struct waiting {
    uint64_t *at;
    size_t    n, room;
    size_t    due;           /* with so many the next attempt is made */
    uint64_t  mailed, taken; /* in all, as far as is known here */
};

static struct {
    pthread_mutex_t  mutex; /* of what waits */
    struct waiting **for_owner;
    pthread_mutex_t  taking; /* one thread at a time */
    uint64_t         bell;   /* as it was */
    uint64_t        *taken;  /* from each rank */
} h = { .mutex = PTHREAD_MUTEX_INITIALIZER,
        .taking = PTHREAD_MUTEX_INITIALIZER };

void
hearthi_remote_free_open(void)
{
    h.for_owner = calloc((size_t)hearthi_world.size, sizeof *h.for_owner);
    h.taken = calloc((size_t)hearthi_world.size, sizeof *h.taken);
    if (h.for_owner == NULL || h.taken == NULL)
        hearthi_fatal("hearth_init", "no memory");
    h.bell = 0;
}

void
hearthi_remote_free_close(void)
{
    for (int r = 0; r < hearthi_world.size; r++) {
        if (h.for_owner[r] != NULL)
            free(h.for_owner[r]->at);
        free(h.for_owner[r]);
    }
    free(h.for_owner);
    free(h.taken);
    h.for_owner = NULL;
}

/* ---- back at the owner ---- */

/* So many bytes belong to an object of this rank's that nobody has. */
static size_t
object_bytes(const void *p)
{
    const struct hearthi_slab *s = hearthi_slab_around(p);

    return s != NULL ? s->size : hearthi_run_bytes(p);
}

static void
object_give(void *p)
{
    if (hearthi_slab_around(p) != NULL)
        hearthi_freelist_give(p);
    else
        hearthi_freelist_give_run(p);
}

/* Nobody has these, and what was written there is at home. */
static void
objects_give(const uint64_t *at, size_t n)
{
    struct hearthi_heap_range range[HEARTHI_REMOTE_FREE_MOST];

    for (size_t i = 0; i < n; i++)
        range[i] = (struct hearthi_heap_range){
            at[i], object_bytes(hearthi_heap.base + at[i])
        };
    hearthi_ranges_order(range, n, hearthi_range_sync_acquire);
    for (size_t i = 0; i < n; i++)
        object_give(hearthi_heap.base + at[i]);
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
objects_return(const uint64_t *at, size_t n, int rank)
{
    for (size_t i = 0; i < n; i++) {
        char *p = hearthi_heap.base + at[i];

        if (!object_return(p))
            hearthi_fatal("hearth_free",
                          "%p, which rank %d has freed, is not what "
                          "hearth_malloc returned, or was freed before: free "
                          "each object once",
                          (void *)p, rank);
    }
}

/* ---- taking ---- */

static const char *
own(size_t at)
{
    return hearthi_segments.base[hearthi_cluster.node_rank] + at;
}

static uint64_t
own_word(size_t at)
{
    return __atomic_load_n((const uint64_t *)(const void *)own(at),
                           __ATOMIC_ACQUIRE);
}

/* Some of the mail of a rank, which may send more from then on. */
static size_t
mail_take(int rank, uint64_t *at)
{
    uint64_t *taken = &h.taken[rank];
    size_t    n = hearthi_min(own_word(hearthi_remote_freed_at(rank)) - *taken,
                              HEARTHI_REMOTE_FREE_MOST);
    const uint64_t *ring =
        (const uint64_t *)(const void *)own(hearthi_remote_free_ring_at(rank));

    if (n == 0)
        return 0;
    for (size_t i = 0; i < n; i++)
        at[i] = ring[(*taken + i) % hearthi_arena_map.ring];
    *taken += n;
    hearthi_remote_word_put(hearthi_world.rank,
                            hearthi_remote_free_taken_at(rank), *taken);
    objects_return(at, n, rank);
    return n;
}

static bool
mails_take(bool give)
{
    uint64_t at[HEARTHI_REMOTE_FREE_MOST], bell;
    bool     any = false;
    size_t   n;

    if (!__atomic_load_n(&hearthi_arena_map.carved, __ATOMIC_RELAXED))
        return false; /* and no page of the arena is touched */
    bell = own_word(hearthi_remote_free_bell_at());
    if (bell == h.bell)
        return false;
    h.bell = bell;
    for (int r = 0; r < hearthi_world.size; r++)
        while ((n = mail_take(r, at)) > 0) {
            if (give)
                objects_give(at, n);
            any = true;
        }
    return any;
}

bool
hearthi_remote_free_take(void)
{
    bool any;

    pthread_mutex_lock(&h.taking);
    any = mails_take(true);
    pthread_mutex_unlock(&h.taking);
    return any;
}

void
hearthi_remote_free_check(void)
{
    mails_take(false);
}

/* ---- handing over ---- */

/* By a message, or straight into the memory of a rank of this node. */
static void
words_write(int owner, size_t to, const uint64_t *from, size_t n)
{
    if (hearthi_world.node_of[owner] == hearthi_world.node)
        memcpy(hearthi_segments.base[hearthi_world.node_rank_of[owner]] + to,
               from, n * sizeof *from);
    else if (n > 0)
        hearthi_transport->diff(owner, to, from, n * sizeof *from);
}

/* To the place of the next in the ring, and to its beginning. */
static void
mail_write(int owner, uint64_t mailed, const uint64_t *at, size_t n)
{
    size_t to = hearthi_remote_free_ring_at(hearthi_world.rank);
    size_t first = mailed % hearthi_arena_map.ring;
    size_t here = hearthi_min(n, hearthi_arena_map.ring - first);

    hearthi_table_lock();
    words_write(owner, to + first * sizeof *at, at, here);
    words_write(owner, to, at + here, n - here);
    hearthi_diff_end();
    hearthi_table_unlock();
    __atomic_thread_fence(__ATOMIC_SEQ_CST);
}

/* Large objects were released when they were freed. */
static void
objects_release(const uint64_t *at, size_t n)
{
    struct hearthi_heap_range range[HEARTHI_REMOTE_FREE_MOST];
    size_t                    small = 0;

    for (size_t i = 0; i < n; i++)
        if (hearthi_block_get(hearthi_heap.base + at[i]) != 0)
            range[small++] = (struct hearthi_heap_range){
                at[i] & ~(uint64_t)(HEARTHI_ARENA_BLOCK - 1),
                HEARTHI_ARENA_BLOCK
            };
    hearthi_ranges_order(range, small, hearthi_range_sync_release);
}

/* How many more there is room for, of so many. */
static size_t
room_at(int owner, struct waiting *w, size_t n)
{
    if (w->mailed + n - w->taken > hearthi_arena_map.ring)
        w->taken = hearthi_remote_word_get(
            owner, hearthi_remote_free_taken_at(hearthi_world.rank));
    return hearthi_min(n, hearthi_arena_map.ring - (w->mailed - w->taken));
}

static size_t
mail_send(int owner, struct waiting *w, const uint64_t *at, size_t n)
{
    n = room_at(owner, w, n);
    if (n == 0)
        return 0;
    objects_release(at, n);
    mail_write(owner, w->mailed, at, n);
    w->mailed += n;
    hearthi_remote_word_put(owner, hearthi_remote_freed_at(hearthi_world.rank),
                            w->mailed);
    hearthi_remote_word_add(owner, hearthi_remote_free_bell_at(), 1);
    return n;
}

/* As many as the ring has room for. */
static void
waiting_send(struct waiting *w, int owner)
{
    size_t sent = 0, n;

    do {
        n = mail_send(owner, w, w->at + sent,
                      hearthi_min(w->n - sent, HEARTHI_REMOTE_FREE_MOST));
        sent += n;
    } while (n > 0 && sent < w->n);
    w->n -= sent;
    if (sent > 0)
        memmove(w->at, w->at + sent, w->n * sizeof *w->at);
    w->due = w->n + SOME;
}

static struct waiting *
waiting_for(int owner)
{
    struct waiting *w = h.for_owner[owner];

    if (w != NULL)
        return w;
    w = calloc(1, sizeof *w);
    if (w == NULL)
        hearthi_fatal("hearth_free", "no private memory");
    w->due = SOME;
    h.for_owner[owner] = w;
    return w;
}

void
hearthi_remote_free_put(void *p, int owner, size_t large)
{
    struct waiting *w;

    if (large > 0) {
        struct hearthi_heap_range r = { hearthi_arena_map_at(p), large };

        hearthi_ranges_order(&r, 1, hearthi_range_sync_release);
    }
    pthread_mutex_lock(&h.mutex);
    w = waiting_for(owner);
    w->at = hearthi_grown(w->at, w->n, sizeof *w->at, &w->room);
    w->at[w->n++] = hearthi_arena_map_at(p);
    if (w->n >= w->due || large > 0)
        waiting_send(w, owner);
    pthread_mutex_unlock(&h.mutex);
}

void
hearthi_remote_free_settle(void)
{
    pthread_mutex_lock(&h.mutex);
    for (int r = 0; r < hearthi_world.size; r++)
        if (h.for_owner[r] != NULL && h.for_owner[r]->n > 0)
            waiting_send(h.for_owner[r], r);
    pthread_mutex_unlock(&h.mutex);
}

bool
hearthi_remote_free_waits(void)
{
    bool any = false;

    pthread_mutex_lock(&h.mutex);
    for (int r = 0; r < hearthi_world.size; r++)
        any |= h.for_owner[r] != NULL && h.for_owner[r]->n > 0;
    pthread_mutex_unlock(&h.mutex);
    return any;
}
