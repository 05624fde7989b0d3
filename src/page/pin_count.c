/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "pin_count.h"

#include <string.h>

#include "base/mutex.h"
#include "base/report.h"
#include "hearth/hearth.h"

struct hearthi_pin_count hearthi_pin_count;
struct hearthi_pagelist  hearthi_stale;

static bool *noted; /* of each page: is it in that list? */

void
hearthi_pin_count_open(void)
{
    struct hearthi_pin_count *h = &hearthi_pin_count;
    uint64_t                  n = hearthi_heap.pages;

    h->reads = hearthi_sparse(n * sizeof *h->reads);
    h->writes = hearthi_sparse(n * sizeof *h->writes);
    noted = hearthi_sparse(n * sizeof *noted);
    hearthi_stale.page = hearthi_sparse(n * sizeof *hearthi_stale.page);
}

HEARTHI_FOR_ASSERT static uint64_t
pages_held(void)
{
    uint64_t end = hearthi_heap.pages, n = 0;

    for (uint64_t p = 0; (p = hearthi_touched_next(p, end)) < end; p++)
        n += hearthi_is_pinned(p);
    return n;
}

void
hearthi_pin_count_close(void)
{
    struct hearthi_pin_count *h = &hearthi_pin_count;
    uint64_t                  n = hearthi_heap.pages;

    HEARTHI_ASSERT(h->wanted == 0 && hearthi_stale.n == 0);
    HEARTHI_ASSERT(h->pages == pages_held());
    hearthi_sparse_free(h->reads, n * sizeof *h->reads);
    hearthi_sparse_free(h->writes, n * sizeof *h->writes);
    hearthi_sparse_free(noted, n * sizeof *noted);
    hearthi_sparse_free(hearthi_stale.page, n * sizeof *hearthi_stale.page);
    hearthi_stale.n = 0;
    memset(h, 0, sizeof *h);
}

/* A page was not held at all, or is not any more. */
static void
page_count(uint64_t page, uint64_t change)
{
    HEARTHI_ASSERT(change == 1 || hearthi_pin_count.pages > 0);
    HEARTHI_ASSERT(change == 1 || hearthi_pin_count.copies > 0 ||
                   hearthi_is_home(hearthi_state_of(page)));
    hearthi_pin_count.pages += change;
    if (!hearthi_is_home(hearthi_state_of(page)))
        hearthi_pin_count.copies += change;
}

/* Before any is counted. */
static void
count_check(uint64_t page, uint64_t count)
{
    const struct hearthi_pin_count *h = &hearthi_pin_count;

    for (uint64_t p = page; h->pages > 0 && p < page + count; p++)
        if (h->reads[p] == UINT32_MAX || h->writes[p] == UINT32_MAX)
            hearthi_fatal("hearth_hold",
                          "a page is held %u times: give back what is held",
                          UINT32_MAX);
}

void
hearthi_pin_count_add(uint64_t page, uint64_t count, int how)
{
    struct hearthi_pin_count *h = &hearthi_pin_count;

    HEARTHI_ASSERT_HAS(TABLE);
    HEARTHI_ASSERT(page + count <= hearthi_table.top);
    count_check(page, count);
    for (uint64_t p = page; p < page + count; p++) {
        hearthi_touch(p);
        if ((h->reads[p] | h->writes[p]) == 0)
            page_count(p, 1);
        h->reads[p] += (how & HEARTH_READ) != 0;
        h->writes[p] += (how & HEARTH_WRITE) != 0;
    }
    HEARTHI_ASSERT(h->copies <= h->pages);
}

bool
hearthi_pin_count_sub(uint64_t page, uint64_t count, int how)
{
    struct hearthi_pin_count *h = &hearthi_pin_count;
    uint32_t                  reads = (how & HEARTH_READ) != 0;
    uint32_t                  writes = (how & HEARTH_WRITE) != 0;

    HEARTHI_ASSERT_HAS(TABLE);
    for (uint64_t p = page; p < page + count; p++)
        if (h->reads[p] < reads || h->writes[p] < writes)
            return false;
    for (uint64_t p = page; p < page + count; p++) {
        h->reads[p] -= reads;
        h->writes[p] -= writes;
        if ((h->reads[p] | h->writes[p]) == 0)
            page_count(p, (uint64_t)-1);
    }
    return true;
}

uint64_t
hearthi_pin_count_new(uint64_t page, uint64_t count)
{
    uint64_t n = 0;

    for (uint64_t p = page; p < page + count; p++)
        n += !hearthi_is_home(hearthi_state_of(p)) && !hearthi_is_pinned(p);
    return n;
}

uint64_t
hearthi_pin_count_of(uint64_t page, uint64_t count)
{
    uint64_t n = 0;

    for (uint64_t p = page; hearthi_pin_count.pages > 0 && p < page + count;
         p++)
        n += hearthi_is_pinned(p);
    return n;
}

void
hearthi_stale_add(uint64_t page)
{
    if (noted[page])
        return;
    HEARTHI_ASSERT(hearthi_is_pinned(page));
    HEARTHI_ASSERT(hearthi_is_copy(hearthi_table.state[page]));
    noted[page] = true;
    hearthi_stale.page[hearthi_stale.n++] = (hearthi_page)page;
}

void
hearthi_stale_clear(void)
{
    for (size_t i = 0; i < hearthi_stale.n; i++)
        noted[hearthi_stale.page[i]] = false;
    hearthi_stale.n = 0;
}
