/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "owner_cache.h"

#include <stdlib.h>

#include "base/mutex.h"
#include "base/report.h"
#include "size_class.h"
#include "transport/remote_word.h"
#include "world.h"

static unsigned char *sent; /* of each rank, since it last forgot */

/* While ranks are told: two threads may give out blocks of two homes. */
static pthread_mutex_t telling = PTHREAD_MUTEX_INITIALIZER;

void
hearthi_owner_cache_open(void)
{
    sent = calloc((size_t)hearthi_world.size, 1);
    if (sent == NULL)
        hearthi_fatal("hearth_init", "no memory");
}

void
hearthi_owner_cache_close(void)
{
    free(sent);
    sent = NULL;
}

/* In hearthi_arena_map.block, from the lowest bit on: HEARTHI_BLOCK_OTHERS, 7
 * bits of a class, 20 of an owner, and the last ones of the count. */
enum { CLASS = 1, OWNER = 8, COUNT = 28 };

uint64_t
hearthi_owner_cache_count(void)
{
    return hearthi_arena_map_own(hearthi_forget_at());
}

bool
hearthi_owner_cache_get(const void *p, struct hearthi_owner_tag *l)
{
    uint64_t is = hearthi_block_get(p);

    *l = (struct hearthi_owner_tag){ .small = true,
                                     .class = (unsigned)(is >> CLASS & 0x7f),
                                     .owner = (int)(is >> OWNER & 0xfffff) };
    return (is & HEARTHI_BLOCK_OTHERS) &&
           (is ^ hearthi_owner_cache_count() << COUNT) >> COUNT == 0;
}

void
hearthi_owner_cache_put(const void *p, struct hearthi_owner_tag l,
                        uint64_t count)
{
    HEARTHI_ASSERT(l.small && l.owner >= 0 && l.class < HEARTHI_SIZE_CLASSES);
    HEARTHI_ASSERT(l.owner != hearthi_world.rank);
    hearthi_block_set(p, count << COUNT | (uint64_t)l.owner << OWNER |
                             l.class << CLASS | HEARTHI_BLOCK_OTHERS);
}

/* Before what it has freed can be given out.  A thread that gives it out has
 * it from a free list, whose mutex orders the store here before that thread's
 * relaxed look. */
void
hearthi_owner_cache_used_by(int rank)
{
    HEARTHI_ASSERT(rank >= 0 && rank < hearthi_world.size);
    __atomic_store_n(&sent[rank], 1, __ATOMIC_SEQ_CST);
}

/* A thread that finds that a rank was told already must know that it was told
 * in full: so one thread at a time. */
void
hearthi_owner_cache_flush(void)
{
    hearthi_mutex_lock(&telling, HEARTHI_MUTEX_FORGET);
    for (int r = 0; r < hearthi_world.size; r++)
        if (__atomic_load_n(&sent[r], __ATOMIC_RELAXED) &&
            __atomic_exchange_n(&sent[r], 0, __ATOMIC_SEQ_CST))
            hearthi_remote_word_add(r, hearthi_forget_at(), 1);
    hearthi_mutex_unlock(&telling, HEARTHI_MUTEX_FORGET);
}
