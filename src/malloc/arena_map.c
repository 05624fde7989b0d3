/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "arena_map.h"

#include <string.h>

#include "base/report.h"
#include "coherence/sharer_flags.h"
#include "home/home.h"
#include "page/copies.h"
#include "page/page.h"
#include "space/segment.h"
#include "transport/remote_word.h"
#include "world.h"

enum { LINE = 64, BLOCK = HEARTHI_ARENA_BLOCK, TRIES = 16 };

/* All rings have this part of an arena: a program may allocate much on one
 * rank and free it on others while that one is elsewhere. */
enum { RINGS = HEARTHI_TEST_LIMIT(16, 1 << 24) };

struct hearthi_arena_map hearthi_arena_map;

/* ---- the words of an arena ---- */

/* An arena has the first frames of its segment. */
static size_t
arena_at(size_t at)
{
    return hearthi_frame_at(0, hearthi_heap.shift) + at;
}

size_t
hearthi_remote_free_bell_at(void)
{
    return arena_at(LINE);
}

static size_t
mailed_at(size_t rank)
{
    return 2 * LINE + rank * sizeof(uint64_t);
}

static size_t
taken_at(size_t rank)
{
    return mailed_at((size_t)hearthi_world.size + rank);
}

static size_t
label_at(size_t grain)
{
    return taken_at((size_t)hearthi_world.size) + grain * sizeof(uint64_t);
}

static size_t
mail_at(size_t rank)
{
    return label_at(hearthi_arena_map.each / hearthi_arena_map.grain) +
           rank * hearthi_arena_map.ring * sizeof(uint64_t);
}

size_t
hearthi_remote_freed_at(int rank)
{
    return arena_at(mailed_at((size_t)rank));
}

size_t
hearthi_remote_free_taken_at(int rank)
{
    return arena_at(taken_at((size_t)rank));
}

size_t
hearthi_remote_free_ring_at(int rank)
{
    return arena_at(mail_at((size_t)rank));
}

static size_t
words_bytes(void)
{
    size_t end = mail_at((size_t)hearthi_world.size);

    return (end + BLOCK - 1) / BLOCK * BLOCK;
}

/* ---- open and close ---- */

static size_t
ring_room(void)
{
    size_t share = hearthi_arena_map.each / RINGS /
                   (size_t)hearthi_world.size / sizeof(uint64_t);

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
    return (hearthi_arena_map.bytes / hearthi_arena_map.grain + 1) *
           sizeof *hearthi_arena_map.run;
}

static char *
arena_base(int home)
{
    return hearthi_heap.base + (size_t)home * hearthi_arena_map.each;
}

/* Home memory that nobody has touched is not for a core dump, which would fill
 * it: what was carved is (hearthi_arena_map_split). */
static void
arenas_place(struct hearthi_allocation *a)
{
    hearthi_table_lock();
    hearthi_home_place(a);
    hearthi_sharer_flags_expect(a);
    hearthi_table_unlock();
    hearthi_dump(arena_base(hearthi_world.rank), hearthi_arena_map.each,
                 false);
}

void
hearthi_arena_map_open(void)
{
    struct hearthi_arena_map *g = &hearthi_arena_map;

    memset(g, 0, sizeof *g);
    g->grain = hearthi_heap.page < BLOCK ? hearthi_heap.page : BLOCK;
    g->each = (size_t)hearthi_segments.arena << hearthi_heap.shift;
    g->bytes = g->each * (size_t)hearthi_world.size;
    g->ring = ring_room();
    if (g->each > words_bytes())
        g->room = g->each - words_bytes();
    g->written = hearthi_world.scope && hearthi_world.nodes > 1;
    g->block = hearthi_sparse(blocks_bytes());
    g->run = hearthi_sparse(runs_bytes());
    if (g->each > 0)
        arenas_place(hearthi_home_arena());
}

void
hearthi_arena_map_close(void)
{
    hearthi_sparse_free(hearthi_arena_map.block, blocks_bytes());
    hearthi_sparse_free(hearthi_arena_map.run, runs_bytes());
    memset(&hearthi_arena_map, 0, sizeof hearthi_arena_map);
}

/* ---- carving ---- */

/* Who has taken more than there is gives it back, and may have kept another
 * from what was left meanwhile: that one looks again. */
static bool
blocks_take(int home, uint64_t n, uint64_t *first)
{
    const uint64_t all = hearthi_arena_map.room / BLOCK;
    const size_t   taken = arena_at(0);

    for (int i = 0; i < TRIES; i++) {
        if (hearthi_remote_word_get(home, taken) + n > all)
            continue;
        *first = hearthi_remote_word_add(home, taken, n);
        if (*first + n <= all)
            return true;
        hearthi_remote_word_add(home, taken, -n);
    }
    return false;
}

char *
hearthi_arena_map_split(int home, size_t blocks)
{
    char    *base = arena_base(home) + words_bytes();
    uint64_t first;

    if (!blocks_take(home, blocks, &first))
        return NULL;
    __atomic_store_n(&hearthi_arena_map.carved, true, __ATOMIC_RELAXED);
    if (home == hearthi_world.rank)
        hearthi_dump(base, (first + blocks) * BLOCK, true);
    return base + first * BLOCK;
}

/* ---- labels ---- */

/* From the lowest bit on: small, 7 bits of a class, 20 of an owner and one,
 * and a length. */
enum { CLASS = 1, OWNER = 8, LENGTH = 28 };

static size_t
label_of(const void *p)
{
    size_t at = hearthi_arena_map_at(p) % hearthi_arena_map.each;

    return arena_at(label_at(at / hearthi_arena_map.grain));
}

void
hearthi_owner_tag_put(const void *p, struct hearthi_owner_tag l)
{
    uint64_t word = (uint64_t)l.small | (uint64_t)l.class << CLASS |
                    (uint64_t)(l.owner + 1) << OWNER | l.grains << LENGTH;

    hearthi_remote_word_put(hearthi_arena_of(p), label_of(p), word);
}

struct hearthi_owner_tag
hearthi_owner_tag_get(const void *p)
{
    uint64_t word = hearthi_remote_word_get(hearthi_arena_of(p), label_of(p));

    return (struct hearthi_owner_tag){
        .small = word & 1,
        .class = (unsigned)(word >> CLASS & 0x7f),
        .owner = (int)(word >> OWNER & 0xfffff) - 1,
        .grains = word >> LENGTH,
    };
}

/* ---- pages ---- */

void
hearthi_written_note(const void *p, size_t bytes)
{
    uint64_t page = hearthi_page_of(p);
    uint64_t last = hearthi_page_of((const char *)p + bytes - 1);

    hearthi_table_lock();
    for (; page <= last; page++)
        hearthi_list_changed(page);
    hearthi_table_unlock();
}
