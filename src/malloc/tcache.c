/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tcache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/mutex.h"
#include "base/report.h"
#include "world.h"

/* A fill is a few KiB of objects, or two. */
enum { FILL_BYTES = 1 << 13, FILL_MOST = HEARTHI_TCACHE_SLOTS / 2 };

_Thread_local __attribute__((
    tls_model("initial-exec"))) struct hearthi_tcache *hearthi_tcache;

uint64_t hearthi_tcache_start;

static uint64_t       starts;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t  key;

/* Caches of threads count from one start to the next only: what was in them
 * went with the heap. */
void
hearthi_tcaches_open(void)
{
    hearthi_tcache_start = ++starts;
}

void
hearthi_tcaches_close(void)
{
    hearthi_tcache_start = 0;
}

void
hearthi_tcache_empty(void)
{
    struct hearthi_tcache *c = hearthi_tcache_own();

    HEARTHI_ASSERT_HAS_NOT(FREELIST);
    for (unsigned class = 0; c != NULL && class < HEARTHI_SIZE_CLASSES;
         class ++)
        while (c->n[class] > 0)
            hearthi_freelist_give(
                hearthi_object_at(c->object[class][--c->n[class]]));
}

static void
cache_end(void *c)
{
    hearthi_tcache_empty();
    hearthi_tcache = NULL;
    free(c);
}

static void
key_make(void)
{
    pthread_key_create(&key, cache_end);
}

struct hearthi_tcache *
hearthi_tcache_begin(void)
{
    struct hearthi_tcache *c = hearthi_tcache;

    if (c == NULL)
        c = malloc(sizeof *c);
    if (c == NULL)
        hearthi_fatal("hearth_malloc", "no private memory for a thread");
    c->start = hearthi_tcache_start;
    memset(c->n, 0, sizeof c->n);
    hearthi_tcache = c;
    pthread_once(&once, key_make);
    pthread_setspecific(key, c);
    return c;
}

bool
hearthi_tcache_fill(struct hearthi_tcache *c, unsigned class)
{
    size_t some = FILL_BYTES / hearthi_size_class_bytes(class);

    if (some > FILL_MOST)
        some = FILL_MOST;
    if (some < 2)
        some = 2;
    HEARTHI_ASSERT(c->n[class] == 0 && some <= HEARTHI_TCACHE_SLOTS);
    c->n[class] = (uint16_t)hearthi_freelist_take(
        hearthi_arena_map.own, class, c->object[class], (unsigned)some);
    return c->n[class] > 0;
}

/* Those that came last are what the processor has. */
void
hearthi_tcache_drain(struct hearthi_tcache *c, unsigned class)
{
    unsigned half = c->n[class] / 2;

    HEARTHI_ASSERT(half > 0 && c->n[class] <= HEARTHI_TCACHE_SLOTS);
    for (unsigned i = 0; i < half; i++)
        hearthi_freelist_give(hearthi_object_at(c->object[class][i]));
    c->n[class] = (uint16_t)(c->n[class] - half);
    memmove(c->object[class], c->object[class] + half,
            c->n[class] * sizeof c->object[class][0]);
}
