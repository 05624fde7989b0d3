/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A freed object must not be used again, by its owner or by who gets it from
 * there, before two things:
 *
 *   - What the freer wrote is at the home.  Its diff would arrive later, over
 *     what the next user has written: so who frees releases those pages
 *     (hearthi_order_release), then hands over.  Others who wrote the object
 *     did so before it was freed, by the program's own order, and have
 *     released since.
 *
 *   - The owner's copy is newer than that.  Where the owner is not at home, it
 *     may have a copy from before the freer wrote.  If the next user stores
 *     what that copy has already, the diff is empty and the home keeps the
 *     freer's bytes.  And the next user may be any rank, with such a copy of
 *     its own.  So the owner acquires those pages when it takes the object
 *     back (hearthi_order_acquire): its own copies go, and it tells of them in
 *     locks and flags as if it had written them, by which the copies of those
 *     go who get the object from it.  A barrier the writers have told, since
 *     they synchronised as writers.
 *
 * Release consistency needs no more: who frees an object of its own has seen
 * what others wrote there, and tells of it.  Under scope consistency a lock
 * tells of its own sections only.  So an owner's own frees take the same way
 * where it is not at home, and whatever is given out again counts as written
 * then and there (malloc.c).
 *
 * On a node of its home nobody has a copy, and stores are seen at once; the
 * owner tells of it all the same.
 *
 * An object waits at the freer until there are some for its owner: they go
 * together, by one message into the freer's mailbox at the owner, and an
 * atomic step on a word that says how many.  If that is not 0 yet the owner
 * has not taken the last ones: then more are gathered.  Only the freer makes
 * the word more than 0, and only the owner makes it 0 again, after it has read
 * the mail.  A bell, which each mail adds to, saves the owner from looking at
 * the words of all.
 */
#include "config.h"

#include "hand.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "coherence/order.h"
#include "ground.h"
#include "page/diffs.h"
#include "page/near.h"
#include "page/page.h"
#include "space/segment.h"
#include "stock.h"
#include "transport/transport.h"
#include "transport/words.h"
#include "world.h"

enum { SOME = 64 };

/* For one owner; addresses as offsets in the heap. */
struct waiting {
    uint64_t *at;
    size_t    n, room;
    size_t    due; /* with so many the next attempt is made */
};

static struct {
    pthread_mutex_t  mutex; /* of what waits */
    struct waiting **for_owner;
    pthread_mutex_t  taking; /* one thread at a time */
    uint64_t         bell;   /* as it was */
} h = { .mutex = PTHREAD_MUTEX_INITIALIZER,
        .taking = PTHREAD_MUTEX_INITIALIZER };

void
hearthi_hand_open(void)
{
    h.for_owner = calloc((size_t)hearthi_world.size, sizeof *h.for_owner);
    if (h.for_owner == NULL)
        hearthi_fatal("hearth_init", "no memory");
    h.bell = 0;
}

void
hearthi_hand_close(void)
{
    for (int r = 0; r < hearthi_world.size; r++) {
        if (h.for_owner[r] != NULL)
            free(h.for_owner[r]->at);
        free(h.for_owner[r]);
    }
    free(h.for_owner);
    h.for_owner = NULL;
}

/* ---- pages ---- */

/* The pages of n ranges, sorted by where they begin, are released or acquired
 * in as few runs as there are. */
struct range {
    uint64_t at, bytes; /* in the heap */
};

static int
range_compare(const void *a, const void *b)
{
    const struct range *x = a, *y = b;

    return x->at < y->at ? -1 : x->at > y->at;
}

static void
ranges_order(struct range *range, size_t n,
             void (*order)(uint64_t page, uint64_t count))
{
    unsigned shift = hearthi_heap.shift;

    qsort(range, n, sizeof *range, range_compare);
    for (size_t i = 0; i < n;) {
        uint64_t first = range[i].at >> shift;
        uint64_t end = first;

        for (; i < n && range[i].at >> shift <= end; i++) {
            uint64_t last = (range[i].at + range[i].bytes - 1) >> shift;

            end = last + 1 > end ? last + 1 : end;
        }
        order(first, end - first);
    }
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
        hearthi_stock_give(p);
    else
        hearthi_stock_give_run(p);
}

/* Nobody has these, and what was written there is at home. */
static void
objects_give(const uint64_t *at, size_t n)
{
    struct range range[HEARTHI_MAIL];

    for (size_t i = 0; i < n; i++)
        range[i] =
            (struct range){ at[i], object_bytes(hearthi_heap.base + at[i]) };
    ranges_order(range, n, hearthi_order_acquire);
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
    return hearthi_segments.base[hearthi_world.node_rank] + at;
}

static uint64_t
own_word(size_t at)
{
    return __atomic_load_n((const uint64_t *)(const void *)own(at),
                           __ATOMIC_ACQUIRE);
}

/* The mail of a rank, which may send more from then on. */
static size_t
mail_take(int rank, uint64_t *at)
{
    size_t n = own_word(hearthi_mailed_at(rank));

    if (n == 0)
        return 0;
    memcpy(at, own(hearthi_mail_at(rank)), n * sizeof *at);
    hearthi_word_put(hearthi_world.rank, hearthi_mailed_at(rank), 0);
    objects_return(at, n, rank);
    return n;
}

static bool
mails_take(bool give)
{
    uint64_t at[HEARTHI_MAIL], bell;
    bool     any = false;

    if (hearthi_ground.room == 0)
        return false;
    bell = own_word(hearthi_bell_at());
    if (bell == h.bell)
        return false;
    h.bell = bell;
    for (int r = 0; r < hearthi_world.size; r++) {
        size_t n = mail_take(r, at);

        if (n > 0 && give)
            objects_give(at, n);
        any |= n > 0;
    }
    return any;
}

bool
hearthi_hand_take(void)
{
    bool any;

    pthread_mutex_lock(&h.taking);
    any = mails_take(true);
    pthread_mutex_unlock(&h.taking);
    return any;
}

void
hearthi_hand_check(void)
{
    mails_take(false);
}

/* ---- handing over ---- */

/* By a message, or straight into the memory of a rank of this node. */
static void
mail_write(int owner, const uint64_t *at, size_t n)
{
    size_t to = hearthi_mail_at(hearthi_world.rank), bytes = n * sizeof *at;

    if (hearthi_world.node_of[owner] == hearthi_world.node) {
        memcpy(hearthi_segments.base[hearthi_world.node_rank_of[owner]] + to,
               at, bytes);
        __atomic_thread_fence(__ATOMIC_SEQ_CST);
        return;
    }
    hearthi_table_lock();
    hearthi_transport->diff(owner, to, at, bytes);
    hearthi_diff_end();
    hearthi_table_unlock();
}

/* Large objects were released when they were freed. */
static void
objects_release(const uint64_t *at, size_t n)
{
    struct range range[HEARTHI_MAIL];
    size_t       small = 0;

    for (size_t i = 0; i < n; i++)
        if (hearthi_block_get(hearthi_heap.base + at[i]) != 0)
            range[small++] =
                (struct range){ at[i] & ~(uint64_t)(HEARTHI_ARENA_BLOCK - 1),
                                HEARTHI_ARENA_BLOCK };
    ranges_order(range, small, hearthi_order_release);
}

static bool
mail_send(int owner, const uint64_t *at, size_t n)
{
    size_t word = hearthi_mailed_at(hearthi_world.rank);

    if (hearthi_word_get(owner, word) != 0)
        return false;
    objects_release(at, n);
    mail_write(owner, at, n);
    hearthi_word_put(owner, word, n);
    hearthi_word_add(owner, hearthi_bell_at(), 1);
    return true;
}

/* As many as a mail holds; its own a rank gets at once. */
static void
waiting_send(struct waiting *w, int owner)
{
    size_t n = w->n < HEARTHI_MAIL ? w->n : HEARTHI_MAIL;

    if (owner == hearthi_world.rank) {
        objects_give(w->at, n);
    } else if (!mail_send(owner, w->at, n)) {
        w->due = w->n + SOME;
        return;
    }
    w->n -= n;
    memmove(w->at, w->at + n, w->n * sizeof *w->at);
    w->due = SOME;
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
hearthi_hand_over(void *p, int owner, size_t large)
{
    struct waiting *w;

    if (large > 0) {
        struct range r = { hearthi_ground_at(p), large };

        ranges_order(&r, 1, hearthi_order_release);
    }
    pthread_mutex_lock(&h.mutex);
    w = waiting_for(owner);
    w->at = hearthi_grown(w->at, w->n, sizeof *w->at, &w->room);
    w->at[w->n++] = hearthi_ground_at(p);
    if (w->n >= w->due || large > 0)
        waiting_send(w, owner);
    pthread_mutex_unlock(&h.mutex);
}

void
hearthi_hand_settle(void)
{
    pthread_mutex_lock(&h.mutex);
    for (int r = 0; r < hearthi_world.size; r++)
        if (h.for_owner[r] != NULL && h.for_owner[r]->n > 0)
            waiting_send(h.for_owner[r], r);
    pthread_mutex_unlock(&h.mutex);
}
