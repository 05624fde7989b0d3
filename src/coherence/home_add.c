/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Adds without results.
 *
 * Each is noted here, by its word, and adds to one word are added up: a sum is
 * the same in whatever order and grouping its parts come.  (One of doubles is
 * rounded in another order.)  When there is no more room, and before this rank
 * synchronises, all go to their homes, many in a message.
 *
 * ATOMIC.  What goes home is one add to each word, and that is one step, as
 * atomic as any other (transport/atomic_op.h).  Between the call and that step
 * no rank sees the add, and it is as if the call had been made later: the
 * caller has no result by which it could tell.
 *
 * IN ORDER.  There are three ways in which it could tell, and each brings the
 * adds first:
 *   - Another step of its own on that word (hearthi_home_adds_before()).
 *   - What it tells other ranks, by a lock, a flag, a barrier and so on: each
 *     release brings the adds of all threads of the rank before it ends the
 *     interval, since a thread may have heard of another's add in a way that
 *     Hearth does not see.
 *   - What others tell it.  A rank that waits for another may wait for what
 *     that one does when it has seen the add: so what may wait brings them,
 *     too, though it is no release.
 * A thread that finds the adds under way waits until they have arrived: the
 * mutex is held meanwhile.
 *
 * PAGES.  As with a step that is waited for (home_atomic.c): the page does not
 * move meanwhile, its copies here go afterwards, and it counts as written.  It
 * is looked up when the add goes home and not before, since it may have moved
 * in between.  An object is not freed before the adds to it have arrived
 * (api/api_malloc.c; hearth_free() of an allocation has a barrier).
 */
#include "config.h"

#include "home_add.h"

#include <pthread.h>
#include <stdlib.h>

#include "base/assert.h"
#include "base/cancel.h"
#include "base/mutex.h"
#include "base/report.h"
#include "base/test_limits.h"
#include "page/copies.h"
#include "page/diffs.h"
#include "page/evict.h"
#include "page/home_write_guard.h"
#include "page/migration_freeze.h"
#include "page/node_cache.h"
#include "page/page.h"
#include "page/pin.h"
#include "races/race_history.h"
#include "space/heap.h"
#include "transport/transport.h"
#include "world.h"

/* Words, and places of a table in which they are looked for: a power of two,
 * of which half is free at least. */
enum {
    WORDS = HEARTHI_TEST_LIMIT(4096, 8),
    PLACE_BITS = HEARTHI_TEST_LIMIT(13, 4),
    PLACES = 1 << PLACE_BITS
};

_Static_assert(PLACES >= 2 * WORDS, "a word is found soon");

/* A word's offset in the heap is a multiple of 4: what is below is its kind,
 * and one, so that no key is 0. */
struct add {
    uint64_t key, value;
    uint32_t place;
};

static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
static struct add      add[WORDS];
static uint16_t        at[PLACES]; /* the index of an add, and one */
static unsigned        words;      /* adds that there are */

_Atomic uint32_t hearthi_home_adds_left;

/* On their way, in the order of their homes. */
static struct hearthi_add              out[WORDS];
static struct hearthi_home_write_guard guard[WORDS];
static int                             home[WORDS];
static struct hearthi_add_run         *run; /* of each rank */

void
hearthi_home_adds_open(void)
{
    words = 0;
    hearthi_home_adds_left = 0;
    run = calloc((size_t)hearthi_world.size, sizeof *run);
    if (run == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

void
hearthi_home_adds_close(void)
{
    HEARTHI_ASSERT(words == 0);
    free(run);
}

/* ---- a word ---- */

static uint64_t
offset_of(const struct add *a)
{
    return a->key & ~UINT64_C(3);
}

static enum hearthi_add_kind
kind_of(const struct add *a)
{
    return (enum hearthi_add_kind)((a->key & 3) - 1);
}

static uint64_t
page_of(const struct add *a)
{
    return offset_of(a) >> hearthi_heap.shift;
}

static uint64_t
key_of(const void *word, enum hearthi_add_kind kind)
{
    return (uint64_t)((const char *)word - (char *)hearthi_app(0)) +
           (uint64_t)kind + 1;
}

/* Where a key is, or would be. */
static uint32_t
place_of(uint64_t key)
{
    uint32_t p =
        (uint32_t)(key * UINT64_C(0x9e3779b97f4a7c15) >> (64 - PLACE_BITS));

    while (at[p] != 0 && add[at[p] - 1].key != key)
        p = (p + 1) % PLACES;
    return p;
}

/* Relaxed: home_add.h says why. */
static void
left_set(unsigned n)
{
    words = n;
    atomic_store_explicit(&hearthi_home_adds_left, n, memory_order_relaxed);
}

/* ---- home ---- */

/* From now on their pages do not move. */
static void
guards_begin(void)
{
    for (unsigned i = 0; i < words; i++) {
        while (hearthi_frozen_wait(page_of(&add[i]), 1))
            ;
        hearthi_home_write_guard_begin(
            &guard[i], offset_of(&add[i]),
            hearthi_add_kind_bytes(kind_of(&add[i])));
    }
}

/* Which go to which home: gives how many homes there are.  `run` has how many
 * of each rank first, then where they are. */
static size_t
homes_sort(void)
{
    size_t n = 0, begin = 0;

    for (int r = 0; r < hearthi_world.size; r++)
        run[r] = (struct hearthi_add_run){ .home = r };
    for (unsigned i = 0; i < words; i++) {
        home[i] = hearthi_home_of(page_of(&add[i]));
        HEARTHI_ASSERT(home[i] >= 0 && home[i] < hearthi_world.size);
        run[home[i]].n++;
    }
    for (int r = 0; r < hearthi_world.size; r++) {
        run[r].add = out + begin;
        begin += run[r].n;
        run[r].n = 0;
    }
    for (unsigned i = 0; i < words; i++) {
        struct hearthi_add_run *r = &run[home[i]];
        uint64_t                offset = offset_of(&add[i]);

        out[(r->add - out) + (ptrdiff_t)r->n++] =
            hearthi_add_of(kind_of(&add[i]),
                           hearthi_home_at(page_of(&add[i])) +
                               (offset & (hearthi_heap.page - 1)),
                           add[i].value);
    }
    for (int r = 0; r < hearthi_world.size; r++)
        if (run[r].n > 0)
            run[n++] = run[r];
    return n;
}

/* Some go in messages that homes do, the transport says which.  Gives how many
 * homes are left. */
static size_t
homes_post(size_t n)
{
    size_t left = 0;

    if (hearthi_transport->data.post == NULL)
        return n;
    for (size_t i = 0; i < n; i++)
        if (!hearthi_transport->data.post(&run[i]))
            run[left++] = run[i];
    if (left < n)
        hearthi_transport->data.flush();
    return left;
}

/* They are there: own copies go, and the pages count as written. */
static void
pages_end(void)
{
    uint64_t dropped = 0;

    hearthi_node_cache_acquired();
    for (unsigned i = 0; i < words; i++)
        if (!hearthi_is_home(hearthi_state_of(page_of(&add[i])))) {
            hearthi_copies_reserve(0); /* a hole in a run splits its mapping */
            dropped += hearthi_copies_drop_begin(page_of(&add[i]), 1);
        }
    if (dropped > 0)
        hearthi_diff_end();
    hearthi_pins_renew();
    for (unsigned i = words; i-- > 0;) {
        HEARTHI_ASSERT(!hearthi_is_frozen(page_of(&add[i])));
        hearthi_home_write_guard_end(&guard[i]);
        hearthi_list_changed(page_of(&add[i]));
        if (hearthi_races != NULL)
            hearthi_races_stepped(guard[i].offset, (unsigned)guard[i].bytes);
    }
}

/* With the mutex. */
static void
all_bring(void)
{
    HEARTHI_UNCANCELLED;
    size_t n;

    if (words == 0)
        return;
    hearthi_table_lock();
    guards_begin();
    n = homes_post(homes_sort());
    hearthi_table_unlock();
    if (n > 0)
        hearthi_transport->data.adds(run, n);
    hearthi_table_lock();
    pages_end();
    hearthi_table_unlock();
    for (unsigned i = 0; i < words; i++)
        at[add[i].place] = 0;
    left_set(0);
}

/* ---- calls ---- */

void
hearthi_home_adds_bring(void)
{
    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_ADDS);
    all_bring();
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_ADDS);
}

void
hearthi_home_adds_look(const void *word)
{
    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_ADDS);
    for (int kind = HEARTHI_ADD_WIDE; kind <= HEARTHI_ADD_REAL; kind++)
        if (at[place_of(key_of(word, (enum hearthi_add_kind)kind))] != 0)
            all_bring();
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_ADDS);
}

void
hearthi_home_add(void *word, enum hearthi_add_kind kind, uint64_t value)
{
    uint64_t key = key_of(word, kind);
    uint32_t p;

    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_ADDS);
    p = place_of(key);
    if (at[p] == 0 && words == WORDS) {
        all_bring();
        p = place_of(key);
    }
    if (at[p] != 0) {
        struct add *a = &add[at[p] - 1];

        a->value = hearthi_add_sum(kind, a->value, value);
    } else {
        add[words] = (struct add){ key, value, p };
        at[p] = (uint16_t)(words + 1);
        left_set(words + 1);
    }
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_ADDS);
}
