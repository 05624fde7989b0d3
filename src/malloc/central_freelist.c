/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "central_freelist.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "arena_map.h"
#include "base/report.h"
#include "page/local_frames.h"
#include "size_class.h"
#include "space/extent.h"
#include "space/segment.h"
#include "transport/transport.h"
#include "world.h"

/* Blocks that are carved at a time for large objects, if there are so many. */
enum { BLOCK = HEARTHI_ARENA_BLOCK, LARGE_BLOCKS = 4 };

/* So much memory goes back to the system when it is freed. */
enum { WORTH = 1 << 20 };

/* Of one home.  Runs are numbered as the grains of all arenas are. */
struct stock {
    pthread_mutex_t        mutex;
    int                    home;
    struct hearthi_slab   *with[HEARTHI_SIZE_CLASSES]; /* free slots */
    struct hearthi_slab   *empty; /* without objects, for any class */
    struct hearthi_extents runs;
    char                 **block; /* that have or had slabs */
    size_t                 n, room;
};

static struct stock **stocks; /* of each home; NULL: none yet */

void
hearthi_freelists_open(void)
{
    stocks = calloc((size_t)hearthi_world.size, sizeof *stocks);
    if (stocks == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

static void
stock_close(struct stock *s)
{
    for (size_t i = 0; i < s->n; i++)
        free(hearthi_slab_around(s->block[i]));
    free(s->block);
    hearthi_extents_fini(&s->runs);
    pthread_mutex_destroy(&s->mutex);
    free(s);
}

void
hearthi_freelists_close(void)
{
    for (int r = 0; r < hearthi_world.size; r++)
        if (stocks[r] != NULL)
            stock_close(stocks[r]);
    free(stocks);
    stocks = NULL;
}

static struct stock *
stock_make(int home)
{
    struct stock *s = calloc(1, sizeof *s), *none = NULL;

    if (s == NULL)
        hearthi_fatal("hearth_malloc", "no private memory");
    s->home = home;
    pthread_mutex_init(&s->mutex, NULL);
    if (__atomic_compare_exchange_n(&stocks[home], &none, s, false,
                                    __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return s;
    free(s); /* another thread was faster */
    return none;
}

static struct stock *
stock_of(int home)
{
    struct stock *s = __atomic_load_n(&stocks[home], __ATOMIC_ACQUIRE);

    return s != NULL ? s : stock_make(home);
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
    if (s->before != NULL)
        s->before->next = s->next;
    else
        *list = s->next;
    if (s->next != NULL)
        s->next->before = s->before;
}

static char *
grain_at(uint64_t grain)
{
    return hearthi_heap.base + grain * hearthi_arena_map.grain;
}

/* A whole block of free grains: somewhere in a run of nearly two. */
static bool
block_take(struct hearthi_extents *runs, uint64_t *first)
{
    const uint64_t each = BLOCK / hearthi_arena_map.grain, most = 2 * each - 1;
    uint64_t       from;

    if (hearthi_extents_take(runs, most, &from) != 0)
        return false;
    *first = (from + each - 1) / each * each;
    if (*first > from)
        hearthi_extents_give(runs, from, *first - from);
    if (from + most > *first + each)
        hearthi_extents_give(runs, *first + each, from + most - *first - each);
    return true;
}

static void
block_set(const void *p, uint64_t is)
{
    __atomic_store_n(hearthi_block_of(p), is, __ATOMIC_RELEASE);
}

static void
slab_begin(struct stock *s, unsigned class, char *base, bool used)
{
    struct hearthi_slab *slab = hearthi_slab_new(base, BLOCK, class, s->home);

    slab->used = used;
    hearthi_owner_tag_put(base, (struct hearthi_owner_tag){
                                    .small = true,
                                    .class = class,
                                    .owner = hearthi_world.rank,
                                });
    block_set(base, (uintptr_t)slab);
    slab_link(&s->with[class], slab);
}

/* A block for a slab that was none yet; where there is no new one, of what
 * large objects have left. */
static char *
block_find(struct stock *s, bool *used)
{
    char    *base = hearthi_arena_map_split(s->home, 1);
    uint64_t first;

    *used = base == NULL;
    if (base == NULL && block_take(&s->runs, &first))
        base = grain_at(first);
    if (base == NULL)
        return NULL;
    s->block = hearthi_grown(s->block, s->n, sizeof *s->block, &s->room);
    s->block[s->n++] = base;
    return base;
}

/* One without objects, which may be the last of another class where there is
 * no memory else: its block. */
static char *
empty_find(struct stock *s, bool any)
{
    struct hearthi_slab **list = &s->empty, *slab = s->empty;
    char                 *base;

    for (unsigned c = 0; any && slab == NULL && c < HEARTHI_SIZE_CLASSES;
         c++) {
        list = &s->with[c];
        for (slab = *list; slab != NULL && slab->left < slab->slots;)
            slab = slab->next;
    }
    if (slab == NULL)
        return NULL;
    slab_unlink(list, slab);
    base = slab->base;
    free(slab);
    return base;
}

/* A slab with free slots of a class: one that has objects, one that has none,
 * or a new one. */
static bool
slab_find(struct stock *s, unsigned class)
{
    bool  used = true;
    char *base;

    if (s->with[class] != NULL)
        return true;
    base = empty_find(s, false);
    if (base == NULL)
        base = block_find(s, &used);
    if (base == NULL) {
        used = true;
        base = empty_find(s, true);
    }
    if (base != NULL)
        slab_begin(s, class, base, used);
    return base != NULL;
}

static hearthi_object
object_take(struct stock *s, unsigned class)
{
    struct hearthi_slab *slab = s->with[class];
    bool                 used;
    uint32_t             slot = hearthi_slab_take(slab, &used);

    if (slab->left == 0)
        slab_unlink(&s->with[class], slab);
    return (uintptr_t)hearthi_slot_at(slab, slot) | used;
}

unsigned
hearthi_freelist_take(int home, unsigned class, hearthi_object *out,
                      unsigned n)
{
    struct stock *s = stock_of(home);
    unsigned      i = 0;

    pthread_mutex_lock(&s->mutex);
    if (slab_find(s, class))
        while (i < n && s->with[class] != NULL)
            out[i++] = object_take(s, class);
    pthread_mutex_unlock(&s->mutex);
    return i;
}

/* The last slab of a class stays with it. */
void
hearthi_freelist_give(void *p)
{
    struct hearthi_slab  *slab = hearthi_slab_around(p);
    struct stock         *s = stock_of(slab->home);
    struct hearthi_slab **with = &s->with[slab->class];

    pthread_mutex_lock(&s->mutex);
    hearthi_slab_give(slab, (uint32_t)hearthi_slot_of(slab, p));
    if (slab->left == 1)
        slab_link(with, slab);
    if (slab->left == slab->slots && (*with)->next != NULL) {
        slab_unlink(with, slab);
        slab_link(&s->empty, slab);
    }
    pthread_mutex_unlock(&s->mutex);
}

/* ---- large objects ---- */

static bool
runs_carve(struct stock *s, size_t blocks)
{
    char *base = hearthi_arena_map_split(s->home, blocks);

    if (base == NULL)
        return false;
    for (size_t i = 0; i < blocks; i++)
        block_set(base + i * BLOCK, HEARTHI_BLOCK_LARGE);
    hearthi_extents_give(&s->runs,
                         hearthi_arena_map_at(base) / hearthi_arena_map.grain,
                         blocks * (BLOCK / hearthi_arena_map.grain));
    return true;
}

static bool
run_find(struct stock *s, size_t grains, uint64_t *first)
{
    size_t blocks = (grains * hearthi_arena_map.grain + BLOCK - 1) / BLOCK;

    return hearthi_extents_take(&s->runs, grains, first) == 0 ||
           (((blocks < LARGE_BLOCKS && runs_carve(s, LARGE_BLOCKS)) ||
             runs_carve(s, blocks)) &&
            hearthi_extents_take(&s->runs, grains, first) == 0);
}

/* True if any of them was used before; they have been now. */
static bool
run_use(uint64_t first, size_t grains)
{
    uint32_t *run = &hearthi_arena_map.run[first], used = 0;

    for (size_t i = 0; i < grains; i++) {
        used |= run[i];
        run[i] = HEARTHI_RUN_USED;
    }
    __atomic_store_n(&run[0], HEARTHI_RUN_USED | (uint32_t)grains,
                     __ATOMIC_RELEASE);
    return used != 0;
}

hearthi_object
hearthi_freelist_take_run(int home, size_t bytes)
{
    struct stock  *s = stock_of(home);
    size_t         grains = hearthi_quanta(bytes);
    uint64_t       first;
    hearthi_object o = 0;

    pthread_mutex_lock(&s->mutex);
    if (run_find(s, grains, &first))
        o = (uintptr_t)grain_at(first) | run_use(first, grains);
    pthread_mutex_unlock(&s->mutex);
    if (o != 0)
        hearthi_owner_tag_put(
            hearthi_object_at(o),
            (struct hearthi_owner_tag){ .owner = hearthi_world.rank,
                                        .grains = grains });
    return o;
}

bool
hearthi_run_return(const void *p)
{
    uint32_t *run = hearthi_run_of(p);
    uint32_t  is = __atomic_load_n(run, __ATOMIC_ACQUIRE);

    if (hearthi_arena_map_at(p) % hearthi_arena_map.grain != 0)
        return false;
    do
        if ((is & HEARTHI_RUN_BACK) || (is & HEARTHI_RUN_COUNT) == 0)
            return false;
    while (!__atomic_compare_exchange_n(run, &is, is | HEARTHI_RUN_BACK, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return true;
}

size_t
hearthi_run_bytes(const void *p)
{
    uint32_t is = __atomic_load_n(hearthi_run_of(p), __ATOMIC_RELAXED);

    return (is & HEARTHI_RUN_COUNT) * hearthi_arena_map.grain;
}

/* Of a large object at home here, so much as is worth a call: its memory goes
 * back to the system, unless a network card may have registered it.  That
 * writes zeros for all who have copies, so it counts as written. */
static bool
run_clear(const char *p, size_t bytes)
{
    uint64_t page = hearthi_page_of(p), count = bytes >> hearthi_heap.shift;

    if (bytes < WORTH || hearthi_arena_of(p) != hearthi_world.rank ||
        bytes % hearthi_heap.page != 0 || hearthi_app(page) != p ||
        hearthi_transport->registers())
        return false;
    hearthi_segment_clear(page % hearthi_segments.arena, count, false);
    hearthi_written_note(p, bytes);
    return true;
}

void
hearthi_freelist_give_run(void *p)
{
    struct stock *s = stock_of(hearthi_arena_of(p));
    uint32_t     *run = hearthi_run_of(p);
    size_t        bytes = hearthi_run_bytes(p);
    size_t        grains = bytes / hearthi_arena_map.grain;

    hearthi_owner_tag_put(p, (struct hearthi_owner_tag){ .owner = -1 });
    *run = HEARTHI_RUN_USED;
    if (run_clear(p, bytes) && !hearthi_arena_map.written)
        memset(run, 0, grains * sizeof *run);
    pthread_mutex_lock(&s->mutex);
    hearthi_extents_give(
        &s->runs, hearthi_arena_map_at(p) / hearthi_arena_map.grain, grains);
    pthread_mutex_unlock(&s->mutex);
}
