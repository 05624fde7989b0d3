/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The arenas of hearth_malloc: one for each home rank, in blocks of 64 KiB.
 *
 * A block belongs to the rank that carves it, its owner, which is the rank
 * that asks first: by one atomic step on a word of the home's.  It may give it
 * back (vacant.h).  What an owner knows of its blocks is private.  All that
 * others must know of one to free an object is whose it is: so each quantum of
 * an arena has an owner tag, a word of the home's that the owner writes before
 * it gives out an object there.
 *
 *   a block of small objects   the owner tag of its first quantum says so, its
 *                              owner and class.  While one of its objects is
 *                              live the owner stays: so it may be remembered
 *                              (owner_cache.h), the class as a guess, since
 *                              that may change when no object is left
 *   a large object             the owner tag of its first quantum: owner and
 *                              length; read anew each time
 *
 * A block whose small objects are all free may serve large ones, and the other
 * way round: its owner tags say nothing in between.
 *
 * At the start of each arena lie these words, and a mailbox for each rank
 * (remote_free.h).
 */
#ifndef HEARTHI_ARENA_MAP_H
#define HEARTHI_ARENA_MAP_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test_limits.h"
#include "slab.h"
#include "space/heap.h"
#include "world.h"

/* Most objects of one message; a ring has room for at least one. */
enum {
    HEARTHI_BLOCK_SHIFT = 16,
    HEARTHI_REMOTE_FREE_MOST = HEARTHI_TEST_LIMIT(256, 8)
};

/* split, idle, batches and need are relaxed, as they are hints.  A thread sees
 * its own stores to them; what they lead to is under the mutexes of the
 * freelists and of what is freed for others. */
struct hearthi_arena_map {
    size_t each, bytes; /* of an arena, and of all */
    int    arenas;      /* how many there are: as many as ranks, but in a
                           run that goes on as many as there were */
    int       own;      /* the one that serves this rank */
    size_t    ring;     /* most objects in a ring (remote_free.h) */
    size_t    room;     /* of an arena, for objects */
    size_t    quantum;  /* bytes: a page, or a block if that is less */
    uint64_t *block;    /* of all arenas, what this rank knows */
    uint64_t *run;      /* of each quantum, see below */
    uint8_t  *use;      /* of each quantum: an enum below */
    bool      written;  /* tell of what is used again (remote_free.c) */
    bool      split;    /* this rank has blocks, of any arena */
    bool      idle; /* there may be blocks to give back (central_freelist.h) */
    bool      batches; /* this rank has freed objects of others */
    uint64_t  need;    /* the word of that name, as it was heeded */
};
extern struct hearthi_arena_map hearthi_arena_map;

/* Of a block: nothing, a slab of this rank's, large objects of this rank's, or
 * small ones of another owner. */
enum { HEARTHI_BLOCK_LARGE = 2, HEARTHI_BLOCK_OTHERS = 1 };

/* What this rank knows of a quantum that it may give out: the freelist's mutex
 * guards it.  NEW comes first, as memory that was never touched. */
enum hearthi_quantum_use {
    HEARTHI_QUANTUM_NEW,   /* its bytes are 0, and no rank has a copy */
    HEARTHI_QUANTUM_USED,  /* anything may be there */
    HEARTHI_QUANTUM_KEPT,  /* the same, free for a short time (purge.h) */
    HEARTHI_QUANTUM_OLD,   /* the same, for longer */
    HEARTHI_QUANTUM_GONE,  /* its bytes are 0 at home; ranks may have copies */
    HEARTHI_QUANTUM_VACANT /* USED or GONE: a rank gave it to its arena */
};

/* Of the first quantum of a large object of this rank's: how many it has, and
 * whether it is on its way back; of any other 0. */
#define HEARTHI_RUN_BACK  (UINT64_C(1) << 63)
#define HEARTHI_RUN_COUNT (HEARTHI_RUN_BACK - 1)

void hearthi_arena_map_open(void);
void hearthi_arena_map_close(void);

/* May there be something here that other ranks can have?  Who sets one of
 * these looks then whether the background thread sleeps, which says so before
 * it looks here: store buffering (SB), so all four are in one order. */
static inline bool
hearthi_arena_map_has_freed(void)
{
    return __atomic_load_n(&hearthi_arena_map.batches, __ATOMIC_SEQ_CST) ||
           __atomic_load_n(&hearthi_arena_map.split, __ATOMIC_SEQ_CST);
}

/* From now on there may be: `batches` or `split`. */
static inline void
hearthi_arena_map_may_have(bool *which)
{
    if (!__atomic_load_n(which, __ATOMIC_RELAXED))
        __atomic_store_n(which, true, __ATOMIC_SEQ_CST);
}

static inline size_t
hearthi_arena_map_at(const void *p)
{
    return (size_t)((const char *)p - hearthi_heap.base);
}

static inline bool
hearthi_in_arenas(const void *p)
{
    return hearthi_arena_map_at(p) < hearthi_arena_map.bytes;
}

static inline uint64_t *
hearthi_block_of(const void *p)
{
    return &hearthi_arena_map
                .block[hearthi_arena_map_at(p) >> HEARTHI_BLOCK_SHIFT];
}

/* The acquire pairs with the release of hearthi_block_set(): a slab is whole
 * before it is found. */
static inline uint64_t
hearthi_block_get(const void *p)
{
    return __atomic_load_n(hearthi_block_of(p), __ATOMIC_ACQUIRE);
}

static inline void
hearthi_block_set(const void *p, uint64_t is)
{
    __atomic_store_n(hearthi_block_of(p), is, __ATOMIC_RELEASE);
}

/* The slab of this rank in which p lies, or NULL. */
static inline struct hearthi_slab *
hearthi_slab_around(const void *p)
{
    uint64_t is = hearthi_block_get(p);

    return is & 3 ? NULL : (struct hearthi_slab *)(uintptr_t)is;
}

/* The rank that is home of an arena; and the arena that serves a rank, which
 * is at home there unless there are fewer than ranks. */
static inline int
hearthi_arena_rank(int arena)
{
    return arena < hearthi_world.size ? arena : arena % hearthi_world.size;
}

static inline int
hearthi_arena_for(int rank)
{
    return rank < hearthi_arena_map.arenas ? rank
                                           : rank % hearthi_arena_map.arenas;
}

static inline int
hearthi_arena_of(const void *p)
{
    return (int)(hearthi_arena_map_at(p) / hearthi_arena_map.each);
}

static inline size_t
hearthi_quanta(size_t bytes)
{
    return (bytes + hearthi_arena_map.quantum - 1) / hearthi_arena_map.quantum;
}

static inline uint64_t *
hearthi_run_of(const void *p)
{
    return &hearthi_arena_map
                .run[hearthi_arena_map_at(p) / hearthi_arena_map.quantum];
}

static inline char *
hearthi_quantum_at(uint64_t quantum)
{
    return hearthi_heap.base + quantum * hearthi_arena_map.quantum;
}

/* A word of this rank's own arena, which other ranks change; acquires what was
 * written before it was (transport/remote_word.h). */
uint64_t hearthi_arena_map_own(size_t at);

/* So many blocks of a home, side by side and never used before; NULL if it has
 * no more. */
char *hearthi_arena_map_split(int home, size_t blocks);

/* All of a home that was never used: how many blocks, or NULL. */
char *hearthi_arena_map_split_rest(int home, uint64_t *blocks);

/* How many blocks of a home were ever split off. */
uint64_t hearthi_arena_map_split_so_far(int home);

/* Of an arena of this rank's, which is new: so many were. */
void hearthi_arena_map_split_restore(int arena, uint64_t blocks);

/* Bytes of an arena that are not for objects. */
size_t hearthi_arena_map_words(void);

/* Where the blocks of a home begin. */
char *hearthi_arena_map_base(int home);

static inline void
hearthi_arena_map_idle(void)
{
    __atomic_store_n(&hearthi_arena_map.idle, true, __ATOMIC_RELAXED);
}

/* What an owner tag says: whose it is, of so many ranks, and how long, in so
 * many quanta. */
enum { HEARTHI_OWNERS = (1 << 20) - 1, HEARTHI_QUANTA_BITS = 36 };
#define HEARTHI_QUANTA_MOST ((UINT64_C(1) << HEARTHI_QUANTA_BITS) - 1)

struct hearthi_owner_tag {
    bool small;
    int  owner; /* or -1: nothing */
    unsigned class;
    uint64_t quanta;
};

void hearthi_owner_tag_put(const void *p, struct hearthi_owner_tag l);
struct hearthi_owner_tag hearthi_owner_tag_get(const void *p);

/* These bytes count as written by this rank in this interval. */
void hearthi_written_note(const void *p, size_t bytes);

/* Offsets in a segment: a word that counts all messages; one that counts how
 * often what is remembered here is to be forgotten (owner_cache.h); one that
 * counts ranks in need (malloc.h); one that counts vacant blocks, and those
 * with a bit of each (vacant.h); and of each rank where a chain begins
 * (remote_free_overflow.h), how many objects it has sent, how many of these
 * were taken, and those that were not, a ring. */
size_t hearthi_remote_free_bell_at(void);
size_t hearthi_forget_at(void);
size_t hearthi_arena_need_at(void);
size_t hearthi_vacants_at(int arena);
size_t hearthi_vacant_at(int arena, uint64_t word);
size_t hearthi_overflow_at(int rank);
size_t hearthi_remote_freed_at(int rank);
size_t hearthi_remote_free_taken_at(int rank);
size_t hearthi_remote_free_ring_at(int rank);

#endif
