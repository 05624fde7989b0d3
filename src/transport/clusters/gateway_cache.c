/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Entries are in an array, and found by page and by frame through two hash
 * tables with chains.  When all are in use the oldest goes.
 */
#include "config.h"

#include "gateway_cache.h"

#include <string.h>

#include "base/assert.h"
#include "space/heap.h"
#include "space/segment.h"

#define NONE UINT32_MAX

enum { PAGE, FRAME, KEYS };

struct entry {
    uint64_t key[KEYS];  /* the page; its frame and home */
    uint32_t next[KEYS]; /* in the list, and 1 */
    uint64_t number;     /* of the fetch that it waits for, or 0 */
    bool     used;
};

static struct {
    struct entry *entry;
    char         *content;
    uint32_t     *bucket[KEYS]; /* entries, and 1 */
    uint32_t      n, buckets, turn;
    size_t        page; /* bytes, also when the heap is closed */
} c;

void
hearthi_gateway_cache_open(size_t bytes)
{
    c.page = hearthi_heap.page;
    c.n = (uint32_t)(bytes / c.page);
    c.turn = 0;
    if (c.n == 0)
        return;
    for (c.buckets = 1; c.buckets < c.n;)
        c.buckets *= 2;
    c.entry = hearthi_sparse(c.n * sizeof *c.entry);
    c.content = hearthi_sparse(c.n * c.page);
    for (int k = 0; k < KEYS; k++)
        c.bucket[k] = hearthi_sparse(c.buckets * sizeof *c.bucket[k]);
}

void
hearthi_gateway_cache_close(void)
{
    if (c.n == 0)
        return;
    hearthi_sparse_free(c.entry, c.n * sizeof *c.entry);
    hearthi_sparse_free(c.content, c.n * c.page);
    for (int k = 0; k < KEYS; k++)
        hearthi_sparse_free(c.bucket[k], c.buckets * sizeof *c.bucket[k]);
    c.n = 0;
}

size_t
hearthi_gateway_cache_room(void)
{
    return c.n;
}

/* ---- chains ---- */

static uint64_t
frame_key(uint32_t home, uint64_t frame)
{
    return frame << 24 | home;
}

static uint32_t *
chain(int k, uint64_t key)
{
    key *= UINT64_C(0x9e3779b97f4a7c15);
    return &c.bucket[k][(key >> 32) & (c.buckets - 1)];
}

static uint32_t
find(int k, uint64_t key)
{
    if (c.n == 0)
        return NONE;
    for (uint32_t i = *chain(k, key); i != 0; i = c.entry[i - 1].next[k])
        if (c.entry[i - 1].key[k] == key)
            return i - 1;
    return NONE;
}

static void
chain_out(int k, uint32_t i)
{
    uint32_t *at = chain(k, c.entry[i].key[k]);

    while (*at != i + 1) {
        HEARTHI_ASSERT(*at != 0);
        at = &c.entry[*at - 1].next[k];
    }
    *at = c.entry[i].next[k];
}

static void
entry_drop(uint32_t i)
{
    if (i == NONE || !c.entry[i].used)
        return;
    for (int k = 0; k < KEYS; k++)
        chain_out(k, i);
    c.entry[i].used = false;
}

static void
entry_make(uint64_t page, uint64_t frame, uint64_t number)
{
    uint32_t      i = c.turn;
    struct entry *e = &c.entry[i];

    HEARTHI_ASSERT(find(PAGE, page) == NONE && find(FRAME, frame) == NONE);
    c.turn = (c.turn + 1) % c.n;
    entry_drop(i);
    *e = (struct entry){ { page, frame }, { 0, 0 }, number, true };
    for (int k = 0; k < KEYS; k++) {
        uint32_t *at = chain(k, e->key[k]);

        e->next[k] = *at;
        *at = i + 1;
    }
}

/* ---- pages ---- */

enum hearthi_gateway_cached
hearthi_gateway_cache_look(uint64_t page, uint64_t latest)
{
    uint32_t i = find(PAGE, page);

    if (i == NONE || c.entry[i].number > latest)
        return HEARTHI_GATEWAY_UNKNOWN;
    return c.entry[i].number != 0 ? HEARTHI_GATEWAY_IN_FLIGHT
                                  : HEARTHI_GATEWAY_CACHED;
}

const char *
hearthi_gateway_cache_page(uint64_t page)
{
    return c.content + find(PAGE, page) * c.page;
}

void
hearthi_gateway_cache_expect(const struct hearthi_wan_run *run,
                             uint64_t                      number)
{
    for (uint32_t i = 0; c.n > 0 && i < run->count; i++) {
        entry_drop(find(PAGE, run->page + i));
        entry_drop(find(FRAME, frame_key(run->home, run->frame + i)));
        entry_make(run->page + i, frame_key(run->home, run->frame + i),
                   number);
    }
}

const char *
hearthi_gateway_cache_fill(const struct hearthi_wan_run *run, uint64_t number,
                           const char *content)
{
    for (uint32_t p = 0; p < run->count; p++, content += c.page) {
        uint32_t i = find(PAGE, run->page + p);

        if (i == NONE || c.entry[i].number != number)
            continue;
        memcpy(c.content + i * c.page, content, c.page);
        c.entry[i].number = 0;
    }
    return content;
}

/* ---- dropping ---- */

static void
run_drop(uint64_t page, uint32_t count)
{
    if (count < c.n) {
        for (uint32_t i = 0; i < count; i++)
            entry_drop(find(PAGE, page + i));
        return;
    }
    for (uint32_t i = 0; i < c.n; i++)
        if (c.entry[i].used && c.entry[i].key[PAGE] - page < count)
            entry_drop(i);
}

void
hearthi_gateway_cache_drop(const struct hearthi_notice *notice, size_t n)
{
    for (size_t i = 0; i < n; i++)
        if (notice[i].count == HEARTHI_INVALIDATE_ALL)
            hearthi_gateway_cache_drop_all();
        else
            run_drop(notice[i].page, notice[i].count);
}

void
hearthi_gateway_cache_drop_at(uint32_t home, uint64_t at, size_t len)
{
    uint64_t first, last;

    if (at < hearthi_segments.frames_at || len == 0)
        return;
    first = (at - hearthi_segments.frames_at) >> hearthi_heap.shift;
    last = (at + len - 1 - hearthi_segments.frames_at) >> hearthi_heap.shift;
    for (uint64_t f = first; f <= last; f++)
        entry_drop(find(FRAME, frame_key(home, f)));
}

void
hearthi_gateway_cache_drop_all(void)
{
    for (uint32_t i = 0; i < c.n; i++)
        entry_drop(i);
}
