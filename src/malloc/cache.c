/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "cache.h"

#include <pthread.h>
#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "world.h"

/* A fill is a few KiB of objects, or two. */
enum { FILL_BYTES = 1 << 13, FILL_MOST = HEARTHI_CACHED / 2 };

_Thread_local __attribute__((
    tls_model("initial-exec"))) struct hearthi_cache *hearthi_cache;

uint64_t hearthi_cache_start;

static uint64_t       starts;
static pthread_once_t once = PTHREAD_ONCE_INIT;
static pthread_key_t  key;

/* Caches of threads count from one start to the next only: what was in them
 * went with the heap. */
void
hearthi_caches_open(void)
{
    hearthi_cache_start = ++starts;
}

void
hearthi_caches_close(void)
{
    hearthi_cache_start = 0;
}

void
hearthi_cache_empty(void)
{
    struct hearthi_cache *c = hearthi_cache_own();

    for (unsigned class = 0; c != NULL && class < HEARTHI_CLASSES; class ++)
        while (c->n[class] > 0)
            hearthi_stock_give(
                hearthi_object_at(c->object[class][--c->n[class]]));
}

static void
cache_end(void *c)
{
    hearthi_cache_empty();
    hearthi_cache = NULL;
    free(c);
}

static void
key_make(void)
{
    pthread_key_create(&key, cache_end);
}

struct hearthi_cache *
hearthi_cache_begin(void)
{
    struct hearthi_cache *c = hearthi_cache;

    if (c == NULL)
        c = malloc(sizeof *c);
    if (c == NULL)
        hearthi_fatal("hearth_malloc", "no private memory for a thread");
    c->start = hearthi_cache_start;
    memset(c->n, 0, sizeof c->n);
    hearthi_cache = c;
    pthread_once(&once, key_make);
    pthread_setspecific(key, c);
    return c;
}

bool
hearthi_cache_fill(struct hearthi_cache *c, unsigned class)
{
    size_t some = FILL_BYTES / hearthi_class_size(class);

    if (some > FILL_MOST)
        some = FILL_MOST;
    if (some < 2)
        some = 2;
    c->n[class] = (uint16_t)hearthi_stock_take(
        hearthi_world.rank, class, c->object[class], (unsigned)some);
    return c->n[class] > 0;
}

/* Those that came last are what the processor has. */
void
hearthi_cache_drain(struct hearthi_cache *c, unsigned class)
{
    unsigned half = c->n[class] / 2;

    for (unsigned i = 0; i < half; i++)
        hearthi_stock_give(hearthi_object_at(c->object[class][i]));
    c->n[class] = (uint16_t)(c->n[class] - half);
    memmove(c->object[class], c->object[class] + half,
            c->n[class] * sizeof c->object[class][0]);
}
