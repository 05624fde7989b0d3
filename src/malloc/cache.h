/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a thread keeps of small objects that are at home on its rank: to take
 * and give back one of these is a few instructions, without a lock.
 */
#ifndef HEARTHI_CACHE_H
#define HEARTHI_CACHE_H

#include <stdbool.h>
#include <stdint.h>

#include "class.h"
#include "ground.h"
#include "stock.h"

enum { HEARTHI_CACHED = HEARTHI_BOUND(64, 4) }; /* most of a class */

struct hearthi_cache {
    uint64_t       start; /* of Hearth, for which it counts */
    uint16_t       n[HEARTHI_CLASSES];
    hearthi_object object[HEARTHI_CLASSES][HEARTHI_CACHED];
};

extern _Thread_local __attribute__((
    tls_model("initial-exec"))) struct hearthi_cache *hearthi_cache;

/* Starts of Hearth so far, or 0 while it is down. */
extern uint64_t hearthi_cache_start;

void hearthi_caches_open(void);
void hearthi_caches_close(void);

/* Of this thread, or NULL if it has none that counts. */
static inline struct hearthi_cache *
hearthi_cache_own(void)
{
    struct hearthi_cache *c = hearthi_cache;

    return c != NULL && c->start == hearthi_cache_start ? c : NULL;
}

/* Give this thread one. */
struct hearthi_cache *hearthi_cache_begin(void);

/* Take some of a class from the stock; false if there are none. */
bool hearthi_cache_fill(struct hearthi_cache *c, unsigned class);

/* Give all back that this thread keeps. */
void hearthi_cache_empty(void);

/* Give half of a class back. */
void hearthi_cache_drain(struct hearthi_cache *c, unsigned class);

/* One that was returned by the program, and was used. */
static inline void
hearthi_cache_put(struct hearthi_cache *c, unsigned class, const void *p)
{
    if (c->n[class] == HEARTHI_CACHED)
        hearthi_cache_drain(c, class);
    c->object[class][c->n[class]++] = (uintptr_t)p | 1;
}

#endif
