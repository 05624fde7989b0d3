/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "arena_map.h"

#include <string.h>

#include "base/assert.h"
#include "base/report.h"
#include "cluster.h"
#include "coherence/coherence.h"
#include "home/home.h"
#include "page/copies.h"
#include "page/page.h"
#include "size_class.h"
#include "space/segment.h"
#include "transport/remote_word.h"
#include "world.h"

enum { LINE = 64, BLOCK = HEARTHI_ARENA_BLOCK };

/* All rings have this part of an arena: a program may allocate much on one
 * rank and free it on others while that one is elsewhere. */
enum { RINGS = HEARTHI_TEST_LIMIT(16, 1 << 24) };

struct hearthi_arena_map hearthi_arena_map;

/* ---- the words of an arena ---- */

/* The first arena of a rank has the first frames of its segment, and others
 * the next ones.  Words of a rank's are in the first. */
static size_t
arena_at(size_t at)
{
    return hearthi_frame_at(0, hearthi_heap.shift) + at;
}

static size_t
word_at(int arena, size_t at)
{
    return arena_at(
        (size_t)(arena / hearthi_world.size) * hearthi_arena_map.each + at);
}

size_t
hearthi_remote_free_bell_at(void)
{
    return arena_at(LINE);
}

size_t
hearthi_forget_at(void)
{
    return arena_at(LINE + sizeof(uint64_t));
}

size_t
hearthi_arena_need_at(void)
{
    return arena_at(LINE + 2 * sizeof(uint64_t));
}

size_t
hearthi_vacants_at(int arena)
{
    return word_at(arena, LINE + 3 * sizeof(uint64_t));
}

static size_t
sent_at(size_t rank)
{
    return 2 * LINE + rank * sizeof(uint64_t);
}

static size_t
taken_at(size_t rank)
{
    return sent_at((size_t)hearthi_world.size + rank);
}

static size_t
chain_at(size_t rank)
{
    return taken_at((size_t)hearthi_world.size + rank);
}

static size_t
vacant_at(size_t word)
{
    return chain_at((size_t)hearthi_world.size) + word * sizeof(uint64_t);
}

size_t
hearthi_vacant_at(int arena, uint64_t word)
{
    return word_at(arena, vacant_at(word));
}

static size_t
owner_tag_at(size_t quantum)
{
    return vacant_at(hearthi_arena_map.each / BLOCK / 64 + 1) +
           quantum * sizeof(uint64_t);
}

static size_t
batch_at(size_t rank)
{
    return owner_tag_at(hearthi_arena_map.each / hearthi_arena_map.quantum) +
           rank * hearthi_arena_map.ring * sizeof(uint64_t);
}

size_t
hearthi_remote_freed_at(int rank)
{
    return arena_at(sent_at((size_t)rank));
}

size_t
hearthi_remote_free_taken_at(int rank)
{
    return arena_at(taken_at((size_t)rank));
}

size_t
hearthi_overflow_at(int rank)
{
    return arena_at(chain_at((size_t)rank));
}

size_t
hearthi_remote_free_ring_at(int rank)
{
    return arena_at(batch_at((size_t)rank));
}

size_t
hearthi_arena_map_words(void)
{
    size_t end = batch_at((size_t)hearthi_world.size);

    if (hearthi_heap_given.is)
        return hearthi_heap_given.words;
    return (end + BLOCK - 1) / BLOCK * BLOCK;
}

uint64_t
hearthi_arena_map_own(size_t at)
{
    const char *own = hearthi_segments.base[hearthi_cluster.node_rank] + at;

    return __atomic_load_n((const uint64_t *)(const void *)own,
                           __ATOMIC_ACQUIRE);
}

/* ---- open and close ---- */

static size_t
ring_room(void)
{
    size_t ranks = (size_t)hearthi_world.size;
    size_t share = hearthi_arena_map.each / RINGS / ranks / sizeof(uint64_t);
    size_t fixed = batch_at(ranks);

    /* Objects begin where they did; the rings share what is before them. */
    if (hearthi_heap_given.is && hearthi_arena_map.each > 0) {
        share = hearthi_heap_given.words < fixed
                    ? 0
                    : (hearthi_heap_given.words - fixed) / ranks /
                          sizeof(uint64_t);
        if (share < HEARTHI_REMOTE_FREE_MOST)
            hearthi_fatal("hearth_init",
                          "the arenas of the run that is to be restarted have "
                          "no room for what %zu ranks free: start fewer",
                          ranks);
        return share;
    }
    return share > HEARTHI_REMOTE_FREE_MOST ? share : HEARTHI_REMOTE_FREE_MOST;
}

static size_t
blocks_bytes(void)
{
    return (hearthi_arena_map.bytes / BLOCK + 1) *
           sizeof *hearthi_arena_map.block;
}

static size_t
runs_bytes(void)
{
    return (hearthi_arena_map.bytes / hearthi_arena_map.quantum + 1) *
           sizeof *hearthi_arena_map.run;
}

static size_t
uses_bytes(void)
{
    return hearthi_arena_map.bytes / hearthi_arena_map.quantum + 1;
}

static char *
arena_base(int home)
{
    return hearthi_heap.base + (size_t)home * hearthi_arena_map.each;
}

/* Home memory that was never touched is not for a core dump, which would fill
 * it: what was split off is (hearthi_arena_map_split). */
static void
arenas_place(struct hearthi_allocation *a)
{
    hearthi_table_lock();
    hearthi_home_place(a);
    hearthi_sharer_flags_expect(a);
    hearthi_table_unlock();
    hearthi_dump(arena_base(hearthi_arena_map.own), hearthi_arena_map.each,
                 false);
}

void
hearthi_arena_map_open(void)
{
    struct hearthi_arena_map *g = &hearthi_arena_map;

    if (hearthi_world.size > HEARTHI_OWNERS)
        hearthi_fatal("hearth_init",
                      "%d ranks are more than the %d that hearth_malloc can "
                      "tell apart",
                      hearthi_world.size, HEARTHI_OWNERS);
    memset(g, 0, sizeof *g);
    g->quantum = hearthi_heap.page < BLOCK ? hearthi_heap.page : BLOCK;
    g->each = (size_t)(hearthi_heap_given.is ? hearthi_heap_given.arena
                                             : hearthi_segments.arena)
              << hearthi_heap.shift;
    g->arenas = hearthi_heap_given.is ? (int)hearthi_heap_given.count
                                      : hearthi_world.size;
    g->own = hearthi_arena_for(hearthi_world.rank);
    g->bytes = g->each * (size_t)g->arenas;
    g->ring = ring_room();
    if (g->each > hearthi_arena_map_words())
        g->room = g->each - hearthi_arena_map_words();
    g->written = hearthi_world.scope && hearthi_world.nodes > 1;
    g->block = hearthi_sparse(blocks_bytes());
    g->run = hearthi_sparse(runs_bytes());
    g->use = hearthi_sparse(uses_bytes());
    if (g->each > 0)
        arenas_place(hearthi_home_arena((uint64_t)g->arenas,
                                        g->each >> hearthi_heap.shift));
}

void
hearthi_arena_map_close(void)
{
    hearthi_sparse_free(hearthi_arena_map.block, blocks_bytes());
    hearthi_sparse_free(hearthi_arena_map.run, runs_bytes());
    hearthi_sparse_free(hearthi_arena_map.use, uses_bytes());
    memset(&hearthi_arena_map, 0, sizeof hearthi_arena_map);
}

/* ---- carving ---- */

/* In one step, so that each block is one rank's: a rank that would take more
 * first and give back what is not there might, with two such ranks at once,
 * put the word back behind what a third one has taken in between. */
static bool
blocks_take(int home, uint64_t n, uint64_t *first)
{
    const uint64_t all = hearthi_arena_map.room / BLOCK;
    const size_t   taken = word_at(home, 0);
    const int      rank = hearthi_arena_rank(home);

    HEARTHI_ASSERT(n > 0 && home >= 0 && home < hearthi_arena_map.arenas);
    *first = hearthi_remote_word_get(rank, taken);
    do
        if (*first + n > all)
            return false;
    while (!hearthi_remote_word_cas(rank, taken, first, *first + n));
    return true;
}

char *
hearthi_arena_map_base(int home)
{
    return arena_base(home) + hearthi_arena_map_words();
}

uint64_t
hearthi_arena_map_split_so_far(int home)
{
    return hearthi_remote_word_get(hearthi_arena_rank(home), word_at(home, 0));
}

char *
hearthi_arena_map_split_rest(int home, uint64_t *blocks)
{
    const uint64_t all = hearthi_arena_map.room / BLOCK;
    const int      rank = hearthi_arena_rank(home);
    uint64_t       first = hearthi_remote_word_get(rank, word_at(home, 0));

    do
        if (first >= all)
            return NULL;
    while (!hearthi_remote_word_cas(rank, word_at(home, 0), &first, all));
    *blocks = all - first;
    HEARTHI_ASSERT(*blocks > 0 && *blocks <= all);
    if (hearthi_arena_rank(home) == hearthi_world.rank)
        hearthi_dump(hearthi_arena_map_base(home), all * BLOCK, true);
    return hearthi_arena_map_base(home) + first * BLOCK;
}

char *
hearthi_arena_map_split(int home, size_t blocks)
{
    char    *base = hearthi_arena_map_base(home);
    uint64_t first;

    if (!blocks_take(home, blocks, &first))
        return NULL;
    hearthi_arena_map_may_have(&hearthi_arena_map.split);
    if (hearthi_arena_rank(home) == hearthi_world.rank)
        hearthi_dump(base, (first + blocks) * BLOCK, true);
    return base + first * BLOCK;
}

void
hearthi_arena_map_split_restore(int arena, uint64_t blocks)
{
    hearthi_remote_word_put(hearthi_world.rank, word_at(arena, 0), blocks);
    if (blocks > 0)
        hearthi_dump(hearthi_arena_map_base(arena), blocks * BLOCK, true);
}

/* ---- owner tags ---- */

/* From the lowest bit on: small, 7 bits of a class, 20 of an owner and one,
 * and a length. */
enum { CLASS = 1, OWNER = 8, LENGTH = 28 };

_Static_assert(HEARTHI_SIZE_CLASSES <= 1 << (OWNER - CLASS),
               "an owner tag has classes");
_Static_assert(HEARTHI_OWNERS < 1 << (LENGTH - OWNER), "and owners");
_Static_assert(LENGTH + HEARTHI_QUANTA_BITS == 64, "and lengths");

static size_t
owner_tag_of(const void *p)
{
    size_t at = hearthi_arena_map_at(p) % hearthi_arena_map.each;

    return word_at(hearthi_arena_of(p),
                   owner_tag_at(at / hearthi_arena_map.quantum));
}

void
hearthi_owner_tag_put(const void *p, struct hearthi_owner_tag l)
{
    HEARTHI_ASSERT(hearthi_in_arenas(p) && l.owner < HEARTHI_OWNERS);
    HEARTHI_ASSERT(!l.small ||
                   (l.class < HEARTHI_SIZE_CLASSES && l.owner >= 0));
    uint64_t word = (uint64_t)l.small | (uint64_t)l.class << CLASS |
                    (uint64_t)(l.owner + 1) << OWNER | l.quanta << LENGTH;

    hearthi_remote_word_put(hearthi_arena_rank(hearthi_arena_of(p)),
                            owner_tag_of(p), word);
}

struct hearthi_owner_tag
hearthi_owner_tag_get(const void *p)
{
    uint64_t word = hearthi_remote_word_get(
        hearthi_arena_rank(hearthi_arena_of(p)), owner_tag_of(p));

    return (struct hearthi_owner_tag){
        .small = word & 1,
        .class = (unsigned)(word >> CLASS & 0x7f),
        .owner = (int)(word >> OWNER & 0xfffff) - 1,
        .quanta = word >> LENGTH,
    };
}

/* ---- pages ---- */

void
hearthi_written_note(const void *p, size_t bytes)
{
    uint64_t page = hearthi_page_of(p);
    uint64_t last = hearthi_page_of((const char *)p + bytes - 1);

    HEARTHI_ASSERT(bytes > 0 && last < hearthi_heap.pages);
    if (hearthi_world.nodes == 1)
        return; /* there are no copies, and no interval ends */
    hearthi_table_lock();
    for (; page <= last; page++)
        hearthi_list_changed(page);
    hearthi_table_unlock();
}
