/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a fault in the heap is, a page that is to be brought or the program's
 * mistake, and what it does.  The aim is fewer of them: pages are fetched and
 * opened ahead (policy/stride_prefetch.h), and a page that was written in the
 * interval before is opened at once.
 */
#include "config.h"

#include "fault.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/assert.h"
#include "base/mpi_call.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "base/timing.h"
#include "copies.h"
#include "evict.h"
#include "fault_arch.h"
#include "fetch.h"
#include "fork_child.h"
#include "frames.h"
#include "overwrite.h"
#include "page.h"
#include "page_in_flight.h"
#include "policy/stride_prefetch.h"
#include "profile/profile.h"
#include "reuse_prefetch.h"
#include "space/foreign.h"
#include "twins.h"
#include "uffd_pages.h"
#include "world.h"

/* Open the page and, in a sequence of such faults, those behind it that are
 * in the same state. */
static void
fault_write(uint64_t page, enum hearthi_state state)
{
    struct hearthi_stride *s = hearthi_stride_prefetch_find(
        HEARTHI_WRITES, page, hearthi_copies_most());
    uint64_t n = 1;

    if (s->stride == 1)
        n = hearthi_run_length(page, s->step, state);
    else if (s->stride == -1)
        n = hearthi_run_before(page, s->step, state);
    if (state == HEARTHI_CLEAN && hearthi_twins_short(n))
        n = 1;
    hearthi_stride_prefetch_took(s, page, n);
    if (s->stride == -1)
        page -= n - 1;
    if (state == HEARTHI_CLEAN) {
        hearthi_copies_write(page, n);
        if (n > 1)
            hearthi_populate(hearthi_app(page), n << hearthi_heap.shift, true);
        hearthi_copies_opened(s, page, n);
        return;
    }
    HEARTHI_ASSERT(state == HEARTHI_HOME_ARMED);
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
    s = hearthi_stride_prefetch_find(HEARTHI_WRITES, page,
                                     hearthi_copies_most());
    n = s->stride == 1 ? hearthi_run_length(page, s->step, state) : 1;
    n = hearthi_overwrite_run(page, n);
    if (state == HEARTHI_INVALID) {
        hearthi_copies_reserve(n);
        n = hearthi_frames_take(page, n);
    }
    hearthi_stride_prefetch_took(s, page, n);
    hearthi_overwrite_open(page, n);
    hearthi_copies_opened(s, page, n);
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
enum { NODE_WAITS = 3 };

/* This page is on its way, to this rank or to another of its node. */
static bool
fault_wait(uint64_t page, bool write, int *node_waits)
{
    if (hearthi_is_in_flight(hearthi_table.state[page])) {
        hearthi_in_flight_wait();
        return true;
    }
    if (*node_waits == 0 || (write && hearthi_overwrite_run(page, 1) > 0))
        return false;
    --*node_waits;
    return hearthi_fetch_await(page);
}

static void
fault_copy(uint64_t page, bool write, enum hearthi_state state)
{
    if (write && fault_overwrite(page, state))
        return;
    if (state == HEARTHI_PREFETCHED)
        hearthi_reuse_prefetch_touch(page, write);
    else if (write)
        fault_write(page, state);
    else
        hearthi_uffd_pages_renew(page);
}

/* HEARTHI_HOME_OPEN and HEARTHI_HOME_DIRTY: another thread was faster. */
static void
fault_home(uint64_t page, bool write, enum hearthi_state state)
{
    if (state == HEARTHI_HOME_AWAY)
        hearthi_home_back(page, write);
    else if (state == HEARTHI_HOME_ARMED && write)
        fault_write(page, state);
}

/* The state may have changed between the fault and the lock, by another
 * thread, and again by making room: look once all that is done. */
static bool
fault_serve(uint64_t page, bool write)
{
    int                node_waits = NODE_WAITS;
    enum hearthi_state state;

    while (fault_wait(page, write, &node_waits))
        ;
    hearthi_copies_reserve(1);
    state = hearthi_state_of(page);
    HEARTHI_ASSERT(!hearthi_is_in_flight(state));
    switch (state) {
    case HEARTHI_UNUSED: return false;
    case HEARTHI_INVALID: fault_fetch(page, write); break;
    case HEARTHI_PREFETCHED:
    case HEARTHI_CLEAN: fault_copy(page, write, state); break;
    case HEARTHI_DIRTY: hearthi_uffd_pages_renew(page); break;
    default: fault_home(page, write, state);
    }
    return true;
}

static bool
locked_serve(void *addr, bool write)
{
    bool known;

    if (hearthi_mpi_call != NULL &&
        hearthi_opt.transport == HEARTHI_TRANSPORT_MPI)
        return hearthi_fault_in_mpi(addr, write);
    hearthi_table_lock();
    known = fault_serve(hearthi_page_of(addr), write);
    hearthi_table_unlock();
    return known;
}

/* Serve a fault; false if the address is in no allocation. */
static bool
page_fault(void *addr, bool write, const void *context)
{
    uint64_t start = hearthi_time_begin(), ns;
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
    ns = hearthi_time_end(fault_ns, start) - start; /* inside a call it is 0 */
    if (write)
        hearthi_count(write_fault_ns, ns);
    if (hearthi_profile != NULL && known)
        hearthi_profile_fault(hearthi_fault_at(context),
                              hearthi_fault_stack(context), addr, write, ns);
    return known;
}

/* ---- which faults are a page's ---- */

static char *alive; /* 0 in a process that fork(2) has made */

/* However it was made, past the C library, too: it has the descriptor of
 * userfaultfd, by which it would change its parent's pages. */
void
hearthi_fault_dispatch_open(void)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);

    alive = hearthi_sparse(page);
    *alive = 1;
    madvise(alive, page, MADV_WIPEONFORK);
}

void
hearthi_fault_dispatch_forked(void)
{
    *alive = 0;
}

void
hearthi_fault_dispatch_close(void)
{
    hearthi_sparse_free(alive, (size_t)sysconf(_SC_PAGESIZE));
}

static bool
is_orphan(void)
{
    return *alive == 0;
}

/* Faults of this thread at one address, with no other of that kind between. */
struct row {
    const void *at;
    unsigned    n;
};

/* Initial-exec: reading them in a signal handler must not allocate. */
static _Thread_local
    __attribute__((tls_model("initial-exec"))) struct row same,
    tried;

static unsigned
row_add(struct row *r, const void *addr)
{
    if (r->at != addr)
        r->n = 0;
    r->at = addr;
    return ++r->n;
}

/* A fault that comes again and again at one address: a program that waits for
 * a word to change may have as many.  But if it has mapped something else over
 * the page, nothing that Hearth does would end that, and this looks for it,
 * ever more rarely.  Returns which of them it is. */
static unsigned
again_look(const void *addr)
{
    enum { FIRST = 1024 };
    unsigned n = row_add(&same, addr);

    if (n < FIRST || (n & (n - 1)) != 0)
        return n;
    hearthi_table_lock();
    hearthi_foreign_check("page fault");
    hearthi_table_unlock();
    return n;
}

static bool
child_page_serve(void *addr, const void *context)
{
    const char *why = "it may store nothing there";

    if (!hearthi_fault_writes(context, row_add(&same, addr)))
        why = hearthi_fork_page(hearthi_page_of(addr));
    if (why == NULL)
        return true;
    hearthi_warn("segmentation fault",
                 "a child of fork() touched %p, which it cannot: %s", addr,
                 why);
    return false;
}

/* Every page of the heap is mapped, if only to allow nothing. */
static bool
page_serve(void *addr, const void *context, bool is_unmapped)
{
    if (is_orphan())
        return child_page_serve(addr, context);
    if (is_unmapped)
        hearthi_fatal("page fault",
                      "%p is in the heap and no longer mapped: the program or "
                      "a library has called munmap() or mremap() on memory of "
                      "Hearth's; hearth_free() gives it back",
                      addr);
    if (hearthi_fault_jumps(context, addr)) {
        hearthi_warn("segmentation fault",
                     "a jump to %p, which is in the heap: what is there "
                     "cannot be run: see the pointer to a function that led "
                     "there",
                     addr);
        return false;
    }
    if (page_fault(addr, hearthi_fault_writes(context, again_look(addr)),
                   context))
        return true;
    hearthi_fault_describe(addr);
    return false;
}

enum { TRIES = 100 };

/* SIGBUS comes for pages that are watched, and for memory that cannot be had,
 * as where /dev/shm is full.  Another thread may have changed since the fault
 * what the page shows: so it is tried again, and is the program's only if it
 * comes again and again, with no other in between. */
static bool
again(const void *addr)
{
    sched_yield();
    return row_add(&tried, addr) < TRIES;
}

bool
hearthi_fault_dispatch(const siginfo_t *info, const void *context)
{
    void *addr = info->si_addr;

    if (info->si_signo == SIGBUS && info->si_code != BUS_ADRERR)
        return false;
    if (info->si_signo == SIGBUS && !is_orphan() &&
        !hearthi_is_uffd_page(hearthi_page_of(addr)))
        return again(addr);
    tried.at = NULL;
    return page_serve(addr, context,
                      info->si_signo == SIGSEGV &&
                          info->si_code == SEGV_MAPERR);
}
