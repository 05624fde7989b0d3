/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Large objects: runs of quanta of blocks that have no small ones.
 */
#include "config.h"

#include <string.h>

#include "arena_map.h"
#include "base/mutex.h"
#include "freelist_state.h"
#include "purge.h"
#include "vacant.h"
#include "world.h"

enum { BLOCK = HEARTHI_ARENA_BLOCK, LARGE_BLOCKS = HEARTHI_LARGE_BLOCKS };

unsigned
hearthi_quanta_use(uint64_t first, uint64_t quanta)
{
    uint8_t *use = &hearthi_arena_map.use[first];
    unsigned had = 0;

    HEARTHI_ASSERT_HAS(FREELIST);
    for (uint64_t i = 0; i < quanta; i++)
        had |= 1u << use[i];
    memset(use, HEARTHI_QUANTUM_USED, quanta);
    return had;
}

void
hearthi_quanta_note(uint64_t first, size_t bytes, unsigned had)
{
    if (had & (1 << HEARTHI_QUANTUM_GONE | 1 << HEARTHI_QUANTUM_VACANT))
        hearthi_written_note(hearthi_quantum_at(first), bytes);
}

void
hearthi_run_own(uint64_t first, uint64_t quanta)
{
    hearthi_owner_tag_put(hearthi_quantum_at(first),
                          (struct hearthi_owner_tag){
                              .owner = hearthi_world.rank, .quanta = quanta });
}

char *
hearthi_runs_block(struct hearthi_freelist *s)
{
    const uint64_t each = BLOCK / hearthi_arena_map.quantum;
    uint64_t       first;

    if (hearthi_extents_take_aligned(&s->runs, each, &first) != 0)
        return NULL;
    hearthi_quanta_note(first, BLOCK, hearthi_quanta_use(first, each));
    return hearthi_quantum_at(first);
}

void
hearthi_runs_give_block(struct hearthi_freelist *s, char *base)
{
    const uint64_t each = BLOCK / hearthi_arena_map.quantum;
    uint64_t first = hearthi_arena_map_at(base) / hearthi_arena_map.quantum;

    hearthi_block_set(base, HEARTHI_BLOCK_LARGE);
    memset(&hearthi_arena_map.use[first], HEARTHI_QUANTUM_USED, each);
    hearthi_extents_give(&s->runs, first, each);
}

static void
blocks_own(struct hearthi_freelist *s, char *base, uint64_t blocks)
{
    HEARTHI_ASSERT_HAS(FREELIST);
    HEARTHI_ASSERT(blocks > 0 && hearthi_arena_map_at(base) % BLOCK == 0);
    for (uint64_t i = 0; i < blocks; i++)
        hearthi_block_set(base + i * BLOCK, HEARTHI_BLOCK_LARGE);
    hearthi_extents_give(
        &s->runs, hearthi_arena_map_at(base) / hearthi_arena_map.quantum,
        blocks * (BLOCK / hearthi_arena_map.quantum));
}

char *
hearthi_runs_new(struct hearthi_freelist *s, uint64_t blocks)
{
    char *base = hearthi_arena_map_split(s->home, blocks);

    s->split = hearthi_arena_map.room / BLOCK;
    if (base == NULL)
        return NULL;
    s->split =
        (uint64_t)(base - hearthi_arena_map_base(s->home)) / BLOCK + blocks;
    s->blocks += blocks;
    return base;
}

bool
hearthi_runs_carve(struct hearthi_freelist *s, uint64_t blocks)
{
    char *base = hearthi_runs_new(s, blocks);

    if (base != NULL)
        blocks_own(s, base, blocks);
    return base != NULL;
}

bool
hearthi_runs_own_vacant(struct hearthi_freelist *s, char *base,
                        uint64_t blocks)
{
    if (base == NULL)
        return false;
    memset(&hearthi_arena_map
                .use[hearthi_arena_map_at(base) / hearthi_arena_map.quantum],
           HEARTHI_QUANTUM_VACANT,
           blocks * (BLOCK / hearthi_arena_map.quantum));
    s->blocks += blocks;
    blocks_own(s, base, blocks);
    return true;
}

bool
hearthi_runs_vacant(struct hearthi_freelist *s, uint64_t blocks)
{
    return hearthi_runs_own_vacant(s, hearthi_vacant_take(s->home, blocks),
                                   blocks);
}

/* Other ranks may need them sooner than the memory would go that is kept. */
void
hearthi_runs_shed(struct hearthi_freelist *s, bool purge)
{
    const uint64_t each = BLOCK / hearthi_arena_map.quantum;
    uint64_t       first, n;

    HEARTHI_ASSERT_HAS(FREELIST);
    hearthi_slabs_melt(s);
    hearthi_purge_all(s, purge);
    while ((n = hearthi_extents_take_units(&s->runs, each, &first)) > 0) {
        char *base = hearthi_quantum_at(first);

        s->blocks -= n / each;
        for (uint64_t i = 0; i < n / each; i++)
            hearthi_block_set(base + i * BLOCK, 0);
        hearthi_vacant_give(base, n / each);
    }
}

/* What is free here, what others gave back and what is new may be enough
 * together. */
static bool
runs_gather(struct hearthi_freelist *s, uint64_t blocks)
{
    hearthi_runs_shed(s, false);
    hearthi_vacant_rest(s->home);
    return hearthi_runs_vacant(s, blocks);
}

/* What use they had.  The release pairs with the acquire of
 * hearthi_run_return(). */
static unsigned
run_use(uint64_t first, uint64_t quanta)
{
    unsigned had = hearthi_quanta_use(first, quanta);

    HEARTHI_ASSERT(quanta > 0 && hearthi_arena_map.run[first] == 0);
    HEARTHI_ASSERT((first + quanta) * hearthi_arena_map.quantum <=
                   hearthi_arena_map.bytes);
    __atomic_store_n(&hearthi_arena_map.run[first], quanta, __ATOMIC_RELEASE);
    return had;
}

/* Bytes that may not be 0 are in these. */
static bool
is_filled(unsigned had)
{
    return (had & ~(1u << HEARTHI_QUANTUM_NEW | 1u << HEARTHI_QUANTUM_GONE)) !=
           0;
}

/* Of what is free already, of blocks that are new, of those whose small
 * objects are all free, or of those that were given back. */
static bool
run_find(struct hearthi_freelist *s, uint64_t quanta, uint64_t *first)
{
    uint64_t blocks = (quanta * hearthi_arena_map.quantum + BLOCK - 1) / BLOCK;

    if (hearthi_extents_take(&s->runs, quanta, first) == 0)
        return true;
    if ((blocks < LARGE_BLOCKS && hearthi_runs_carve(s, LARGE_BLOCKS)) ||
        hearthi_runs_carve(s, blocks))
        return hearthi_extents_take(&s->runs, quanta, first) == 0;
    if (hearthi_slabs_melt(s) &&
        hearthi_extents_take(&s->runs, quanta, first) == 0)
        return true;
    return (hearthi_runs_vacant(s, blocks) || runs_gather(s, blocks)) &&
           hearthi_extents_take(&s->runs, quanta, first) == 0;
}

/* Of what is free or new, where that takes no message but one. */
static bool
run_find_near(struct hearthi_freelist *s, uint64_t quanta, uint64_t *first)
{
    uint64_t blocks = (quanta * hearthi_arena_map.quantum + BLOCK - 1) / BLOCK;

    return hearthi_extents_take(&s->runs, quanta, first) == 0 ||
           (hearthi_runs_carve(s, blocks) &&
            hearthi_extents_take(&s->runs, quanta, first) == 0);
}

/* Of more quanta those that begin at a multiple of so many; the others are
 * free. */
static uint64_t
run_align(struct hearthi_freelist *s, uint64_t first, uint64_t more,
          uint64_t quanta, uint64_t align)
{
    uint64_t at = (first + align - 1) / align * align, end = first + more;

    HEARTHI_ASSERT(at + quanta <= end);
    if (at > first)
        hearthi_extents_give(&s->runs, first, at - first);
    if (at + quanta < end)
        hearthi_extents_give(&s->runs, at + quanta, end - at - quanta);
    return at;
}

/* A run that the program gets: what use it had. */
static unsigned
run_lend(struct hearthi_freelist *s, uint64_t first, uint64_t quanta)
{
    size_t bytes = quanta * hearthi_arena_map.quantum;

    s->large++;
    s->large_bytes += bytes;
    hearthi_freelist_taken(s, bytes);
    return run_use(first, quanta);
}

hearthi_object
hearthi_freelist_take_run(int home, size_t bytes, size_t align, bool exact)
{
    struct hearthi_freelist *s = hearthi_freelist_of(home);
    uint64_t                 quanta = hearthi_quanta(bytes), first, more;
    uint64_t                 each = hearthi_quanta(align);
    unsigned                 had = 0;
    bool                     found;

    more = quanta + each - 1;
    hearthi_mutex_lock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    found = exact ? run_find(s, more, &first) : run_find_near(s, more, &first);
    if (found) {
        first = run_align(s, first, more, quanta, each);
        had = run_lend(s, first, quanta);
    }
    hearthi_mutex_unlock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    if (!found)
        return 0;
    hearthi_quanta_note(first, bytes, had);
    hearthi_run_own(first, quanta);
    return (uintptr_t)hearthi_quantum_at(first) | is_filled(had);
}

bool
hearthi_run_restore(struct hearthi_freelist *s, uint64_t first,
                    uint64_t quanta)
{
    if (quanta == 0 || hearthi_extents_take_at(&s->runs, first, quanta) != 0)
        return false;
    run_lend(s, first, quanta);
    hearthi_run_own(first, quanta);
    return true;
}

/* ---- giving back ---- */

/* Of threads that free or resize a run at once one succeeds, as count and bit
 * are one word.  The acquire pairs with run_use(), and with the release of
 * such a step before. */
bool
hearthi_run_return(const void *p)
{
    uint64_t *run = hearthi_run_of(p);
    uint64_t  is = __atomic_load_n(run, __ATOMIC_ACQUIRE);

    if (hearthi_arena_map_at(p) % hearthi_arena_map.quantum != 0)
        return false;
    do
        if ((is & HEARTHI_RUN_BACK) || (is & HEARTHI_RUN_COUNT) == 0)
            return false;
    while (!__atomic_compare_exchange_n(run, &is, is | HEARTHI_RUN_BACK, false,
                                        __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE));
    return true;
}

/* Relaxed: all that is asked is in the word. */
size_t
hearthi_run_bytes(const void *p)
{
    uint64_t is = __atomic_load_n(hearthi_run_of(p), __ATOMIC_RELAXED);

    return (is & HEARTHI_RUN_COUNT) * hearthi_arena_map.quantum;
}

void
hearthi_freelist_give_run(void *p)
{
    struct hearthi_freelist *s = hearthi_freelist_of(hearthi_arena_of(p));
    size_t                   bytes = hearthi_run_bytes(p);
    uint64_t first = hearthi_arena_map_at(p) / hearthi_arena_map.quantum;
    uint64_t quanta = bytes / hearthi_arena_map.quantum;

    HEARTHI_ASSERT(quanta > 0 && (*hearthi_run_of(p) & HEARTHI_RUN_BACK));
    hearthi_owner_tag_put(p, (struct hearthi_owner_tag){ .owner = -1 });
    /* Relaxed: who has marked it that it is on its way back has it alone. */
    __atomic_store_n(hearthi_run_of(p), 0, __ATOMIC_RELAXED);
    hearthi_mutex_lock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    s->large--;
    s->large_bytes -= bytes;
    s->taken -= bytes;
    hearthi_purge_keep(s, first, quanta);
    hearthi_extents_give(&s->runs, first, quanta);
    hearthi_arena_map_idle();
    hearthi_mutex_unlock(&s->mutex, HEARTHI_MUTEX_FREELIST);
}
