/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "base/cancel.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "cluster.h"
#include "coherence/coherence.h"
#include "coherence/migrate_request.h"
#include "coherence/sharer_flags.h"
#include "collective.h"
#include "front/direct.h"
#include "front/request_pins.h"
#include "hearth/hearth.h"
#include "home/home.h"
#include "page/copies.h"
#include "page/fetch.h"
#include "page/page.h"
#include "page/page_in_flight.h"
#include "page/pin_count.h"
#include "transport/transport.h"
#include "world.h"

/* Least and largest of each argument over all ranks: x and ~x in one MIN. */
enum { ARGS = HEARTHI_ARGS };

static bool
args_agree(const uint64_t *mine, uint64_t *least, uint64_t *most)
{
    uint64_t both[2 * ARGS], all[2 * ARGS];

    for (int i = 0; i < ARGS; i++) {
        both[i] = mine[i];
        both[ARGS + i] = ~mine[i];
    }
    hearthi_all_reduce(both, all, 2 * ARGS, MPI_UINT64_T, MPI_MIN,
                       hearthi_requests_wait);
    for (int i = 0; i < ARGS; i++) {
        least[i] = all[i];
        most[i] = ~all[ARGS + i];
    }
    return memcmp(least, most, ARGS * sizeof *least) == 0;
}

/* All ranks have seen that they differ; rank 0 says so for all. */
static void
args_differ(const char *call, const char *const *name, const uint64_t *least,
            const uint64_t *most)
{
    int i = 0;

    while (least[i] == most[i])
        i++;
    if (hearthi_world.rank == 0)
        hearthi_fatal(call,
                      "its arguments differ between ranks: %s is from %llu to "
                      "%llu: make the same call on every rank",
                      name[i], (unsigned long long)least[i],
                      (unsigned long long)most[i]);
    for (;;)
        pause(); /* until rank 0 has ended the job */
}

void
hearthi_args_check(const char *call, const char *const *name,
                   const uint64_t *mine)
{
    uint64_t least[ARGS], most[ARGS];

    if (hearthi_world.size > 1 && !args_agree(mine, least, most))
        args_differ(call, name, least, most);
}

static void
layout_check(hearth_layout l)
{
    if (l.kind == HEARTH_ON && (l.rank < 0 || l.rank >= hearthi_world.size))
        hearthi_fatal("hearth_alloc",
                      "home rank %d does not exist: ranks are "
                      "0 to %d",
                      l.rank, hearthi_world.size - 1);
    /* Fortran has signed numbers only. */
    if (l.kind == HEARTH_CYCLIC && (int64_t)l.pages <= 0)
        hearthi_fatal("hearth_alloc",
                      "a block-cyclic layout has %lld pages a block: give at "
                      "least 1",
                      (long long)l.pages);
    if (l.kind != HEARTH_BLOCK && l.kind != HEARTH_CYCLIC &&
        l.kind != HEARTH_ON && l.kind != HEARTH_FIRST_TOUCH)
        hearthi_fatal("hearth_alloc",
                      "layout kind %d does not exist: use "
                      "hearth_block, hearth_cyclic, "
                      "hearth_on or hearth_first_touch",
                      (int)l.kind);
}

/* The rank of hearth_on() has been checked. */
static void
clusters_check(hearth_layout l)
{
    int      n = hearthi_world.clusters;
    uint64_t unknown = n < 64 ? l.clusters >> n << n : 0;

    if (l.clusters == HEARTH_ALL_CLUSTERS)
        return;
    if (l.clusters == 0)
        hearthi_fatal("hearth_alloc",
                      "the layout is within no cluster: clusters are 0 to %d",
                      n - 1);
    if (unknown != 0)
        hearthi_fatal("hearth_alloc",
                      "the layout is within cluster %d, which does not exist: "
                      "clusters are 0 to %d",
                      __builtin_ctzll(unknown), n - 1);
    if (l.kind == HEARTH_ON &&
        (l.clusters >> hearthi_cluster_of(l.rank) & 1) == 0)
        hearthi_fatal("hearth_alloc",
                      "home rank %d is in cluster %d, and the layout within "
                      "others (%#llx): give hearth_within that, too",
                      l.rank, hearthi_cluster_of(l.rank),
                      (unsigned long long)l.clusters);
}

static size_t
size_check(size_t count, size_t size)
{
    size_t bytes;

    if (count == 0 || size == 0)
        hearthi_fatal("hearth_alloc",
                      "%zu elements of %zu bytes are 0 bytes: "
                      "allocate at least 1",
                      count, size);
    if (__builtin_mul_overflow(count, size, &bytes) ||
        bytes > hearthi_opt.heap)
        hearthi_fatal("hearth_alloc",
                      "%zu elements of %zu bytes do not fit "
                      "the heap of %zu MiB: raise HEARTH_HEAP",
                      count, size, hearthi_opt.heap >> 20);
    return bytes;
}

struct hearthi_allocation *
hearthi_alloc_take(size_t bytes, unsigned unit,
                   const struct hearthi_placing *to)
{
    struct hearthi_allocation *a;
    uint64_t                   reach;

    hearthi_table_lock();
    a = hearthi_home_take(bytes, unit, to);
    reach = hearthi_home_reach();
    hearthi_table_unlock();
    hearthi_transport->reach(reach);
    return a;
}

void *
hearthi_alloc_place(struct hearthi_allocation *a)
{
    hearthi_table_lock();
    hearthi_home_place(a);
    hearthi_sharer_flags_expect(a);
    hearthi_table_unlock();
    return hearthi_app(a->page);
}

void *
hearthi_alloc(size_t bytes, unsigned unit, const struct hearthi_placing *to)
{
    return hearthi_alloc_place(hearthi_alloc_take(bytes, unit, to));
}

void *
hearth_alloc(size_t count, size_t size, hearth_layout layout)
{
    HEARTHI_UNCANCELLED;
    static const char *const name[ARGS] = { "count",       "element size",
                                            "layout kind", "layout.pages",
                                            "layout.rank", "layout.clusters" };
    const uint64_t           args[ARGS] = { count,
                                            size,
                                            (uint64_t)layout.kind,
                                            layout.pages,
                                            (uint64_t)layout.rank,
                                            layout.clusters };
    unsigned                 unit = size % 8 == 0 ? 8 : size % 4 == 0 ? 4 : 1;

    hearthi_require_thread("hearth_alloc");
    hearthi_args_check("hearth_alloc", name, args);
    layout_check(layout);
    clusters_check(layout);
    return hearthi_alloc(size_check(count, size), unit,
                         &(struct hearthi_placing){ .layout = layout });
}

/* The list of allocations changes in collective calls only, of which there is
 * one at a time: so what is found stays. */
static struct hearthi_allocation *
allocation_of(const char *call, const char *maker, const void *p)
{
    struct hearthi_allocation *a;

    hearthi_table_lock();
    a = hearthi_home_find(p);
    hearthi_table_unlock();
    if (a == NULL)
        hearthi_fatal(call,
                      "%p is not what %s returned, or was freed before: free "
                      "each allocation once",
                      p, maker);
    return a;
}

/* Who uses a held page would go on with what others get next. */
static void
held_check(const char *call, const struct hearthi_allocation *a)
{
    uint64_t n = hearthi_pin_count_of(a->page, a->pages);

    if (n > 0)
        hearthi_fatal(call,
                      "%llu page%s of the allocation at %p %s held: call "
                      "hearth_drop first, when nobody uses them any more",
                      (unsigned long long)n, n == 1 ? "" : "s",
                      (void *)hearthi_app(a->page), n == 1 ? "is" : "are");
}

void
hearthi_free(const char *call, const char *maker, void *p)
{
    static const char *const   name[ARGS] = { "pointer" };
    const uint64_t             args[ARGS] = { (uintptr_t)p };
    struct hearthi_allocation *a;
    uint64_t                   start;

    if (p == NULL)
        return;
    a = allocation_of(call, maker, p);
    hearthi_args_check(call, name, args);
    hearthi_orphans_look();
    start = hearthi_time_begin();
    hearthi_barrier(false);
    hearthi_interval_begin(hearthi_time_end(barrier_ns, start), false);
    hearthi_table_lock();
    hearthi_in_flight_wait_for(a->page, a->pages);
    held_check(call, a);
    hearthi_sharer_flags_forget(a);
    hearthi_migrate_requests_forget(a->page, a->pages);
    hearthi_home_free(a);
    hearthi_table_unlock();
    hearthi_home_clear();
    /* Nobody uses a frame again before its home has cleared it and its flag.
     */
    hearthi_all_barrier(hearthi_requests_wait);
}

/* Programs ask ahead of each element, and most lie on the page of the one
 * before.  What is looked at without the lock may be old: it is a hint. */
static bool
is_on_a_page_here(const void *p, size_t bytes)
{
    uint64_t page;

    if (bytes == 0 || !hearthi_in_heap(p))
        return bytes == 0;
    page = hearthi_page_of(p);
    return hearthi_page_of((const char *)p + bytes - 1) == page &&
           __atomic_load_n(&hearthi_table.state[page], __ATOMIC_RELAXED) >
               HEARTHI_PREFETCHED;
}

static void
range_prefetch(const void *p, size_t bytes)
{
    HEARTHI_UNCANCELLED;
    uint64_t first, last, start;

    if (!hearthi_in_heap(p) || !hearthi_in_heap((const char *)p + bytes - 1))
        hearthi_fatal("hearth_prefetch", "%zu bytes at %p are not in the heap",
                      bytes, p);
    if (hearthi_opt.fetch_ahead == 0)
        return;
    first = hearthi_page_of(p);
    last = hearthi_page_of((const char *)p + bytes - 1);
    start = hearthi_time_begin();
    hearthi_table_lock();
    hearthi_fetch_range(first, last - first + 1, false);
    if (first == last)
        hearthi_state_note(first); /* the next one needs no lock */
    hearthi_table_unlock();
    hearthi_time_end(fault_ns, start);
}

void
hearth_prefetch(const void *p, size_t bytes)
{
    hearthi_require_thread("hearth_prefetch");
    if (!is_on_a_page_here(p, bytes))
        range_prefetch(p, bytes);
}

int
hearth_home(const void *p)
{
    int home;

    hearthi_require_up("hearth_home");
    if (!hearthi_in_heap(p))
        return -1;
    hearthi_table_lock();
    home = hearthi_home_of(hearthi_page_of(p));
    hearthi_table_unlock();
    return home;
}
