/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "remote_free_overflow.h"

#include <stdlib.h>

#include "arena_map.h"
#include "base/assert.h"
#include "base/min.h"
#include "base/report.h"
#include "central_freelist.h"
#include "coherence/range_sync.h"
#include "page/page.h"
#include "size_class.h"
#include "transport/remote_word.h"
#include "world.h"

/* Places in a block are multiples of UNIT. */
enum { BLOCK = HEARTHI_ARENA_BLOCK, UNIT = 16, NO_PLACE = 0xffff };

struct carrier {
    uint64_t next; /* offset in the heap, or 0 */
    uint16_t place[];
};

static struct carrier *
carrier_at(uint64_t at)
{
    return (struct carrier *)(void *)(hearthi_heap.base + at);
}

/* How many places an object of so many bytes has, of all but one that there
 * are in a block; a large one has none. */
static size_t
places(size_t bytes)
{
    return bytes > HEARTHI_SMALL
               ? 0
               : hearthi_min((bytes - sizeof(struct carrier)) /
                                 sizeof(uint16_t),
                             BLOCK / UNIT - 1);
}

static void
pages_order(uint64_t at, void (*order)(uint64_t page, uint64_t count))
{
    uint64_t from = at / BLOCK * BLOCK;
    uint64_t first = from >> hearthi_heap.shift;
    uint64_t last = (from + BLOCK - 1) >> hearthi_heap.shift;

    order(first, last - first + 1);
}

/* ---- by the freer ---- */

_Noreturn static void
not_ours(uint64_t at, int rank)
{
    hearthi_fatal("hearth_free",
                  "%p, which rank %d has freed, is not what hearth_malloc "
                  "returned, or was freed before: free each object once",
                  (void *)(hearthi_heap.base + at), rank);
}

/* What is remembered of a class may be old: its owner tag says how large the
 * object is. */
static size_t
object_bytes(uint64_t at)
{
    struct hearthi_owner_tag l =
        hearthi_owner_tag_get(hearthi_heap.base + at / BLOCK * BLOCK);

    if (!l.small)
        l = hearthi_owner_tag_get(hearthi_heap.base + at);
    if (l.owner < 0)
        not_ours(at, hearthi_world.rank);
    return l.small ? hearthi_size_class_bytes(l.class)
                   : l.quanta * hearthi_arena_map.quantum;
}

/* The first of these, with as many of the others as it has places for: how
 * many that are. */
static size_t
carrier_write(const uint64_t *at, size_t n, size_t room, uint64_t next)
{
    struct carrier *c = carrier_at(at[0]);
    size_t          i;

    c->next = next;
    for (i = 0; i < room && i + 1 < n; i++)
        c->place[i] = (uint16_t)(at[i + 1] % BLOCK / UNIT);
    if (i < room || room == 0)
        c->place[i] = NO_PLACE;
    return i + 1;
}

/* Objects of one block.  An old copy may have what is stored, and then the
 * home would not be told of it. */
static uint64_t
block_write(const uint64_t *at, size_t n, uint64_t next)
{
    size_t room = places(object_bytes(at[0]));

    HEARTHI_ASSERT(n > 0 && room < BLOCK / UNIT);
    pages_order(at[0], hearthi_range_sync_acquire);
    for (size_t i = 0, some; i < n; i += some) {
        some = carrier_write(at + i, n - i, room, next);
        next = at[i];
    }
    pages_order(at[0], hearthi_range_sync_release);
    return next;
}

void
hearthi_overflow_send(int owner, uint64_t *at, size_t n)
{
    size_t   word = hearthi_overflow_at(hearthi_world.rank);
    uint64_t next = hearthi_remote_word_swap(owner, word, 0);

    for (size_t i = 0, end; i < n; i = end) {
        for (end = i + 1; end < n && at[end] / BLOCK == at[i] / BLOCK;)
            end++;
        next = block_write(at + i, end - i, next);
    }
    hearthi_remote_word_swap(owner, word, next);
}

/* ---- by the owner ---- */

uint64_t
hearthi_overflow_take(int rank)
{
    size_t word = hearthi_overflow_at(rank);

    return hearthi_arena_map_own(word) == 0
               ? 0
               : hearthi_remote_word_swap(hearthi_world.rank, word, 0);
}

/* Of an object of this rank's, or 0. */
static size_t
own_bytes(const char *p)
{
    const struct hearthi_slab *s = hearthi_slab_around(p);

    if (s != NULL)
        return s->size;
    return hearthi_block_get(p) == HEARTHI_BLOCK_LARGE ? hearthi_run_bytes(p)
                                                       : 0;
}

static bool
is_carrier(uint64_t at)
{
    return at >> hearthi_heap.shift < hearthi_heap.arena &&
           own_bytes(hearthi_heap.base + at) >= sizeof(struct carrier);
}

static size_t
carrier_read(uint64_t from, uint64_t *at)
{
    const struct carrier *c = carrier_at(from);
    size_t                room = places(own_bytes((const char *)c));
    size_t                n = 0;

    at[n++] = from;
    for (size_t i = 0; i < room && c->place[i] != NO_PLACE; i++)
        at[n++] = from / BLOCK * BLOCK + (uint64_t)c->place[i] * UNIT;
    return n;
}

/* All that is listed in one block is read, or as much as there is room for:
 * its pages are fetched once.  The list lies in freed memory, over which a
 * program may have stored what it should not have: so no place is believed. */
size_t
hearthi_overflow_read(uint64_t *next, uint64_t at[HEARTHI_OVERFLOW_MOST],
                      int rank)
{
    uint64_t block = *next / BLOCK;
    size_t   n = 0;

    if (*next == 0)
        return 0;
    if (!is_carrier(*next))
        not_ours(*next, rank);
    pages_order(*next, hearthi_range_sync_acquire);
    while (*next != 0 && *next / BLOCK == block &&
           n < HEARTHI_OVERFLOW_MOST / 2) {
        if (!is_carrier(*next))
            not_ours(*next, rank);
        n += carrier_read(*next, at + n);
        *next = carrier_at(*next)->next;
    }
    return n;
}
