/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "central_freelist.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arena_map.h"
#include "base/mutex.h"
#include "base/report.h"
#include "freelist_state.h"
#include "owner_cache.h"
#include "tcache.h"
#include "world.h"

enum { BLOCK = HEARTHI_ARENA_BLOCK };

/* Of an arena, split off, from which on free blocks go back to it at a
 * barrier.
 */
enum {
    PART_NEAR = HEARTHI_TEST_LIMIT(8, 1 << 16),
    PART_FAR = HEARTHI_TEST_LIMIT(2, 1 << 16)
};

/* The release of freelist_make() pairs with each acquire: a free list is whole
 * before it is found. */
static struct hearthi_freelist **freelists; /* of each home; NULL: none yet */

void
hearthi_freelists_open(void)
{
    freelists = calloc((size_t)hearthi_arena_map.arenas, sizeof *freelists);
    if (freelists == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

static void
slabs_free(struct hearthi_slab *slab)
{
    while (slab != NULL) {
        struct hearthi_slab *next = slab->next;

        free(slab);
        slab = next;
    }
}

static void
freelist_close(struct hearthi_freelist *s)
{
    for (unsigned c = 0; c < HEARTHI_SIZE_CLASSES; c++)
        slabs_free(s->with[c]);
    slabs_free(s->full);
    slabs_free(s->empty);
    hearthi_extents_fini(&s->runs);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

void
hearthi_freelists_close(void)
{
    for (int r = 0; r < hearthi_arena_map.arenas; r++)
        if (freelists[r] != NULL)
            freelist_close(freelists[r]);
    free(freelists);
    freelists = NULL;
}

static struct hearthi_freelist *
freelist_make(int home)
{
    struct hearthi_freelist *s = calloc(1, sizeof *s), *none = NULL;

    if (s == NULL)
        hearthi_fatal("hearth_malloc", "no private memory");
    s->home = home;
    pthread_mutex_init(&s->mutex, NULL);
    if (__atomic_compare_exchange_n(&freelists[home], &none, s, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return s;
    free(s); /* another thread was faster */
    return none;
}

struct hearthi_freelist *
hearthi_freelist_of(int home)
{
    struct hearthi_freelist *s =
        __atomic_load_n(&freelists[home], __ATOMIC_ACQUIRE);

    return s != NULL ? s : freelist_make(home);
}

bool
hearthi_freelist_is_known(int home)
{
    return __atomic_load_n(&freelists[home], __ATOMIC_ACQUIRE) != NULL;
}

/* ---- slabs ---- */

static void
slab_link(struct hearthi_slab **list, struct hearthi_slab *s)
{
    s->before = NULL;
    s->next = *list;
    if (s->next != NULL)
        s->next->before = s;
    *list = s;
}

static void
slab_unlink(struct hearthi_slab **list, struct hearthi_slab *s)
{
    HEARTHI_ASSERT(s->before != NULL ? s->before->next == s : *list == s);
    if (s->before != NULL)
        s->before->next = s->next;
    else
        *list = s->next;
    if (s->next != NULL)
        s->next->before = s->before;
}

static void
slab_begin(struct hearthi_freelist *s, unsigned class, char *base, bool used)
{
    HEARTHI_ASSERT_HAS(FREELIST);
    HEARTHI_ASSERT(hearthi_arena_map_at(base) % BLOCK == 0);
    HEARTHI_ASSERT(hearthi_arena_of(base) == s->home);
    struct hearthi_slab *slab = hearthi_slab_new(base, BLOCK, class, s->home);

    slab->used = used;
    hearthi_owner_tag_put(base, (struct hearthi_owner_tag){
                                    .small = true,
                                    .class = class,
                                    .owner = hearthi_world.rank,
                                });
    hearthi_block_set(base, (uintptr_t)slab);
    slab_link(&s->with[class], slab);
}

void
hearthi_slab_restore(struct hearthi_freelist *s, char *base, unsigned class,
                     const uint64_t *live)
{
    struct hearthi_slab *slab;

    slab_begin(s, class, base, true);
    slab = s->with[class];
    hearthi_slab_fill(slab, live);
    s->blocks++;
    hearthi_freelist_taken(s, (slab->slots - slab->left) * slab->size);
    if (slab->left == 0) {
        slab_unlink(&s->with[class], slab);
        slab_link(&s->full, slab);
    }
}

/* A slab without objects, which may be the last of its class where there is no
 * memory else; out of its list. */
static struct hearthi_slab *
empty_take(struct hearthi_freelist *s, bool any)
{
    struct hearthi_slab **list = &s->empty, *slab = s->empty;

    HEARTHI_ASSERT_HAS(FREELIST);
    for (unsigned c = 0; any && slab == NULL && c < HEARTHI_SIZE_CLASSES;
         c++) {
        list = &s->with[c];
        for (slab = *list; slab != NULL && slab->left < slab->slots;)
            slab = slab->next;
    }
    HEARTHI_ASSERT(slab == NULL || slab->left == slab->slots);
    if (slab != NULL)
        slab_unlink(list, slab);
    return slab;
}

/* The block of such a one. */
static char *
empty_find(struct hearthi_freelist *s, bool any)
{
    struct hearthi_slab *slab = empty_take(s, any);
    char                *base = slab != NULL ? slab->base : NULL;

    free(slab);
    return base;
}

/* A slab with free slots of a class: one that has objects, one that has none,
 * a new one, or of what large objects have left. */
static bool
slab_find(struct hearthi_freelist *s, unsigned class)
{
    bool  used = true;
    char *base;

    if (s->with[class] != NULL)
        return true;
    base = empty_find(s, false);
    if (base == NULL && (base = hearthi_runs_new(s, 1)) != NULL)
        used = false;
    if (base == NULL && ((base = hearthi_runs_block(s)) == NULL) &&
        hearthi_runs_vacant(s, 1))
        base = hearthi_runs_block(s);
    if (base == NULL)
        base = empty_find(s, true);
    if (base != NULL)
        slab_begin(s, class, base, used);
    return base != NULL;
}

/* What others remember of a block is that its objects are small and this
 * rank's: they forget that before it is anything else (owner_cache.h). */
bool
hearthi_slabs_melt(struct hearthi_freelist *s)
{
    struct hearthi_slab *slab, *all = NULL;

    while ((slab = empty_take(s, true)) != NULL) {
        slab_link(&all, slab);
        hearthi_owner_tag_put(slab->base,
                              (struct hearthi_owner_tag){ .owner = -1 });
    }
    if (all == NULL)
        return false;
    hearthi_owner_cache_flush();
    for (slab = all; slab != NULL; slab = slab->next)
        hearthi_runs_give_block(s, slab->base);
    slabs_free(all);
    return true;
}

static hearthi_object
object_take(struct hearthi_freelist *s, unsigned class)
{
    struct hearthi_slab *slab = s->with[class];
    bool                 used;
    uint32_t             slot = hearthi_slab_take(slab, &used);

    HEARTHI_ASSERT_HAS(FREELIST);
    HEARTHI_ASSERT(slab->class == class && slab->home == s->home);
    if (slab->left == 0) {
        slab_unlink(&s->with[class], slab);
        slab_link(&s->full, slab);
    }
    return (uintptr_t)hearthi_slot_at(slab, slot) | used;
}

unsigned
hearthi_freelist_take(int home, unsigned class, hearthi_object *out,
                      unsigned n)
{
    struct hearthi_freelist *s = hearthi_freelist_of(home);
    unsigned                 i = 0;

    hearthi_mutex_lock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    if (slab_find(s, class))
        while (i < n && s->with[class] != NULL)
            out[i++] = object_take(s, class);
    hearthi_freelist_taken(s, i * hearthi_size_class_bytes(class));
    hearthi_mutex_unlock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    return i;
}

/* The last slab of a class stays with it. */
void
hearthi_freelist_give(void *p)
{
    struct hearthi_slab     *slab = hearthi_slab_around(p);
    struct hearthi_freelist *s = hearthi_freelist_of(slab->home);
    struct hearthi_slab    **with = &s->with[slab->class];

    HEARTHI_ASSERT(hearthi_slot_of(slab, p) != HEARTHI_NO_SLOT);
    HEARTHI_ASSERT(slab->class < HEARTHI_SIZE_CLASSES);
    hearthi_mutex_lock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    hearthi_slab_give(slab, (uint32_t)hearthi_slot_of(slab, p));
    s->taken -= slab->size;
    if (slab->left == 1) {
        slab_unlink(&s->full, slab);
        slab_link(with, slab);
    }
    if (slab->left == slab->slots && (*with)->next != NULL) {
        slab_unlink(with, slab);
        slab_link(&s->empty, slab);
        hearthi_arena_map_idle();
    }
    hearthi_mutex_unlock(&s->mutex, HEARTHI_MUTEX_FREELIST);
}

void
hearthi_freelist_give_object(void *p)
{
    if (hearthi_slab_around(p) != NULL)
        hearthi_freelist_give(p);
    else
        hearthi_freelist_give_run(p);
}

size_t
hearthi_freelist_object_bytes(const void *p)
{
    const struct hearthi_slab *s = hearthi_slab_around(p);

    return s != NULL ? s->size : hearthi_run_bytes(p);
}

/* An arena of which little was ever split off has blocks for others.  As far
 * as this rank knows without asking; and where its own copies of a block would
 * go by that, it keeps more.  Under the mutex, as all of a central free
 * list. */
static bool
is_scarce(const struct hearthi_freelist *s)
{
    bool near = hearthi_world.node_of[hearthi_arena_rank(s->home)] ==
                hearthi_world.node;
    uint64_t split = near ? hearthi_arena_map_split_so_far(s->home) : s->split;

    return split * (near ? PART_NEAR : PART_FAR) >=
           hearthi_arena_map.room / BLOCK;
}

/* `idle` is cleared before the mutexes are taken: what is freed behind a look
 * sets it again. */
void
hearthi_freelists_shed(enum hearthi_shed how)
{
    __atomic_store_n(&hearthi_arena_map.idle, false, __ATOMIC_RELAXED);
    for (int r = 0; r < hearthi_arena_map.arenas; r++) {
        struct hearthi_freelist *s =
            __atomic_load_n(&freelists[r], __ATOMIC_ACQUIRE);

        if (s == NULL)
            continue;
        hearthi_tcache_empty(); /* what this thread keeps is as good as free */
        hearthi_mutex_lock(&s->mutex, HEARTHI_MUTEX_FREELIST);
        if (how != HEARTHI_SHED_SCARCE || is_scarce(s))
            hearthi_runs_shed(s, how == HEARTHI_SHED_PURGED);
        hearthi_mutex_unlock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    }
}

/* ---- counts ---- */

static void
slabs_count(const struct hearthi_slab *s, struct hearthi_freelist_counts *c)
{
    for (; s != NULL; s = s->next)
        for (uint32_t i = 0; i < s->fresh; i++)
            if (hearthi_slot_is_live(s, (int)i)) {
                c->live++;
                c->live_bytes += s->size;
            }
}

static void
freelist_count(struct hearthi_freelist *s, struct hearthi_freelist_counts *c)
{
    hearthi_mutex_lock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    for (unsigned k = 0; k < HEARTHI_SIZE_CLASSES; k++)
        slabs_count(s->with[k], c);
    slabs_count(s->full, c);
    c->live += s->large;
    c->live_bytes += s->large_bytes;
    c->peak_bytes += s->peak;
    c->carved_bytes += s->blocks * BLOCK;
    hearthi_mutex_unlock(&s->mutex, HEARTHI_MUTEX_FREELIST);
}

void
hearthi_freelists_count(struct hearthi_freelist_counts *c)
{
    memset(c, 0, sizeof *c);
    for (int r = 0; r < hearthi_arena_map.arenas; r++) {
        struct hearthi_freelist *s =
            __atomic_load_n(&freelists[r], __ATOMIC_ACQUIRE);

        if (s != NULL)
            freelist_count(s, c);
    }
}
