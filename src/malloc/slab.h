/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A slab: a block of the heap that is cut into slots for objects of one class,
 * and what its owner knows of them, which lies in private memory: neither
 * allocating nor freeing touches a page of the heap.  Pure data.
 *
 * Free slots are a list and those that were never taken; the list is for the
 * thread that has the lock of the central free list.  A slot that is live or
 * cached belongs to one thread, which may change that by itself.  Slots are
 * relaxed: that lock, or what hands an object to another thread, orders them.
 */
#ifndef HEARTHI_SLAB_H
#define HEARTHI_SLAB_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/assert.h"

/* What is said of a slot; any other number is the next of the list. */
enum {
    HEARTHI_SLOT_LIVE = 0xffff,  /* the program has it */
    HEARTHI_SLOT_TAKEN = 0xfffe, /* in a thread's cache, or on its way back */
    HEARTHI_SLOT_END = 0xfffd    /* the last one of the list */
};

struct hearthi_slab {
    struct hearthi_slab *next, *before; /* of those with free slots */
    char                *base;
    int                  home;
    unsigned class;
    uint32_t size, inverse; /* of a slot; 2^32 / size, rounded up */
    uint32_t slots, fresh;  /* from this one on never taken */
    uint32_t left;          /* free ones */
    uint32_t first;         /* of the list, or END */
    bool     used;          /* had objects of another class before */
    uint16_t slot[];
};

enum { HEARTHI_NO_SLOT = -1 };

/* One for a block of so many bytes, up to 2^16; ends the job if there is no
 * private memory.  free(3) is its end. */
struct hearthi_slab *hearthi_slab_new(char *base, size_t bytes, unsigned class,
                                      int home);

/* Take a free slot, of which there is one: its number.  Tells whether it was
 * used before, else all its bytes are 0. */
uint32_t hearthi_slab_take(struct hearthi_slab *s, bool *used);

/* Give back one that was taken. */
void hearthi_slab_give(struct hearthi_slab *s, uint32_t slot);

/* Of a new one: the program has the slots that have a bit. */
void hearthi_slab_fill(struct hearthi_slab *s, const uint64_t *live);

static inline char *
hearthi_slot_at(const struct hearthi_slab *s, uint32_t slot)
{
    return s->base + (size_t)slot * s->size;
}

/* The slot that begins at an address of the block, or HEARTHI_NO_SLOT. */
static inline int
hearthi_slot_of(const struct hearthi_slab *s, const void *p)
{
    uint32_t at = (uint32_t)((const char *)p - s->base);
    uint32_t slot = (uint32_t)((uint64_t)at * s->inverse >> 32);

    return slot < s->slots && slot * s->size == at ? (int)slot
                                                   : HEARTHI_NO_SLOT;
}

static inline bool
hearthi_slot_is_live(const struct hearthi_slab *s, int slot)
{
    return __atomic_load_n(&s->slot[slot], __ATOMIC_RELAXED) ==
           HEARTHI_SLOT_LIVE;
}

/* The program gets it. */
static inline void
hearthi_slot_lend(struct hearthi_slab *s, uint32_t slot)
{
    HEARTHI_ASSERT(slot < s->slots && s->slot[slot] == HEARTHI_SLOT_TAKEN);
    __atomic_store_n(&s->slot[slot], HEARTHI_SLOT_LIVE, __ATOMIC_RELAXED);
}

/* The program frees it: false if it does not have it.  Of two threads that
 * free it at once one is told so.  The step decides that; its order is more
 * than is needed. */
static inline bool
hearthi_slot_return(struct hearthi_slab *s, int slot)
{
    uint16_t live = HEARTHI_SLOT_LIVE;

    return __atomic_compare_exchange_n(&s->slot[slot], &live,
                                       HEARTHI_SLOT_TAKEN, false,
                                       __ATOMIC_ACQ_REL, __ATOMIC_RELAXED);
}

#endif
