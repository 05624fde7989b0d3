/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Large objects of this rank's get another size where they are.
 */
#include "config.h"

#include "arena_map.h"
#include "base/mutex.h"
#include "freelist_state.h"
#include "purge.h"
#include "vacant.h"
#include "world.h"

enum { BLOCK = HEARTHI_ARENA_BLOCK, LARGE_BLOCKS = HEARTHI_LARGE_BLOCKS };

/* Blocks from one on, of those that were given back to the arena and of those
 * that were never split off, are this rank's if they can be had; what it got
 * in vain is free all the same. */
static void
blocks_join(struct hearthi_freelist *s, char *base, uint64_t blocks)
{
    char    *fresh = hearthi_arena_map_base(s->home) + s->split * BLOCK;
    uint64_t back = blocks;

    if (base > fresh)
        return;
    if (base + back * BLOCK > fresh)
        back = (uint64_t)(fresh - base) / BLOCK;
    blocks -= back;
    if (back > 0 &&
        !hearthi_runs_own_vacant(s, hearthi_vacant_take_at(base, back), back))
        return;
    if (blocks > 0 &&
        (blocks >= LARGE_BLOCKS || !hearthi_runs_carve(s, LARGE_BLOCKS)))
        hearthi_runs_carve(s, blocks);
}

/* The same from a quantum on, if a block begins there. */
static void
quanta_join(struct hearthi_freelist *s, uint64_t first, uint64_t quanta)
{
    const uint64_t each = BLOCK / hearthi_arena_map.quantum;
    char          *base = hearthi_quantum_at(first);
    const char *end = hearthi_arena_map_base(s->home) + hearthi_arena_map.room;
    uint64_t    blocks = (quanta + each - 1) / each;

    if (first % each == 0 && base + blocks * BLOCK <= end)
        blocks_join(s, base, blocks);
}

/* The quanta behind a run, if they are free or new: what use they had, or
 * 0.  The step on the run is as that of hearthi_run_return() (large.c), here
 * and below. */
static unsigned
run_extend(struct hearthi_freelist *s, uint64_t first, uint64_t has,
           uint64_t quanta)
{
    uint64_t  end = first + has, more = quanta - has;
    uint64_t  free = hearthi_extents_free_at(&s->runs, end);
    uint64_t *run = &hearthi_arena_map.run[first];

    HEARTHI_ASSERT_HAS(FREELIST);
    if (free < more)
        quanta_join(s, end + free, more - free);
    if (hearthi_extents_take_at(&s->runs, end, more) != 0)
        return 0;
    if (!__atomic_compare_exchange_n(run, &has, quanta, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE)) {
        hearthi_extents_give(&s->runs, end, more); /* it is freed just now */
        return 0;
    }
    s->large_bytes += more * hearthi_arena_map.quantum;
    hearthi_freelist_taken(s, more * hearthi_arena_map.quantum);
    return hearthi_quanta_use(end, more);
}

static bool
run_cut(struct hearthi_freelist *s, uint64_t first, uint64_t has,
        uint64_t quanta)
{
    uint64_t *run = &hearthi_arena_map.run[first], end = first + quanta;
    uint64_t  less = has - quanta;

    HEARTHI_ASSERT_HAS(FREELIST);
    if (!__atomic_compare_exchange_n(run, &has, quanta, false,
                                     __ATOMIC_ACQ_REL, __ATOMIC_ACQUIRE))
        return false;
    hearthi_purge_keep(s, end, less);
    hearthi_extents_give(&s->runs, end, less);
    s->large_bytes -= less * hearthi_arena_map.quantum;
    s->taken -= less * hearthi_arena_map.quantum;
    hearthi_arena_map_idle();
    return true;
}

bool
hearthi_run_resize(void *p, size_t bytes)
{
    struct hearthi_freelist *s = hearthi_freelist_of(hearthi_arena_of(p));
    uint64_t first = hearthi_arena_map_at(p) / hearthi_arena_map.quantum;
    uint64_t has = hearthi_run_bytes(p) / hearthi_arena_map.quantum;
    uint64_t quanta = hearthi_quanta(bytes);
    unsigned had = 0;
    bool     done;

    hearthi_mutex_lock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    if (quanta > has)
        done = (had = run_extend(s, first, has, quanta)) != 0;
    else
        done = quanta < has && run_cut(s, first, has, quanta);
    hearthi_mutex_unlock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    if (!done)
        return false;
    if (quanta > has)
        hearthi_quanta_note(first + has,
                            (quanta - has) * hearthi_arena_map.quantum, had);
    hearthi_run_own(first, quanta);
    return true;
}
