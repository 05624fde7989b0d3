/* SPDX-License-Identifier: BSD-2-Clause
 *
 * JIAJIA's allocations: a row of blocks, each with all its pages at home on
 * one host, dealt to the hosts in turn.  The calls differ in the size of the
 * blocks and in which host is first.
 */
#include "config.h"

#include <stdlib.h>

#include "api/api.h"
#include "base/cancel.h"
#include "base/hash.h"
#include "base/option.h"
#include "base/report.h"
#include "hearth/jia.h"
#include "home/home.h"
#include "jia_hosts.h"
#include "jia_start.h"
#include "space/heap.h"

enum { UNIT = 4 }; /* JIAJIA compares words of 4 bytes */

enum turn {
    BY_BLOCK, /* the next size for each block */
    BY_ROUND  /* the next size when host 0 is reached */
};

struct deal {
    const char *call;
    long        size;
    const long *block; /* n sizes in bytes, used in turn */
    int         n;
    int         start; /* host of the first block */
    enum turn   turn;
};

static int      next_host;
static uint64_t next_random;

void
hearthi_jia_alloc_open(void)
{
    next_host = 0;
    next_random = 0;
}

/* All sizes in one number, for the ranks to compare; one size is itself. */
static uint64_t
blocks_hash(const struct deal *d)
{
    uint64_t hash = 0;

    for (int i = 0; i < d->n; i++)
        hash = hash * 0x100000001b3u + (uint64_t)d->block[i];
    return hash;
}

static void
deal_agree(const struct deal *d)
{
    static const char *const name[HEARTHI_ARGS] = {
        "size", "block (or a hash of the blocks)", "number of blocks",
        "starting host", "kind of allocation"
    };
    const uint64_t args[HEARTHI_ARGS] = { (uint64_t)d->size, blocks_hash(d),
                                          (uint64_t)d->n, (uint64_t)d->start,
                                          (uint64_t)d->turn };

    hearthi_args_check(d->call, name, args);
}

static void
deal_check(const struct deal *d)
{
    size_t heap = hearthi_opt.heap;
    bool   some = false;

    if (d->size <= 0)
        hearthi_fatal(d->call, "%ld bytes: allocate at least 1", d->size);
    if ((size_t)d->size > heap)
        hearthi_fatal(d->call,
                      "%ld bytes do not fit the heap of %zu MiB: raise "
                      "HEARTH_HEAP",
                      d->size, heap >> 20);
    for (int i = 0; i < d->n; i++) {
        if (d->block[i] < 0 || (size_t)d->block[i] > heap)
            hearthi_fatal(d->call,
                          "a block of %ld bytes: give at least 1, and no "
                          "more than the heap",
                          d->block[i]);
        some = some || d->block[i] > 0;
    }
    if (!some)
        hearthi_fatal(d->call, "blocks of 0 bytes: give at least 1");
    hearthi_jia_number(d->call, "starting host", d->start, jia_hosts);
}

static uint64_t
pages_of(long bytes)
{
    return ((uint64_t)bytes + hearthi_heap.page - 1) >> hearthi_heap.shift;
}

/* Deal blocks until the size is reached; the last block is whole.  Returns how
 * many there are, and fills them in unless `to` is NULL. */
static size_t
deal_out(const struct deal *d, struct hearthi_stretch *to, uint64_t *sum)
{
    uint64_t pages = 0, want = pages_of(d->size);
    int      host = d->start, i = 0;
    size_t   n = 0;

    while (pages < want) {
        uint64_t count = pages_of(d->block[i]);

        if (count > 0 && to != NULL)
            to[n] = (struct hearthi_stretch){ count, (uint32_t)host };
        n += count > 0;
        pages += count;
        host = (host + 1) % jia_hosts;
        if (d->turn == BY_BLOCK || host == 0)
            i = (i + 1) % d->n;
    }
    *sum = pages;
    return n;
}

/* Blocks of one size follow from it, however many there are. */
static void *
deal_one(const struct deal *d)
{
    uint64_t block = pages_of(d->block[0]);
    uint64_t pages = (pages_of(d->size) + block - 1) / block * block;

    return hearthi_alloc(
        pages << hearthi_heap.shift, UNIT,
        &(struct hearthi_placing){ .layout = hearth_cyclic(block),
                                   .first = (uint32_t)d->start });
}

static void *
deal_each(const struct deal *d)
{
    struct hearthi_stretch *stretch;
    uint64_t                pages;
    size_t                  n = deal_out(d, NULL, &pages);
    void                   *p;

    stretch = malloc(n * sizeof *stretch);
    if (stretch == NULL)
        hearthi_fatal(d->call, "no memory for %zu blocks", n);
    deal_out(d, stretch, &pages);
    p = hearthi_alloc(pages << hearthi_heap.shift, UNIT,
                      &(struct hearthi_placing){ .stretch = stretch, .n = n });
    free(stretch);
    return p;
}

static unsigned long
deal(const struct deal *d)
{
    HEARTHI_UNCANCELLED;

    deal_agree(d);
    deal_check(d);
    return (unsigned long)(d->n == 1 ? deal_one(d) : deal_each(d));
}

static unsigned long
deal_even(const char *call, long size, long block, int start)
{
    hearthi_jia_require(call);
    return deal(&(struct deal){ call, size, &block, 1, start, BY_BLOCK });
}

static unsigned long
deal_list(struct deal *d, const int *blocks)
{
    unsigned long p;
    long         *block = malloc((size_t)d->n * sizeof *block);

    if (block == NULL)
        hearthi_fatal(d->call, "no memory");
    for (int i = 0; i < d->n; i++)
        block[i] = blocks[i];
    d->block = block;
    p = deal(d);
    free(block);
    return p;
}

unsigned long
jia_alloc(long size)
{
    int host = next_host;

    next_host = (next_host + 1) % jia_hosts;
    return deal_even("jia_alloc", size, size, host);
}

unsigned long
jia_alloc1(long size)
{
    return deal_even("jia_alloc1", size, size, 0);
}

unsigned long
jia_alloc2(long size, long block)
{
    return deal_even("jia_alloc2", size, block, 0);
}

unsigned long
jia_alloc2p(long size, int host)
{
    return deal_even("jia_alloc2p", size, size, host);
}

unsigned long
jia_alloc3(long size, long block, int starthost)
{
    return deal_even("jia_alloc3", size, block, starthost);
}

/* Ranks that disagree about n must not wait for each other in deal(). */
static void
list_check(const char *call, const int *blocks, int n, int most)
{
    hearthi_jia_require(call);
    if (blocks == NULL || n < 1 || n > most)
        hearthi_fatal(call, "%d blocks: give an array of 1 to %d of them", n,
                      most);
}

unsigned long
jia_alloc4(long size, const int *blocks, int n, int starthost)
{
    struct deal d = { "jia_alloc4", size, NULL, n, starthost, BY_ROUND };

    list_check(d.call, blocks, n, 1 << 20);
    return deal_list(&d, blocks);
}

unsigned long
jia_alloc_array(long size, const int *blocks, int n)
{
    struct deal d = { "jia_alloc_array", size, NULL, n, 0, BY_BLOCK };

    list_check(d.call, blocks, n, jia_hosts);
    return deal_list(&d, blocks);
}

unsigned long
jia_alloc_random(long size)
{
    uint64_t random = hearthi_random(&next_random) >> 33;

    return deal_even("jia_alloc_random", size, size,
                     (int)(random % (uint64_t)jia_hosts));
}

#undef jia_free /* the macro, which takes numbers too */
void
jia_free(void *p)
{
    HEARTHI_UNCANCELLED;

    hearthi_jia_outside("jia_free");
    hearthi_jia_wait_begin();
    hearthi_free("jia_free", "jia_alloc", p);
    hearthi_jia_wait_end();
}
