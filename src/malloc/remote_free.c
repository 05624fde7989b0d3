/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A freed object must not be used again, by its owner or by the rank that gets
 * it from there, before two things:
 *
 *   - What the freer wrote is at the home.  Its diff would arrive later, over
 *     what the next user has written: so the rank that frees releases those
 *     pages (hearthi_range_sync_release), then hands over.  Other ranks that
 *     wrote the object did so before it was freed, by the program's own order,
 *     and have released since.
 *
 *   - The owner's copy is newer than that.  Where the owner is not at home, it
 *     may have a copy from before the freer wrote.  If the next user stores
 *     what that copy has already, the diff is empty and the home keeps the
 *     freer's bytes.  And the next user may be any rank, with such a copy of
 *     its own.  So the owner acquires those pages when it takes the object
 *     back (hearthi_range_sync_acquire): its own copies go, and it tells of
 *     them in locks and flags as if it had written them, by which the copies
 *     of the ranks go that get the object from it.  A barrier the writers have
 *     told, since they synchronised as writers.
 *
 * What an owner frees itself it may use again at once: it has seen what others
 * wrote there, and tells of that.  But under scope consistency a lock tells of
 * its own sections only: so whatever is given out again counts as written by
 * the rank that gets it, in the section in which that is (malloc.c).
 *
 * On the node of its home no rank has a copy, and stores are seen at once; the
 * owner tells of it all the same.
 *
 * An object waits at the freer until there are some for its owner: they go
 * together into a ring that the freer has at the owner, by one message, and
 * then a word there says how many it has sent in all.  Another word says how
 * many the owner has taken; the freer looks there when the ring may be full,
 * and gathers more if it is.  When the freer comes to a barrier, or a rank is
 * in need of memory, all goes that has been gathered, and what the ring has no
 * room for as a chain (remote_free_overflow.h).  Each word is one rank's to
 * write: the owner's after it has read what was sent, the freer's after that
 * is there.  A bell word, which each message adds to, saves the owner from
 * looking at the words of all.
 */
#include "config.h"

#include "remote_free.h"

#include <stdlib.h>
#include <string.h>

#include "arena_map.h"
#include "base/min.h"
#include "base/mutex.h"
#include "base/report.h"
#include "central_freelist.h"
#include "coherence/range_sync.h"
#include "owner_cache.h"
#include "page/diffs.h"
#include "page/page.h"
#include "page/page_map.h"
#include "remote_free_overflow.h"
#include "space/segment.h"
#include "transport/remote_word.h"
#include "transport/transport.h"
#include "world.h"

enum { SOME = HEARTHI_TEST_LIMIT(64, 3) };

/* For one owner; addresses as offsets in the heap. */
struct waiting {
    uint64_t *at;
    size_t    n, room;
    size_t    due;         /* with so many the next attempt is made */
    uint64_t  sent, taken; /* in all, as far as is known here */
};

static struct {
    pthread_mutex_t  mutex; /* of what waits */
    struct waiting **for_owner;
    size_t           waiting; /* objects, for all */
} h = { .mutex = PTHREAD_MUTEX_INITIALIZER };

void
hearthi_remote_free_open(void)
{
    h.for_owner = calloc((size_t)hearthi_world.size, sizeof *h.for_owner);
    if (h.for_owner == NULL)
        hearthi_fatal("hearth_init", "no memory");
    h.waiting = 0;
    hearthi_remote_free_owner_open();
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
    hearthi_remote_free_owner_close();
    h.for_owner = NULL;
}

/* By a message, or straight into the memory of a rank of this node. */
static void
words_write(int owner, size_t to, const uint64_t *from, size_t n)
{
    if (hearthi_world.node_of[owner] == hearthi_world.node)
        memcpy(hearthi_segments.base[hearthi_world.node_rank_of[owner]] + to,
               from, n * sizeof *from);
    else if (n > 0)
        hearthi_transport->data.diff(owner, to, from, n * sizeof *from);
}

/* To the place of the next in the ring, and to its beginning.  The fence puts
 * them before the word that counts them, which hearthi_arena_map_own()
 * acquires. */
static void
batch_write(int owner, uint64_t sent, const uint64_t *at, size_t n)
{
    size_t to = hearthi_remote_free_ring_at(hearthi_world.rank);
    size_t first = sent % hearthi_arena_map.ring;
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
    if (w->sent + n - w->taken > hearthi_arena_map.ring)
        w->taken = hearthi_remote_word_get(
            owner, hearthi_remote_free_taken_at(hearthi_world.rank));
    HEARTHI_ASSERT(w->taken <= w->sent);
    return hearthi_min(n, hearthi_arena_map.ring - (w->sent - w->taken));
}

static size_t
batch_send(int owner, struct waiting *w, const uint64_t *at, size_t n)
{
    HEARTHI_ASSERT(n <= HEARTHI_REMOTE_FREE_MOST);
    HEARTHI_ASSERT(w->sent - w->taken <= hearthi_arena_map.ring);
    n = room_at(owner, w, n);
    if (n == 0)
        return 0;
    objects_release(at, n);
    batch_write(owner, w->sent, at, n);
    w->sent += n;
    hearthi_remote_word_put(owner, hearthi_remote_freed_at(hearthi_world.rank),
                            w->sent);
    hearthi_remote_word_add(owner, hearthi_remote_free_bell_at(), 1);
    return n;
}

/* As many as the ring has room for. */
static void
waiting_send(struct waiting *w, int owner)
{
    size_t sent = 0, n;

    HEARTHI_ASSERT_HAS(REMOTE_FREE_GIVE);
    HEARTHI_ASSERT(h.waiting >= w->n && owner != hearthi_world.rank);
    do {
        n = batch_send(owner, w, w->at + sent,
                       hearthi_min(w->n - sent, HEARTHI_REMOTE_FREE_MOST));
        sent += n;
    } while (n > 0 && sent < w->n);
    w->n -= sent;
    h.waiting -= sent;
    if (sent > 0)
        memmove(w->at, w->at + sent, w->n * sizeof *w->at);
    w->due = w->n + SOME;
}

static int
place_compare(const void *a, const void *b)
{
    const uint64_t *x = a, *y = b;

    return *x < *y ? -1 : *x > *y;
}

/* The others. */
static void
waiting_chain(struct waiting *w, int owner)
{
    for (size_t i = 0; i < w->n; i++)
        w->at[i] &= ~(uint64_t)HEARTHI_RESIZED;
    qsort(w->at, w->n, sizeof *w->at, place_compare);
    hearthi_overflow_send(owner, w->at, w->n);
    hearthi_remote_word_add(owner, hearthi_remote_free_bell_at(), 1);
    h.waiting -= w->n;
    w->n = 0;
    w->due = SOME;
}

static struct waiting *
waiting_for(int owner)
{
    HEARTHI_ASSERT_HAS(REMOTE_FREE_GIVE);
    HEARTHI_ASSERT(owner >= 0 && owner < hearthi_world.size);
    struct waiting *w = h.for_owner[owner];

    if (w != NULL)
        return w;
    w = calloc(1, sizeof *w);
    if (w == NULL)
        hearthi_fatal("hearth_free", "no private memory");
    w->due = SOME;
    h.for_owner[owner] = w;
    hearthi_arena_map_may_have(&hearthi_arena_map.batches);
    return w;
}

void
hearthi_remote_free_put(const char *call, void *p, int owner, size_t large)
{
    struct waiting *w;

    if (large > 0) {
        struct hearthi_heap_range r = { hearthi_arena_map_at(p), large };

        hearthi_ranges_order(&r, 1, hearthi_range_sync_release);
    }
    hearthi_mutex_lock(&h.mutex, HEARTHI_MUTEX_REMOTE_FREE_GIVE);
    w = waiting_for(owner);
    w->at = hearthi_grown(w->at, w->n, sizeof *w->at, &w->room);
    w->at[w->n++] =
        hearthi_arena_map_at(p) |
        (strcmp(call, "hearth_realloc") == 0 ? HEARTHI_RESIZED : 0);
    h.waiting++;
    if (w->n >= w->due || large > 0)
        waiting_send(w, owner);
    hearthi_mutex_unlock(&h.mutex, HEARTHI_MUTEX_REMOTE_FREE_GIVE);
}

static void
waiting_settle(struct waiting *w, int owner)
{
    if (w == NULL || w->n == 0)
        return;
    waiting_send(w, owner);
    if (w->n > 0)
        waiting_chain(w, owner);
}

void
hearthi_remote_free_settle(void)
{
    hearthi_mutex_lock(&h.mutex, HEARTHI_MUTEX_REMOTE_FREE_GIVE);
    for (int r = 0; h.waiting > 0 && r < hearthi_world.size; r++)
        waiting_settle(h.for_owner[r], r);
    HEARTHI_ASSERT(h.waiting == 0);
    hearthi_mutex_unlock(&h.mutex, HEARTHI_MUTEX_REMOTE_FREE_GIVE);
}

uint64_t
hearthi_remote_free_to_send(void)
{
    uint64_t n;

    hearthi_mutex_lock(&h.mutex, HEARTHI_MUTEX_REMOTE_FREE_GIVE);
    n = h.waiting;
    hearthi_mutex_unlock(&h.mutex, HEARTHI_MUTEX_REMOTE_FREE_GIVE);
    return n;
}
