/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The arenas of hearth_malloc: one for each home rank, in blocks of 64 KiB.
 *
 * A block belongs for ever to the rank that carves it, its owner, which is
 * whoever asks first: by one atomic step on a word of the home's.  What an
 * owner knows of its blocks is private.  All that others must know of one to
 * free an object is whose it is: so each grain of an arena has a label, a word
 * of the home's that the owner writes before it gives out an object there.
 *
 *   a block of small objects   the label of its first grain says so, its owner
 *                              and class; such a block never becomes anything
 *                              else, though its class may change when no
 *                              object is left: so the owner may be
 *                              remembered, the class as a guess
 *   a large object             the label of its first grain: owner and length;
 *                              read anew each time
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
#include "space/arena.h"
#include "space/heap.h"

/* Most objects of one mail; a ring has room for at least one. */
enum {
    HEARTHI_BLOCK_SHIFT = 16,
    HEARTHI_REMOTE_FREE_MOST = HEARTHI_TEST_LIMIT(256, 8)
};

struct hearthi_arena_map {
    size_t    each, bytes; /* of an arena, and of all */
    size_t    ring;        /* most objects in a ring (remote_free.h) */
    size_t    room;        /* of an arena, for objects */
    size_t    grain;       /* bytes: a page, or a block if that is less */
    uint64_t *block;       /* of all arenas, what this rank knows */
    uint32_t *run;         /* of each grain, see below */
    bool      written;     /* tell of what is used again (remote_free.c) */
    bool      carved;      /* this rank has blocks, of any arena */
};
extern struct hearthi_arena_map hearthi_arena_map;

/* Of a block: nothing, a slab of this rank's, large objects of this rank's, or
 * small ones of another owner. */
enum { HEARTHI_BLOCK_LARGE = 2, HEARTHI_BLOCK_OTHERS = 1 };

/* Of a grain of this rank's large objects: it was used once; the object that
 * begins there is on its way back; and how many grains that has, or 0. */
#define HEARTHI_RUN_USED  UINT32_C(0x80000000)
#define HEARTHI_RUN_BACK  UINT32_C(0x40000000)
#define HEARTHI_RUN_COUNT UINT32_C(0x3fffffff)

void hearthi_arena_map_open(void);
void hearthi_arena_map_close(void);

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

static inline uint64_t
hearthi_block_get(const void *p)
{
    return __atomic_load_n(hearthi_block_of(p), __ATOMIC_ACQUIRE);
}

/* The slab of this rank in which p lies, or NULL. */
static inline struct hearthi_slab *
hearthi_slab_around(const void *p)
{
    uint64_t is = hearthi_block_get(p);

    return is & 3 ? NULL : (struct hearthi_slab *)(uintptr_t)is;
}

static inline int
hearthi_arena_of(const void *p)
{
    return (int)(hearthi_arena_map_at(p) / hearthi_arena_map.each);
}

static inline size_t
hearthi_quanta(size_t bytes)
{
    return (bytes + hearthi_arena_map.grain - 1) / hearthi_arena_map.grain;
}

static inline uint32_t *
hearthi_run_of(const void *p)
{
    return &hearthi_arena_map
                .run[hearthi_arena_map_at(p) / hearthi_arena_map.grain];
}

/* So many blocks of a home, side by side and never used before; NULL if it has
 * no more. */
char *hearthi_arena_map_split(int home, size_t blocks);

/* What a label says. */
struct hearthi_owner_tag {
    bool small;
    int  owner; /* or -1: nothing */
    unsigned class;
    uint64_t grains;
};

void hearthi_owner_tag_put(const void *p, struct hearthi_owner_tag l);
struct hearthi_owner_tag hearthi_owner_tag_get(const void *p);

/* These bytes count as written by this rank in this interval. */
void hearthi_written_note(const void *p, size_t bytes);

/* Offsets in a segment: a word that counts all mails; and of each rank how
 * many objects it has mailed, how many of these were taken, and those that
 * were not, a ring. */
size_t hearthi_remote_free_bell_at(void);
size_t hearthi_remote_freed_at(int rank);
size_t hearthi_remote_free_taken_at(int rank);
size_t hearthi_remote_free_ring_at(int rank);

#endif
