/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "tmk_area.h"

#include <stdint.h>
#include <string.h>

#include "base/min.h"
#include "base/report.h"
#include "hearth/hearth.h"
#include "page/page.h"
#include "space/segment.h"
#include "world.h"

enum { BLOCK = 64 << 10 }; /* bytes that a rank is dealt at a time */

/* Pages that follow each other, free or taken. */
struct run {
    uint32_t first, pages;
    uint32_t taken;
};

/* Runs follow each other, and no two that are free do: so there are at most
 * two for each object of the least size, and one. */
struct runs {
    uint64_t   n;
    struct run run[];
};

static char        *area;
static uint64_t     pages;
static struct runs *runs;

/* Of any size there is. */
static uint64_t
pages_of(size_t bytes)
{
    return (bytes >> hearthi_heap.shift) +
           ((bytes & (hearthi_heap.page - 1)) != 0);
}

static size_t
runs_bytes(void)
{
    return sizeof *runs +
           (2 * pages / pages_of(BLOCK) + 1) * sizeof *runs->run;
}

void
hearthi_tmk_area_open(void)
{
    uint64_t size = (uint64_t)hearthi_world.size;

    pages = size *
            hearthi_min(hearthi_segments.arena, hearthi_heap.pages / 4 / size);
    if (pages == 0)
        return;
    area = hearth_alloc(pages << hearthi_heap.shift, 1,
                        hearth_cyclic(pages_of(BLOCK)));
    runs = hearth_alloc(runs_bytes(), 1, hearth_on(0));
    if (hearthi_world.rank != 0)
        return;
    runs->n = 1;
    runs->run[0] = (struct run){ 0, (uint32_t)pages, 0 };
}

bool
hearthi_tmk_area_is_for(size_t bytes)
{
    return bytes >= BLOCK && pages > 0;
}

static void
run_insert(uint64_t at, struct run r)
{
    memmove(&runs->run[at + 1], &runs->run[at],
            (runs->n - at) * sizeof *runs->run);
    runs->run[at] = r;
    runs->n++;
}

static void
run_remove(uint64_t at)
{
    runs->n--;
    memmove(&runs->run[at], &runs->run[at + 1],
            (runs->n - at) * sizeof *runs->run);
}

/* The first that is large enough, or n. */
static uint64_t
run_fitting(uint64_t want)
{
    uint64_t i = 0;

    while (i < runs->n && (runs->run[i].taken || runs->run[i].pages < want))
        i++;
    return i;
}

void *
hearthi_tmk_area_take(size_t bytes)
{
    uint64_t    want = pages_of(bytes), i = run_fitting(want);
    struct run *r = &runs->run[i];

    if (i == runs->n)
        return NULL;
    if (r->pages > want)
        run_insert(i + 1, (struct run){ r->first + (uint32_t)want,
                                        r->pages - (uint32_t)want, 0 });
    r->pages = (uint32_t)want;
    r->taken = 1;
    return area + ((uint64_t)r->first << hearthi_heap.shift);
}

void
hearthi_tmk_area_full(const char *call, size_t bytes)
{
    const bool heap =
        pages < (uint64_t)hearthi_world.size * hearthi_segments.arena;

    hearthi_warn(
        call,
        "%zu bytes find no room in the %llu MiB whose pages are dealt "
        "to all processes: they are at home of this process alone, "
        "and so will others be: raise %s",
        bytes, (unsigned long long)(pages << hearthi_heap.shift) >> 20,
        heap ? "HEARTH_HEAP" : "HEARTH_MALLOC");
}

bool
hearthi_tmk_area_has(const void *p)
{
    return pages > 0 &&
           (size_t)((const char *)p - area) < pages << hearthi_heap.shift;
}

static void
join_next(uint64_t i)
{
    if (i + 1 == runs->n || runs->run[i].taken || runs->run[i + 1].taken)
        return;
    runs->run[i].pages += runs->run[i + 1].pages;
    run_remove(i + 1);
}

bool
hearthi_tmk_area_give(const void *p)
{
    size_t   at = (size_t)((const char *)p - area);
    uint64_t i = 0;

    while (i < runs->n &&
           (uint64_t)runs->run[i].first << hearthi_heap.shift != at)
        i++;
    if (i == runs->n || !runs->run[i].taken)
        return false;
    runs->run[i].taken = 0;
    join_next(i);
    if (i > 0)
        join_next(i - 1);
    return true;
}
