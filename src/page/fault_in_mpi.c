/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Faults of a thread that is inside a call of MPI, which cannot be entered
 * again.
 */
#include "config.h"

#include <sched.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/mpi_call.h"
#include "base/report.h"
#include "base/thread.h"
#include "copies.h"
#include "evict.h"
#include "fault.h"
#include "page.h"
#include "reuse_prefetch.h"
#include "uffd_pages.h"

enum { PATIENCE_NS = 1000000000 };

/* Hearth's own thread looks after MPI for the program, which has not made the
 * call that it is in: so MPI runs functions of MPI_Op_create there. */
_Noreturn static void
inside_refuse(const void *addr, const char *why)
{
    if (hearthi_thread_is_own((int)syscall(SYS_gettid)))
        hearthi_fatal(
            "MPI_Op_create",
            "address %p of the heap was touched on Hearth's own thread by a "
            "function that MPI calls, %s: hold what it "
            "touches (hearth_hold) from before the operation to its end, or "
            "give it private memory",
            addr, why);
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

/* HEARTHI_HOME_OPEN and HEARTHI_HOME_DIRTY: another thread was faster. */
static void
inside_home(uint64_t page, bool write, enum hearthi_state state)
{
    if (state == HEARTHI_HOME_AWAY) {
        hearthi_home_back(page, write);
    } else if (state == HEARTHI_HOME_ARMED && write) {
        hearthi_list(page);
        hearthi_pages_set(page, 1, HEARTHI_HOME_DIRTY);
    }
}

/* MPI cannot be entered again, so what needs no message is all that can be
 * done: nothing is opened ahead, closed, or given up to make room. */
static bool
inside_serve(const void *addr, bool write)
{
    uint64_t           page = hearthi_page_of(addr);
    enum hearthi_state state = hearthi_state_of(page);

    switch (state) {
    case HEARTHI_UNUSED: return false;
    case HEARTHI_IN_FLIGHT:
    case HEARTHI_STALE_IN_FLIGHT: /* inside_lock has waited */
    case HEARTHI_INVALID:
        inside_refuse(addr, "where its page cannot be fetched");
    case HEARTHI_PREFETCHED:
        hearthi_reuse_prefetch_show(page, 1, write);
        break;
    case HEARTHI_CLEAN:
    case HEARTHI_DIRTY:
        if (write && state == HEARTHI_CLEAN)
            hearthi_copies_write(page, 1);
        else
            hearthi_uffd_pages_renew(page);
        break;
    default: inside_home(page, write, state);
    }
    return true;
}

bool
hearthi_fault_in_mpi(void *addr, bool write)
{
    bool known;

    inside_lock(addr);
    known = inside_serve(addr, write);
    hearthi_table_unlock();
    return known;
}
