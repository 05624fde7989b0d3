/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "parmacs_memory.h"

#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>

#include "api/api.h"
#include "base/cancel.h"
#include "base/option.h"
#include "base/report.h"
#include "hearth/hearth.h"
#include "hearth/parmacs.h"
#include "home/home.h"
#include "page/page.h"
#include "parmacs_part.h"
#include "space/heap.h"

enum {
    CHUNK = 1 << 20, /* bytes for small objects */
    LARGE = CHUNK / 4,
    ALIGNMENT = 16
};

struct chunk {
    struct chunk              *next;
    struct hearthi_allocation *a;
    char                      *at;
    size_t                     bytes;
};

static struct chunk *chunks;
static char  *small; /* free bytes of the last chunk for small objects */
static size_t small_left;

static void
privately(const struct chunk *c)
{
    if (mmap(c->at, c->bytes, PROT_READ | PROT_WRITE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED, -1,
             0) == MAP_FAILED)
        hearthi_fatal("G_MALLOC", "no private memory of %zu bytes (%s)",
                      c->bytes, strerror(errno));
}

/* Main() is the same everywhere, or should be. */
static void
agree(size_t bytes)
{
    static const char *const name[HEARTHI_ARGS] = {
        "size of what main() allocates before CREATE"
    };
    const uint64_t args[HEARTHI_ARGS] = { bytes };

    hearthi_args_check("G_MALLOC", name, args);
}

static char *
chunk_new(size_t bytes)
{
    struct chunk *c = malloc(sizeof *c);

    if (c == NULL)
        hearthi_fatal("G_MALLOC", "no memory");
    agree(bytes);
    c->a = hearthi_alloc_take(
        bytes, 1, &(struct hearthi_placing){ .layout = hearth_block() });
    c->at = hearthi_app(c->a->page);
    c->bytes = c->a->pages << hearthi_heap.shift;
    c->next = chunks;
    chunks = c;
    if (hearthi_parmacs.rank == 0)
        hearthi_alloc_place(c->a);
    else
        privately(c);
    return c->at;
}

void
hearthi_parmacs_memory_share(void)
{
    uint64_t page;

    for (struct chunk *c = chunks; c != NULL && hearthi_parmacs.rank > 0;
         c = c->next) {
        page = c->a->page;
        if (hearthi_heap_show(page, c->a->pages, page, PROT_NONE) != 0)
            hearthi_fatal("CREATE", "the heap at %p cannot be mapped again",
                          (void *)c->at);
        hearthi_alloc_place(c->a);
    }
}

void
hearthi_parmacs_memory_close(void)
{
    struct chunk *next;

    for (; chunks != NULL; chunks = next) {
        next = chunks->next;
        free(chunks);
    }
    small_left = 0;
}

static void *
before_create(size_t bytes)
{
    char *p;

    if (bytes >= LARGE)
        return chunk_new(bytes);
    bytes = (bytes + ALIGNMENT - 1) & ~(size_t)(ALIGNMENT - 1);
    if (bytes > small_left) {
        small = chunk_new(CHUNK);
        small_left = CHUNK;
    }
    p = small;
    small += bytes;
    small_left -= bytes;
    return p;
}

static void
size_check(const char *macro, size_t bytes)
{
    hearthi_parmacs_require(macro);
    if (bytes > 0 && bytes <= hearthi_opt.heap)
        return;
    hearthi_parmacs_after_you();
    hearthi_fatal(macro,
                  "%zu bytes: give at least 1, and no more than the heap of "
                  "%zu MiB (HEARTH_HEAP)",
                  bytes, hearthi_opt.heap >> 20);
}

void *
parmacs_malloc(size_t bytes)
{
    HEARTHI_UNCANCELLED;

    size_check("G_MALLOC", bytes);
    return hearthi_parmacs.part == HEARTHI_ALONE ? before_create(bytes)
                                                 : hearth_malloc(bytes);
}

/* More processes than there are share ranks. */
void *
parmacs_malloc_on(size_t bytes, long process)
{
    HEARTHI_UNCANCELLED;

    size_check("NU_MALLOC", bytes);
    if (process < 0)
        hearthi_fatal("NU_MALLOC", "process %ld does not exist", process);
    return hearthi_parmacs.part == HEARTHI_ALONE
               ? before_create(bytes)
               : hearth_malloc_on(bytes,
                                  (int)(process % hearthi_parmacs.size));
}

/* What main() has allocated before CREATE stays. */
void
parmacs_free(void *p)
{
    HEARTHI_UNCANCELLED;

    hearthi_parmacs_require("G_FREE");
    for (const struct chunk *c = chunks; c != NULL; c = c->next)
        if ((size_t)((char *)p - c->at) < c->bytes)
            return;
    if (p != NULL)
        hearth_free(p);
}
