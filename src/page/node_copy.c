/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "node_copy.h"

#include "base/stat.h"
#include "page.h"
#include "sharer_notify.h"

/* A part of a run. */
static struct hearthi_fetch
part_of(const struct hearthi_fetch *run, uint32_t at, uint32_t count)
{
    struct hearthi_fetch part = *run;

    part.page += at;
    part.frame += at;
    part.to += (uint64_t)at << hearthi_heap.shift;
    part.count = count;
    if (at + count < run->count)
        part.behind = 0;
    if (count < run->count) /* else it is what it was */
        part.announce = hearthi_registered(part.page, count) < count;
    return part;
}

static void
rest_add(struct hearthi_rest *rest, const struct hearthi_fetch *run,
         uint32_t at, uint32_t end)
{
    if (at == end)
        return;
    rest->run[rest->n++] = part_of(run, at, end - at);
    rest->pages += end - at;
}

/* The page's flag is at its home, whoever has set it.  This rank is as if it
 * had: what is first goes at the next acquire, and then its home is told. */
static void
taken_note(uint64_t page, enum hearthi_lent how)
{
    hearthi_touch(page);
    hearthi_table.state[page] = HEARTHI_IN_FLIGHT;
    hearthi_table.mark[page] |= HEARTHI_REGISTERED;
    if (how == HEARTHI_LENT_FIRST)
        hearthi_pagelist_add(&hearthi_provisional, HEARTHI_PROVISIONAL, page);
}

/* `after`: runs behind this one, for each of which there must be room. */
static void
run_borrow(const struct hearthi_fetch *run, size_t after,
           struct hearthi_rest *rest)
{
    uint32_t from = 0, i = 0;
    uint64_t taken = 0;

    for (; i < run->count; i++) {
        size_t            need = rest->n + (from < i) + 1 + after;
        enum hearthi_lent how;

        if (need > rest->room)
            continue;
        how = hearthi_node_cache_take(run->page + i);
        if (how == HEARTHI_NOT_LENT)
            continue;
        taken_note(run->page + i, how);
        taken++;
        rest_add(rest, run, from, i);
        from = i + 1;
    }
    rest_add(rest, run, from, i);
    hearthi_count(matepages, taken);
}

void
hearthi_node_copy(const struct hearthi_fetch *run, size_t n,
                  enum hearthi_why why, struct hearthi_rest *rest)
{
    rest->n = rest->pages = rest->all = 0;
    rest->number = 0;
    for (size_t i = 0; i < n; i++) {
        rest->all += run[i].count;
        if (hearthi_node_cache_on)
            run_borrow(&run[i], n - i - 1, rest);
        else
            rest_add(rest, &run[i], 0, run[i].count);
    }
    if (rest->n == 0)
        return;
    rest->number = hearthi_node_cache_number();
    for (size_t i = 0; i < rest->n; i++)
        hearthi_node_cache_begin(rest->run[i].page, rest->run[i].count, why,
                                 rest->number);
}

void
hearthi_node_copy_end(const struct hearthi_rest *rest)
{
    for (size_t i = 0; i < rest->n; i++)
        hearthi_node_cache_lend(rest->run[i].page, rest->run[i].count,
                                rest->number);
}

uint64_t
hearthi_rest_ahead(const struct hearthi_rest *rest, uint64_t page)
{
    for (size_t i = 0; i < rest->n; i++)
        if (page - rest->run[i].page < rest->run[i].count)
            return rest->pages - 1;
    return rest->pages;
}
