/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "lock_names.h"

#include <stdlib.h>

#include "base/mutex.h"
#include "base/option.h"
#include "base/report.h"
#include "lock_numbers.h"
#include "space/heap.h"
#include "world.h"

size_t     hearthi_lock_names_each;
int        hearthi_syncs = HEARTHI_SYNCS;
atomic_int hearthi_syncs_top = HEARTHI_SYNCS;

static _Atomic uint64_t *names; /* of those that have some */

/* The locks of names, by open addressing: number + 1 of each, 0 for none.  One
 * that is full is copied to one twice as large, and stays for threads that are
 * looking. */
static struct map {
    struct map *before;
    size_t      slots, used;
    atomic_int  lock[];
} * _Atomic            map;
static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER; /* for who adds */

enum { SLOTS_FIRST = 64 };

static size_t
names_bytes(void)
{
    return (size_t)(hearthi_syncs - HEARTHI_SYNCS) * sizeof *names;
}

static size_t
root(size_t n)
{
    size_t r = 0;

    while ((r + 1) * (r + 1) <= n)
        r++;
    return r;
}

/* Names come to managers at random, so some have more than others, but none
 * that one would ever see by six standard deviations. */
void
hearthi_lock_names_open(void)
{
    size_t size = (size_t)hearthi_world.size;
    size_t even = (hearthi_opt.locks + size - 1) / size;

    hearthi_lock_names_each = size == 1 ? even : even + 6 * root(even) + 8;
    hearthi_syncs = HEARTHI_SYNCS + (int)(hearthi_lock_names_each * size);
    hearthi_syncs_top = HEARTHI_SYNCS;
    names = hearthi_sparse(names_bytes());
}

void
hearthi_lock_names_close(void)
{
    struct map *m = map;

    hearthi_lock_numbers_close();
    hearthi_sparse_free(names, names_bytes());
    names = NULL;
    map = NULL;
    while (m != NULL) {
        struct map *before = m->before;

        free(m);
        m = before;
    }
}

/* The acquire pairs with the release of hearthi_lock_names_note(). */
uint64_t
hearthi_lock_names_key(int sync)
{
    if (hearthi_is_named(sync))
        return atomic_load_explicit(&names[sync - HEARTHI_SYNCS],
                                    memory_order_acquire);
    return sync < HEARTH_LOCKS ? hearthi_lock_key_of_number(sync) : 0;
}

/* ---- those that this rank knows ---- */

/* The lock of a name, and where it is or would be.  What is found there is
 * read once: another thread may note another name in that place.  The acquire
 * pairs with the release of map_add(). */
static int
map_find(const struct map *m, uint64_t name, size_t *at)
{
    int lock;

    *at = (size_t)hearthi_lock_key_mix(name) & (m->slots - 1);
    while ((lock = atomic_load_explicit(&m->lock[*at],
                                        memory_order_acquire)) != 0 &&
           hearthi_lock_names_key(lock - 1) != name)
        *at = (*at + 1) & (m->slots - 1);
    return lock - 1;
}

int
hearthi_lock_names_known(uint64_t name)
{
    const struct map *m = atomic_load(&map);

    return m == NULL ? -1 : map_find(m, name, &(size_t){ 0 });
}

static void
map_add(struct map *m, int sync, uint64_t name)
{
    size_t at;

    HEARTHI_ASSERT(m->used < m->slots);
    if (map_find(m, name, &at) < 0)
        m->used++;
    atomic_store_explicit(&m->lock[at], sync + 1, memory_order_release);
}

static struct map *
map_grow(struct map *old)
{
    size_t      slots = old == NULL ? SLOTS_FIRST : 2 * old->slots;
    struct map *m = calloc(1, sizeof *m + slots * sizeof *m->lock);

    if (m == NULL)
        hearthi_fatal("hearth_lock", "no memory for the names of %zu locks",
                      slots / 2);
    m->slots = slots;
    m->before = old;
    for (size_t i = 0; old != NULL && i < old->slots; i++)
        if (old->lock[i] != 0)
            map_add(m, old->lock[i] - 1,
                    hearthi_lock_names_key(old->lock[i] - 1));
    return m;
}

/* Before another thread can find the lock it is below the top; and its name
 * before the lock, as a thread that finds the lock compares it. */
void
hearthi_lock_names_note(int sync, uint64_t name)
{
    hearthi_mutex_lock(&mutex, HEARTHI_MUTEX_NAMES);
    HEARTHI_ASSERT(sync >= HEARTHI_SYNCS && sync < hearthi_syncs);
    HEARTHI_ASSERT(names[sync - HEARTHI_SYNCS] == 0 ||
                   names[sync - HEARTHI_SYNCS] == name);
    if (hearthi_syncs_top <= sync)
        hearthi_syncs_top = sync + 1;
    atomic_store_explicit(&names[sync - HEARTHI_SYNCS], name,
                          memory_order_release);
    if (map == NULL || 2 * map->used >= map->slots)
        map = map_grow(map);
    map_add(map, sync, name);
    hearthi_mutex_unlock(&mutex, HEARTHI_MUTEX_NAMES);
}
