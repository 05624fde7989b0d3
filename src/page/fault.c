/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a fault does.  The aim is fewer of them: pages are fetched and opened
 * ahead (stride_prefetch.h), and a page that was written in the interval
 * before is opened at once.
 */
#include "config.h"

#include "fault.h"

#include <sched.h>

#include "base/cancel.h"
#include "base/clock.h"
#include "base/mpi_call.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "copies.h"
#include "evict.h"
#include "fetch.h"
#include "frames.h"
#include "overwrite.h"
#include "page.h"
#include "page_in_flight.h"
#include "policy/stride_prefetch.h"
#include "reuse_prefetch.h"
#include "uffd_pages.h"
#include "world.h"

/* Open the page and, in a sequence of such faults, those behind it that are
 * in the same state. */
static void
fault_write(uint64_t page, enum hearthi_state state)
{
    struct hearthi_stride *s =
        hearthi_stride_prefetch_find(HEARTHI_WRITES, page);
    uint64_t n = 1;

    if (s->stride == 1)
        n = hearthi_run_length(page, s->step, state);
    else if (s->stride == -1)
        n = hearthi_run_before(page, s->step, state);
    hearthi_stride_prefetch_took(s, page, n);
    if (s->stride == -1)
        page -= n - 1;
    if (state == HEARTHI_CLEAN) {
        hearthi_copies_write(page, n);
        if (n > 1)
            hearthi_populate(hearthi_app(page), n << hearthi_heap.shift, true);
        hearthi_stride_prefetch_opened(s, page, n);
        return;
    }
    for (uint64_t p = page; p < page + n; p++)
        hearthi_list(p);
    hearthi_pages_set(page, n, HEARTHI_HOME_DIRTY);
}

/* Open a page that will be overwritten, and in a sequence of such faults those
 * behind it; false if it is none.  What makes room may evict others only. */
static bool
fault_overwrite(uint64_t page, enum hearthi_state state)
{
    struct hearthi_stride *s;
    uint64_t               n;

    if (hearthi_overwrite_run(page, 1) == 0)
        return false;
    s = hearthi_stride_prefetch_find(HEARTHI_WRITES, page);
    n = s->stride == 1 ? hearthi_run_length(page, s->step, state) : 1;
    n = hearthi_overwrite_run(page, n);
    if (state == HEARTHI_INVALID) {
        hearthi_copies_reserve(n);
        n = hearthi_frames_take(page, n);
    }
    hearthi_stride_prefetch_took(s, page, n);
    hearthi_overwrite_open(page, n);
    hearthi_stride_prefetch_opened(s, page, n);
    return true;
}

static void
fault_fetch(uint64_t page, bool write)
{
    if (write && fault_overwrite(page, HEARTHI_INVALID))
        return;
    hearthi_fetch_fault(page, write, false);
    if (hearthi_state_of(page) == HEARTHI_INVALID)
        hearthi_fetch_fault(page, write, true);
}

/* For so many fetches of others a fault waits: each may be a second. */
enum { MATES = 3 };

/* This page is on its way, to this rank or to another of its node. */
static bool
fault_wait(uint64_t page, bool write, int *mates)
{
    if (hearthi_is_in_flight(hearthi_table.state[page])) {
        hearthi_in_flight_wait();
        return true;
    }
    if (*mates == 0 || (write && hearthi_overwrite_run(page, 1) > 0))
        return false;
    --*mates;
    return hearthi_fetch_await(page);
}

/* The state may have changed between the fault and the lock, by another
 * thread, and again by making room: look once all that is done. */
static bool
fault_serve(uint64_t page, bool write)
{
    int mates = MATES;

    while (fault_wait(page, write, &mates))
        ;
    hearthi_copies_reserve(1);
    switch (hearthi_state_of(page)) {
    case HEARTHI_UNUSED: return false;
    case HEARTHI_IN_FLIGHT:
    case HEARTHI_STALE_IN_FLIGHT: break; /* it cannot have come to that */
    case HEARTHI_INVALID: fault_fetch(page, write); break;
    case HEARTHI_PREFETCHED:
        if (!write || !fault_overwrite(page, HEARTHI_PREFETCHED))
            hearthi_reuse_prefetch_touch(page, write);
        break;
    case HEARTHI_CLEAN:
        if (!write)
            hearthi_uffd_pages_renew(page);
        else if (!fault_overwrite(page, HEARTHI_CLEAN))
            fault_write(page, HEARTHI_CLEAN);
        break;
    case HEARTHI_HOME_ARMED:
        if (write)
            fault_write(page, HEARTHI_HOME_ARMED);
        break;
    case HEARTHI_HOME_AWAY: hearthi_home_back(page, write); break;
    case HEARTHI_DIRTY: hearthi_uffd_pages_renew(page); break;
    case HEARTHI_HOME_OPEN:
    case HEARTHI_HOME_DIRTY: break; /* another thread was faster */
    }
    return true;
}

/* ---- inside a call of MPI ---- */

enum { PATIENCE_NS = 1000000000 };

_Noreturn static void
inside_refuse(const void *addr, const char *why)
{
    hearthi_fatal(
        hearthi_mpi_call,
        "address %p of the heap was touched inside the call, %s: "
        "hold what it touches (hearth_hold) before the call, or give "
        "it private memory",
        addr, why);
}

/* What was begun in advance comes no sooner for waiting: only MPI ends it. */
static bool
is_on_its_way(const void *addr)
{
    uint64_t page = hearthi_page_of(addr);

    return hearthi_is_in_flight(hearthi_table.state[page]) &&
           !hearthi_reuse_prefetch_brings(page);
}

/* Another thread may hold the lock, or fetch the page, and wait for MPI, which
 * waits for this one. */
static void
inside_lock(const void *addr)
{
    uint64_t until = hearthi_now() + PATIENCE_NS;

    for (;;) {
        bool mine = hearthi_table_trylock();

        if (mine && !is_on_its_way(addr))
            return;
        if (mine)
            hearthi_table_unlock();
        if (hearthi_now() > until)
            inside_refuse(addr, "while another thread was in a page fault");
        sched_yield();
    }
}

/* MPI cannot be entered again, so what needs no message is all that can be
 * done: nothing is opened ahead, closed, or given up to make room. */
static bool
inside_serve(const void *addr, bool write)
{
    uint64_t page = hearthi_page_of(addr);

    switch (hearthi_state_of(page)) {
    case HEARTHI_UNUSED: return false;
    case HEARTHI_IN_FLIGHT:
    case HEARTHI_STALE_IN_FLIGHT: /* inside_lock has waited */
    case HEARTHI_INVALID:
        inside_refuse(addr, "where its page cannot be fetched");
    case HEARTHI_PREFETCHED:
        hearthi_reuse_prefetch_show(page, 1, write);
        break;
    case HEARTHI_CLEAN:
        if (write)
            hearthi_copies_write(page, 1);
        else
            hearthi_uffd_pages_renew(page);
        break;
    case HEARTHI_HOME_ARMED:
        if (write) {
            hearthi_list(page);
            hearthi_pages_set(page, 1, HEARTHI_HOME_DIRTY);
        }
        break;
    case HEARTHI_HOME_AWAY: hearthi_home_back(page, write); break;
    case HEARTHI_DIRTY: hearthi_uffd_pages_renew(page); break;
    case HEARTHI_HOME_OPEN:
    case HEARTHI_HOME_DIRTY: break; /* another thread was faster */
    }
    return true;
}

/* ---- anywhere ---- */

static bool
locked_serve(void *addr, bool write)
{
    bool known;

    if (hearthi_mpi_call != NULL &&
        hearthi_opt.transport == HEARTHI_TRANSPORT_MPI) {
        inside_lock(addr);
        known = inside_serve(addr, write);
    } else {
        hearthi_table_lock();
        known = fault_serve(hearthi_page_of(addr), write);
    }
    hearthi_table_unlock();
    return known;
}

bool
hearthi_fault(void *addr, bool write)
{
    HEARTHI_UNCANCELLED;
    uint64_t start = hearthi_time_begin();
    bool     known;

    if (!hearthi_world.multiple &&
        hearthi_thread() != hearthi_world.main_thread)
        hearthi_fatal("page fault",
                      "address %p was touched by a thread other than the one "
                      "that called hearth_init: initialise MPI with "
                      "MPI_THREAD_MULTIPLE",
                      addr);
    known = locked_serve(addr, write);
    if (known) {
        if (write)
            hearthi_count(write_faults, 1);
        else
            hearthi_count(read_faults, 1);
    }
    hearthi_time_end(fault_ns, start);
    return known;
}

/* ---- nowhere ---- */

bool (*hearthi_nearest)(const void *addr, const void **base, size_t *bytes);

void
hearthi_fault_describe(const void *addr)
{
    const char *at = addr;
    const void *base;
    size_t      bytes;

    if (hearthi_nearest == NULL || !hearthi_nearest(addr, &base, &bytes))
        hearthi_warn("segmentation fault",
                     "address %p is in the heap, but nothing is allocated",
                     addr);
    else if (at < (const char *)base)
        hearthi_warn("segmentation fault",
                     "address %p lies %zu bytes before the allocation of %zu "
                     "bytes at %p: see the index or pointer that led there",
                     addr, (size_t)((const char *)base - at), bytes, base);
    else
        hearthi_warn("segmentation fault",
                     "address %p lies %zu bytes beyond the end of the "
                     "allocation of %zu bytes at %p: see the index or pointer "
                     "that led there",
                     addr, (size_t)(at - (const char *)base) - bytes, bytes,
                     base);
}
