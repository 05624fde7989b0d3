/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Allocations that cannot be.
 */
#include <stdint.h>
#include <stdlib.h>

#include "badinput.h"

static void
size_zero(void)
{
    hearth_alloc(0, 8, hearth_block());
}

static void
size_beyond_heap(void)
{
    hearth_alloc((size_t)1 << 40, 8, hearth_block());
}

static void
size_overflows(void)
{
    hearth_alloc((size_t)1 << 61, 16, hearth_block());
}

/* Fits the heap, but not the memory that is there. */
static void
size_beyond_home(void)
{
    hearth_alloc((size_t)200 << 20, 1, hearth_on(last));
}

/* More than a small control group has room for, once as home memory and once
 * as copies. */
static void
reads_much(void)
{
    const size_t bytes = (size_t)320 << 20;
    char        *p = hearth_alloc(bytes, 1, hearth_on(last));

    for (size_t i = 0; me == last && i < bytes; i += page_bytes())
        p[i] = 1;
    hearth_barrier();
    for (size_t i = 0; me == 0 && i < bytes; i += page_bytes())
        if (p[i] != 1)
            exit(3);
}

static void
heap_used_up(void)
{
    for (int i = 0; i < 1000; i++)
        hearth_alloc((size_t)1 << 20, 1, hearth_block());
}

static void
count_differs(void)
{
    hearth_alloc(100 + (size_t)me, 8, hearth_block());
}

static void
layout_differs(void)
{
    hearth_alloc(100, 8, me == 0 ? hearth_block() : hearth_cyclic(1));
}

static void
home_rank_unknown(void)
{
    hearth_alloc(100, 8, hearth_on(last + 1));
}

static void
cyclic_zero(void)
{
    hearth_alloc(100, 8, hearth_cyclic(0));
}

static void
cyclic_negative(void)
{
    hearth_alloc(100, 8, hearth_cyclic((uint64_t)-1));
}

static void
cluster_none(void)
{
    hearth_alloc(100, 8, hearth_on_cluster(-1));
}

/* The only one there is, and the one behind it. */
static void
cluster_unknown(void)
{
    hearth_alloc(100, 8, hearth_within(hearth_cyclic(1), 3));
}

static void
clusters_differ(void)
{
    hearth_alloc(100, 8,
                 me == 0 ? hearth_block() : hearth_within(hearth_block(), 1));
}

static void
home_apart(void)
{
    hearth_alloc(100, 8, hearth_within(hearth_on(0), 2));
}

static void
free_junk(void)
{
    page_new();
    hearth_free((void *)0x5000); /* the same on every rank */
}

static void
free_inside(void)
{
    hearth_free((char *)page_new() + 8);
}

static void
free_twice(void)
{
    void *p = page_new();

    page_new();
    hearth_free(p);
    hearth_free(p);
}

const struct badinput badinput_allocs[] = {
    BADINPUT(size_zero),
    BADINPUT(size_beyond_heap),
    BADINPUT(size_overflows),
    BADINPUT(size_beyond_home),
    BADINPUT(heap_used_up),
    BADINPUT(count_differs),
    BADINPUT(layout_differs),
    BADINPUT(home_rank_unknown),
    BADINPUT(cyclic_zero),
    BADINPUT(cyclic_negative),
    BADINPUT(cluster_none),
    BADINPUT(cluster_unknown),
    BADINPUT(clusters_differ),
    BADINPUT(home_apart),
    BADINPUT(free_junk),
    BADINPUT(free_inside),
    BADINPUT(free_twice),
    BADINPUT(reads_much),
    { 0 },
};
