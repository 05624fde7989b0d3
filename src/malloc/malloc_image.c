/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "malloc_image.h"

#include <stdlib.h>

#include "arena_map.h"
#include "base/mutex.h"
#include "base/report.h"
#include "freelist_state.h"
#include "guard.h"
#include "malloc.h"
#include "remote_free.h"
#include "tcache.h"
#include "transport/remote_word.h"
#include "world.h"

enum { BLOCK = HEARTHI_ARENA_BLOCK, WORD = 64 };

/* Records of an owner: a slab, its offset in the heap, its class, and a bit
 * for each slot, in words; a block of large objects, and its offset; a large
 * object, its offset and how many quanta. */
enum { SLAB = 1, LARGE = 2, RUN = 3 };

void
hearthi_word_list_add(struct hearthi_word_list *w, uint64_t word)
{
    if (w->n == w->room) {
        w->room = w->room == 0 ? 1024 : 2 * w->room;
        w->word = realloc(w->word, w->room * sizeof *w->word);
        if (w->word == NULL)
            hearthi_fatal("hearth_checkpoint",
                          "no private memory for %zu words", w->room);
    }
    w->word[w->n++] = word;
}

void
hearthi_malloc_empty(void)
{
    if (!__atomic_load_n(&hearthi_arena_map.batches, __ATOMIC_RELAXED) &&
        !__atomic_load_n(&hearthi_arena_map.split, __ATOMIC_RELAXED))
        return;
    hearthi_tcache_empty();
    hearthi_remote_free_settle();
    hearthi_remote_free_take();
    if (hearthi_guard_on)
        hearthi_guard_empty();
}

/* ---- out ---- */

static size_t
live_words(uint32_t slots)
{
    return (slots + WORD - 1) / WORD;
}

static void
slab_tell(struct hearthi_word_list *w, const struct hearthi_slab *s)
{
    hearthi_word_list_add(w, SLAB);
    hearthi_word_list_add(w, hearthi_arena_map_at(s->base));
    hearthi_word_list_add(w, s->class);
    for (size_t i = 0; i < live_words(s->slots); i++) {
        uint64_t live = 0;

        for (unsigned b = 0; b < WORD && i * WORD + b < s->slots; b++)
            live |= (uint64_t)hearthi_slot_is_live(s, (int)(i * WORD + b))
                    << b;
        hearthi_word_list_add(w, live);
    }
}

/* A run may be longer than its first block: it is told of behind all blocks.
 * Relaxed: all that is told is in the word. */
static void
runs_tell(struct hearthi_word_list *w, const char *block)
{
    for (size_t at = 0; at < BLOCK; at += hearthi_arena_map.quantum) {
        uint64_t run =
            __atomic_load_n(hearthi_run_of(block + at), __ATOMIC_RELAXED);

        if (run == 0 || (run & HEARTHI_RUN_BACK))
            continue;
        hearthi_word_list_add(w, RUN);
        hearthi_word_list_add(w, hearthi_arena_map_at(block + at));
        hearthi_word_list_add(w, run & HEARTHI_RUN_COUNT);
    }
}

static void
block_tell(struct hearthi_word_list *w, const char *block)
{
    const struct hearthi_slab *s = hearthi_slab_around(block);

    if (s != NULL) {
        slab_tell(w, s);
    } else if (hearthi_block_get(block) == HEARTHI_BLOCK_LARGE) {
        hearthi_word_list_add(w, LARGE);
        hearthi_word_list_add(w, hearthi_arena_map_at(block));
    }
}

void
hearthi_malloc_image_objects(struct hearthi_word_list *w)
{
    for (int home = 0; home < hearthi_arena_map.arenas; home++) {
        const char *base;
        uint64_t    blocks;

        if (!hearthi_freelist_is_known(home))
            continue;
        base = hearthi_arena_map_base(home);
        blocks = hearthi_arena_map_split_so_far(home);
        for (uint64_t b = 0; b < blocks; b++)
            block_tell(w, base + b * BLOCK);
        for (uint64_t b = 0; b < blocks; b++)
            if (hearthi_block_get(base + b * BLOCK) == HEARTHI_BLOCK_LARGE)
                runs_tell(w, base + b * BLOCK);
    }
}

/* Of each of its arenas: which, how many blocks were split off, and a bit for
 * each of these that was given back. */
void
hearthi_malloc_image_arena(struct hearthi_word_list *w)
{
    const int me = hearthi_world.rank;

    for (int a = me; a < hearthi_arena_map.arenas; a += hearthi_world.size) {
        uint64_t split = hearthi_arena_map_split_so_far(a);

        hearthi_word_list_add(w, (uint64_t)a);
        hearthi_word_list_add(w, split);
        for (uint64_t i = 0; i * WORD < split; i++)
            hearthi_word_list_add(
                w, hearthi_remote_word_get(me, hearthi_vacant_at(a, i)));
    }
}

/* ---- and in ---- */

static size_t
slab_words(uint64_t class)
{
    if (class >= HEARTHI_SIZE_CLASSES)
        return 0;
    return 3 + live_words((uint32_t)(BLOCK / hearthi_size_class_bytes(
                                                 (unsigned)class)));
}

/* The record at w has so many words, of n that are left; 0: it is none. */
static size_t
record_words(const uint64_t *w, size_t n)
{
    size_t want;

    if (n < 2 || w[1] >= hearthi_arena_map.bytes ||
        w[1] % (w[0] == RUN ? hearthi_arena_map.quantum : BLOCK) != 0)
        return 0;
    switch (w[0]) {
    case LARGE: return 2;
    case RUN: want = 3; break;
    case SLAB: want = n < 3 ? 0 : slab_words(w[2]); break;
    default: return 0;
    }
    return want <= n ? want : 0;
}

static bool
record_take(const uint64_t *w)
{
    char                    *p = hearthi_heap.base + w[1];
    struct hearthi_freelist *s = hearthi_freelist_of(hearthi_arena_of(p));
    bool                     good = true;

    hearthi_mutex_lock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    if (w[0] == SLAB)
        hearthi_slab_restore(s, p, (unsigned)w[2], w + 3);
    else if (w[0] == LARGE)
        hearthi_runs_own_vacant(s, p, 1);
    else
        good = hearthi_run_restore(s, w[1] / hearthi_arena_map.quantum, w[2]);
    hearthi_mutex_unlock(&s->mutex, HEARTHI_MUTEX_FREELIST);
    return good;
}

bool
hearthi_malloc_image_own(const uint64_t *word, size_t n)
{
    for (size_t more; n > 0; word += more, n -= more) {
        more = record_words(word, n);
        if (more == 0 || !record_take(word))
            return false;
        hearthi_arena_map_may_have(&hearthi_arena_map.split);
    }
    return true;
}

/* Of one arena, if it is at home here. */
static void
arena_take(int arena, uint64_t split, const uint64_t *bits, size_t n)
{
    const int me = hearthi_world.rank;
    uint64_t  vacant = 0;

    if (hearthi_arena_rank(arena) != me)
        return;
    hearthi_arena_map_split_restore(arena, split);
    for (size_t i = 0; i < n; i++) {
        vacant += (uint64_t)__builtin_popcountll(bits[i]);
        if (bits[i] != 0)
            hearthi_remote_word_put(me, hearthi_vacant_at(arena, i), bits[i]);
    }
    if (vacant > 0)
        hearthi_remote_word_put(me, hearthi_vacants_at(arena), vacant);
}

bool
hearthi_malloc_image_split(const uint64_t *word, size_t n)
{
    const uint64_t all = hearthi_arena_map.room / BLOCK;

    for (size_t bits; n > 0; word += 2 + bits, n -= 2 + bits) {
        if (n < 2 || word[0] >= (uint64_t)hearthi_arena_map.arenas ||
            word[1] > all)
            return false;
        bits = (size_t)(word[1] + WORD - 1) / WORD;
        if (bits > n - 2)
            return false;
        arena_take((int)word[0], word[1], word + 2, bits);
    }
    return true;
}
