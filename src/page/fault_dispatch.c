/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "fault_dispatch.h"

#include <sched.h>
#include <sys/mman.h>
#include <unistd.h>

#include "altstack.h"
#include "base/report.h"
#include "fault.h"
#include "fault_arch.h"
#include "space/heap.h"
#include "uffd_pages.h"

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

static bool
page_serve(void *addr, const void *context, bool on_stack)
{
    if (is_orphan()) {
        hearthi_warn("segmentation fault",
                     "a child of fork() touched %p, which it cannot: it has "
                     "the pages that were here, to read: touch them before "
                     "fork()",
                     addr);
        return false;
    }
    if (hearthi_fault_jumps(context, addr)) {
        hearthi_warn("segmentation fault",
                     "a jump to %p, which is in the heap: what is there "
                     "cannot be run: see the pointer to a function that led "
                     "there",
                     addr);
        return false;
    }
    if (on_stack)
        hearthi_altstack_check(context);
    if (hearthi_fault(addr, hearthi_fault_writes(context)))
        return true;
    hearthi_fault_describe(addr);
    return false;
}

enum { TRIES = 100 };

/* How often this thread has faulted at an address since it last had another
 * fault. */
static _Thread_local struct {
    const void *at;
    int         n;
} tried;

/* SIGBUS comes for pages that are watched, and for memory that cannot be had,
 * as where /dev/shm is full.  Another thread may have changed since the fault
 * what the page shows: so it is tried again, and is the program's only if it
 * comes again and again, with no other in between. */
static bool
again(const void *addr)
{
    if (tried.at != addr)
        tried.n = 0;
    tried.at = addr;
    sched_yield();
    return ++tried.n < TRIES;
}

bool
hearthi_fault_dispatch(const siginfo_t *info, const void *context,
                       bool on_stack)
{
    void *addr = info->si_addr;

    if (info->si_signo == SIGBUS && info->si_code != BUS_ADRERR)
        return false;
    if (info->si_signo == SIGBUS && !is_orphan() &&
        !hearthi_is_uffd_page(hearthi_page_of(addr)))
        return again(addr);
    tried.at = NULL;
    return page_serve(addr, context, on_stack);
}
