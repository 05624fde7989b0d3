/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include <limits.h>
#include <string.h>
#include <unistd.h>

#include "api.h"
#include "base/cancel.h"
#include "base/hash.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "cluster.h"
#include "coherence/coherence.h"
#include "coherence/migrate_request.h"
#include "collective.h"
#include "front/direct.h"
#include "front/request_pins.h"
#include "hearth/hearth.h"
#include "home/home.h"
#include "life/collective_watch.h"
#include "page/copies.h"
#include "page/page.h"
#include "page/page_in_flight.h"
#include "page/pin_count.h"
#include "page/read_mostly.h"
#include "profile/allocations.h"
#include "profile/profile.h"
#include "races/race_history.h"
#include "report/race_report.h"
#include "transport/transport.h"
#include "world.h"

/* Least and largest of each argument over all ranks: x and ~x in one MIN, of
 * signed numbers in the order of the unsigned ones: MPICH 4.0.2 takes
 * MPI_UINT64_T for signed in MPI_MIN. */
enum { ARGS = HEARTHI_ARGS, CALL = ARGS, COMPARED };
static const uint64_t SIGN = UINT64_C(1) << 63;

static bool
args_agree(const uint64_t *mine, uint64_t *least, uint64_t *most)
{
    uint64_t both[2 * COMPARED], all[2 * COMPARED];

    for (int i = 0; i < COMPARED; i++) {
        both[i] = mine[i] ^ SIGN;
        both[COMPARED + i] = ~mine[i] ^ SIGN;
    }
    hearthi_all_reduce(both, all, 2 * COMPARED, MPI_INT64_T, MPI_MIN,
                       hearthi_requests_wait);
    for (int i = 0; i < COMPARED; i++) {
        least[i] = all[i] ^ SIGN;
        most[i] = ~(all[COMPARED + i] ^ SIGN);
    }
    return memcmp(least, most, COMPARED * sizeof *least) == 0;
}

/* All ranks have seen that they differ; rank 0 says so for all. */
static void
args_differ(const char *call, const char *const *name, const uint64_t *least,
            const uint64_t *most)
{
    int i = 0;

    if (hearthi_world.rank == 0 && least[CALL] != most[CALL])
        hearthi_fatal(call,
                      "another rank makes another call where this one makes "
                      "%s: make the same collective calls in the same order "
                      "on every rank",
                      call);
    while (i < ARGS && least[i] == most[i])
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
    uint64_t least[COMPARED], most[COMPARED], args[COMPARED] = { 0 };

    hearthi_collective_watch_begin(call, name[1] != NULL ? 2 : 1, mine[0],
                                   mine[1]);
    memcpy(args, mine, ARGS * sizeof *args);
    args[CALL] = hearthi_hash_text(HEARTHI_HASH, call);
    if (hearthi_world.size > 1 && !args_agree(args, least, most))
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
    if (hearthi_profile != NULL || hearthi_races != NULL)
        hearthi_allocations_add(hearthi_app(a->page), a->bytes, a->number);
    hearthi_transport->collective.expose(reach);
    hearthi_collective_watch_end();
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
    void                    *p;

    hearthi_require_thread("hearth_alloc");
    hearthi_args_check("hearth_alloc", name, args);
    layout_check(layout);
    clusters_check(layout);
    p = hearthi_alloc(size_check(count, size), unit,
                      &(struct hearthi_placing){ .layout = layout });
    if (hearthi_races != NULL)
        hearthi_allocations_element(p, size);
    return p;
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

/* A user of a pinned page would go on with what others get next. */
static void
held_check(const char *call, const struct hearthi_allocation *a)
{
    uint64_t n = hearthi_pin_count_of(a->page, a->pages);

    if (n > 0)
        hearthi_fatal(
            call,
            "%llu page%s of the allocation at %p %s held: call "
            "hearth_drop first, when no operation uses them any more",
            (unsigned long long)n, n == 1 ? "" : "s",
            (void *)hearthi_app(a->page), n == 1 ? "is" : "are");
}

static int
home_of(uint64_t page)
{
    return hearthi_home_of(page);
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
    hearthi_orphans_settle();
    start = hearthi_time_begin();
    hearthi_barrier(false);
    if (hearthi_races != NULL)
        hearthi_races_look(); /* as long as the allocation is known */
    hearthi_interval_begin(hearthi_time_end(barrier_ns, start), false);
    hearthi_table_lock();
    hearthi_in_flight_wait_for(a->page, a->pages);
    held_check(call, a);
    if (hearthi_profile != NULL)
        hearthi_profile_homes(a->page, a->pages, home_of);
    hearthi_sharer_flags_forget(a);
    hearthi_read_mostly_forget(a->page, a->pages);
    hearthi_migrate_requests_forget(a->page, a->pages);
    hearthi_home_free(a);
    hearthi_table_unlock();
    hearthi_home_clear();
    /* No rank uses a frame again before its home has cleared it and its flag.
     */
    hearthi_all_barrier(hearthi_requests_wait);
    hearthi_collective_watch_end();
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
