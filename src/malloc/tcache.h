/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a thread keeps of small objects that are at home on its rank: to take
 * and give back one of these is a few instructions, without a lock.
 */
#ifndef HEARTHI_TCACHE_H
#define HEARTHI_TCACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "arena_map.h"
#include "base/assert.h"
#include "central_freelist.h"
#include "size_class.h"

enum {
    HEARTHI_TCACHE_SLOTS = HEARTHI_TEST_LIMIT(64, 4)
}; /* most of a class */

struct hearthi_tcache {
    uint64_t       start; /* of Hearth, for which it counts */
    uint16_t       n[HEARTHI_SIZE_CLASSES];
    hearthi_object object[HEARTHI_SIZE_CLASSES][HEARTHI_TCACHE_SLOTS];
};

extern _Thread_local __attribute__((
    tls_model("initial-exec"))) struct hearthi_tcache *hearthi_tcache;

/* Starts of Hearth so far, or 0 while it is down. */
extern uint64_t hearthi_tcache_start;

void hearthi_tcaches_open(void);
void hearthi_tcaches_close(void);

/* Of this thread, or NULL if it has none that counts. */
static inline struct hearthi_tcache *
hearthi_tcache_own(void)
{
    struct hearthi_tcache *c = hearthi_tcache;

    return c != NULL && c->start == hearthi_tcache_start ? c : NULL;
}

/* Give this thread one. */
struct hearthi_tcache *hearthi_tcache_begin(void);

/* Take some of a class from the central free list; false if there are none. */
bool hearthi_tcache_fill(struct hearthi_tcache *c, unsigned class);

/* Give all back that this thread keeps. */
void hearthi_tcache_empty(void);

/* Give half of a class back. */
void hearthi_tcache_drain(struct hearthi_tcache *c, unsigned class);

/* One that was returned by the program, and was used. */
static inline void
hearthi_tcache_put(struct hearthi_tcache *c, unsigned class, const void *p)
{
    if (c->n[class] == HEARTHI_TCACHE_SLOTS)
        hearthi_tcache_drain(c, class);
    HEARTHI_ASSERT(class < HEARTHI_SIZE_CLASSES &&
                   c->n[class] < HEARTHI_TCACHE_SLOTS);
    c->object[class][c->n[class]++] = (uintptr_t)p | 1;
}

#endif
