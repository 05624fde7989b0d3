/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "frames.h"

#include <string.h>
#include <unistd.h>

#include "base/option.h"
#include "page.h"
#include "world.h"

enum { MIN_CACHE = 16 };

static struct {
    uint64_t      bound;         /* pages that may have frames */
    hearthi_page *ring;          /* pages that have one, oldest first */
    uint64_t      head, n, room; /* room is a power of two */
} f;

static uint64_t
cache_bound(void)
{
    size_t bytes = hearthi_opt.cache;

    if (bytes == 0)
        bytes = (size_t)sysconf(_SC_PHYS_PAGES) *
                (size_t)sysconf(_SC_PAGESIZE) / 8 /
                (size_t)hearthi_world.machine_ranks;
    bytes /= hearthi_heap.page;
    if (bytes > hearthi_heap.pages)
        bytes = hearthi_heap.pages;
    return bytes < MIN_CACHE ? MIN_CACHE : bytes;
}

uint64_t
hearthi_frames_open(void)
{
    f.bound = cache_bound();
    for (f.room = 1; f.room < f.bound; f.room *= 2)
        ;
    f.ring = hearthi_sparse(f.room * sizeof *f.ring);
    return f.bound;
}

void
hearthi_frames_close(void)
{
    hearthi_sparse_free(f.ring, f.room * sizeof *f.ring);
    memset(&f, 0, sizeof f);
}

uint64_t
hearthi_frames_bound(void)
{
    return f.bound;
}

uint64_t
hearthi_frames_given(void)
{
    return f.n;
}

static hearthi_page *
ring_at(uint64_t i)
{
    return &f.ring[(f.head + i) & (f.room - 1)];
}

uint64_t
hearthi_frames_run(uint64_t i, uint64_t *page)
{
    uint64_t n = 1;

    if (i >= f.n)
        return 0;
    *page = *ring_at(i);
    while (i + n < f.n && *ring_at(i + n) == *page + n)
        n++;
    return n;
}

void
hearthi_frames_prepare(uint64_t page, uint64_t count)
{
    if (count > 1 && !(hearthi_table.mark[page] & HEARTHI_RESIDENT))
        hearthi_populate(hearthi_cached(page), count << hearthi_heap.shift,
                         true);
}

void
hearthi_frames_arrived(uint64_t page, uint64_t count)
{
    for (uint64_t p = page; p < page + count; p++) {
        uint8_t *mark = &hearthi_table.mark[p];

        if (*mark & HEARTHI_RESIDENT) {
            *mark |= HEARTHI_SECOND;
            continue;
        }
        *mark |= HEARTHI_RESIDENT;
        *ring_at(f.n++) = (hearthi_page)p;
    }
}

static hearthi_page
ring_pop(void)
{
    hearthi_page page = *ring_at(0);

    f.head = (f.head + 1) & (f.room - 1);
    f.n--;
    return page;
}

/* Insertion sort: the ring is nearly in order, and qsort may allocate, which
 * the fault handler must not. */
static void
pages_sort(hearthi_page *page, size_t n)
{
    for (size_t i = 1; i < n; i++) {
        hearthi_page p = page[i];
        size_t       at = i;

        for (; at > 0 && page[at - 1] > p; at--)
            page[at] = page[at - 1];
        page[at] = p;
    }
}

size_t
hearthi_frames_victims(hearthi_page *victim, size_t max)
{
    size_t n = 0;

    for (uint64_t turn = 2 * f.n; n < max && f.n > 0 && turn > 0; turn--) {
        hearthi_page page = ring_pop();
        uint8_t     *mark = &hearthi_table.mark[page];

        if (*mark & HEARTHI_SECOND) {
            *mark &= (uint8_t)~HEARTHI_SECOND;
            *ring_at(f.n++) = page;
        } else {
            *mark &= (uint8_t)~HEARTHI_RESIDENT;
            victim[n++] = page;
        }
    }
    pages_sort(victim, n);
    return n;
}
