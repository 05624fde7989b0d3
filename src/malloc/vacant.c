/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "vacant.h"

#include "base/min.h"
#include "base/mutex.h"
#include "coherence/range_sync.h"
#include "page/page.h"
#include "transport/remote_word.h"

enum { BLOCK = HEARTHI_ARENA_BLOCK, WORD = 64, TRIES = 16 };

static void
blocks_order(const char *base, uint64_t blocks,
             void (*order)(uint64_t page, uint64_t count))
{
    uint64_t first = hearthi_page_of(base);
    uint64_t last = hearthi_page_of(base + blocks * BLOCK - 1);

    order(first, last - first + 1);
}

static uint64_t
word_of(int home, uint64_t i)
{
    return hearthi_remote_word_get(hearthi_arena_rank(home),
                                   hearthi_vacant_at(home, i));
}

/* The bits of one word that are among n blocks from a first one on: how many
 * there are. */
static uint64_t
bits_of(uint64_t first, uint64_t n, uint64_t *mask)
{
    uint64_t here = hearthi_min(WORD - first % WORD, n);

    *mask = (here < WORD ? (UINT64_C(1) << here) - 1 : UINT64_MAX)
            << first % WORD;
    return here;
}

/* No other rank sets these. */
static void
bits_set(int home, uint64_t first, uint64_t n)
{
    uint64_t mask;

    for (uint64_t here; n > 0; first += here, n -= here) {
        here = bits_of(first, n, &mask);
        hearthi_remote_word_add(hearthi_arena_rank(home),
                                hearthi_vacant_at(home, first / WORD), mask);
    }
}

/* False, and none is cleared, if another rank has cleared some. */
static bool
bits_clear(int home, uint64_t first, uint64_t n)
{
    uint64_t mask, at = first, here;

    for (; at < first + n; at += here) {
        uint64_t was = word_of(home, at / WORD);

        here = bits_of(at, first + n - at, &mask);
        while ((was & mask) == mask &&
               !hearthi_remote_word_cas(hearthi_arena_rank(home),
                                        hearthi_vacant_at(home, at / WORD),
                                        &was, was & ~mask))
            continue;
        if ((was & mask) != mask) {
            bits_set(home, first, at - first);
            return false;
        }
    }
    return true;
}

/* n blocks side by side, or false. */
static bool
bits_find(int home, uint64_t n, uint64_t *first)
{
    const uint64_t all = hearthi_arena_map.room / BLOCK;
    uint64_t       word = 0, run = 0;

    for (uint64_t i = 0; i < all; i++) {
        if (i % WORD == 0)
            word = word_of(home, i / WORD);
        if (word == 0) { /* and none of the next ones */
            i |= WORD - 1;
            run = 0;
            continue;
        }
        run = word >> i % WORD & 1 ? run + 1 : 0;
        if (run == n) {
            *first = i + 1 - n;
            return true;
        }
    }
    return false;
}

void
hearthi_vacant_give(char *base, uint64_t blocks)
{
    HEARTHI_ASSERT_HAS(FREELIST);
    HEARTHI_ASSERT(blocks > 0 && hearthi_arena_map_at(base) % BLOCK == 0);
    int      home = hearthi_arena_of(base);
    uint64_t first =
        (uint64_t)(base - hearthi_arena_map_base(home)) / HEARTHI_ARENA_BLOCK;

    blocks_order(base, blocks, hearthi_range_sync_release);
    bits_set(home, first, blocks);
    hearthi_remote_word_add(hearthi_arena_rank(home), hearthi_vacants_at(home),
                            blocks);
}

/* Whose bits this rank has cleared. */
static char *
blocks_have(int home, uint64_t first, uint64_t blocks)
{
    char *base = hearthi_arena_map_base(home) + first * BLOCK;

    hearthi_remote_word_add(hearthi_arena_rank(home), hearthi_vacants_at(home),
                            -blocks);
    blocks_order(base, blocks, hearthi_range_sync_acquire);
    hearthi_arena_map_may_have(&hearthi_arena_map.split);
    return base;
}

char *
hearthi_vacant_take(int home, uint64_t blocks)
{
    uint64_t first;

    HEARTHI_ASSERT_HAS(FREELIST);
    for (int i = 0; i < TRIES; i++) {
        if (hearthi_remote_word_get(hearthi_arena_rank(home),
                                    hearthi_vacants_at(home)) < blocks ||
            !bits_find(home, blocks, &first))
            return NULL;
        if (bits_clear(home, first, blocks))
            return blocks_have(home, first, blocks);
    }
    return NULL;
}

char *
hearthi_vacant_take_at(const char *base, uint64_t blocks)
{
    int      home = hearthi_arena_of(base);
    uint64_t first = (uint64_t)(base - hearthi_arena_map_base(home)) / BLOCK;

    HEARTHI_ASSERT_HAS(FREELIST);
    if (hearthi_remote_word_get(hearthi_arena_rank(home),
                                hearthi_vacants_at(home)) < blocks ||
        !bits_clear(home, first, blocks))
        return NULL;
    return blocks_have(home, first, blocks);
}

bool
hearthi_vacant_rest(int home)
{
    uint64_t blocks;
    char    *base = hearthi_arena_map_split_rest(home, &blocks);

    if (base != NULL)
        hearthi_vacant_give(base, blocks);
    return base != NULL;
}
