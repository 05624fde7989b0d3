/* SPDX-License-Identifier: BSD-2-Clause
 *
 * SIGBUS: home memory that cannot be had.
 *
 * hearth_alloc counts no memory, since many programs touch a part of what they
 * allocate.  A page gets memory from whoever touches it first: the program, at
 * the heap's address, or a thread of the library that stores there for another
 * rank, at the system view's.  Where /dev/shm is full, or the kernel promises
 * no more than it has (vm.overcommit_memory=2), that is SIGBUS.  A machine or
 * a control group that runs out kills a process instead, and nobody is asked.
 *
 * The job is about to end, so the tables are read without their lock, which
 * this thread may hold.
 */
#include "config.h"

#include <signal.h>
#include <stdbool.h>
#include <stdio.h>
#include <string.h>
#include <sys/statvfs.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/report.h"
#include "cluster.h"
#include "fault.h"
#include "page.h"
#include "space/segment.h"

static pid_t owner; /* not what fork() makes of this process */

/* What is at an address: a page, HEARTHI_NO_PAGE for memory of ours that
 * belongs to none. */
static bool
is_ours(const char *at, uint64_t *page)
{
    const struct hearthi_segments *s = &hearthi_segments;

    *page = HEARTHI_NO_PAGE;
    if (hearthi_in_heap(at)) {
        *page = hearthi_page_of(at);
        return true;
    }
    for (int r = 0; r < hearthi_cluster.node_size; r++) {
        size_t offset = (size_t)(at - s->base[r]);

        if (offset >= s->bytes)
            continue;
        if (offset >= s->frames_at)
            *page = hearthi_page_in(r, (offset - s->frames_at) >>
                                           hearthi_heap.shift);
        return true;
    }
    return (size_t)(at - hearthi_heap.cached) < hearthi_heap.bytes;
}

/* What transports and MPI share lies in /dev/shm, too. */
static bool
is_shared(void)
{
    struct statvfs shm;

    return hearthi_cluster.node_size > 1 && statvfs("/dev/shm", &shm) == 0 &&
           shm.f_bavail == 0;
}

/* "page 7 of the allocation of 800 bytes at 0x... (number 3)" */
static void
page_describe(uint64_t page, char *text, size_t room)
{
    const struct hearthi_allocation *a =
        page == HEARTHI_NO_PAGE ? NULL : hearthi_allocation_of(page);

    if (a == NULL)
        snprintf(text, room, "what ranks of a node share");
    else if (page < hearthi_heap.arena)
        snprintf(text, room,
                 "what rank %d has for hearth_malloc (HEARTH_MALLOC)",
                 hearthi_home_of(page));
    else
        snprintf(text, room,
                 "page %llu, at home on rank %d, of the allocation of %zu "
                 "bytes at %p (number %llu)",
                 (unsigned long long)(page - a->page), hearthi_home_of(page),
                 a->bytes, (void *)hearthi_app(a->page),
                 (unsigned long long)a->number);
}

_Noreturn static void
memory_short(const char *call, const char *what)
{
    struct statvfs shm;
    struct sysinfo m;

    if (hearthi_cluster.node_size > 1 && statvfs("/dev/shm", &shm) == 0)
        hearthi_fatal(call,
                      "no memory for %s: /dev/shm has %zu MiB, of which %zu "
                      "KiB are left: touch less of it, enlarge /dev/shm "
                      "(mount -o remount,size=... /dev/shm), or do without it "
                      "(HEARTH_NODE_SIZE=1)",
                      what, (size_t)(shm.f_blocks * shm.f_frsize) >> 20,
                      (size_t)(shm.f_bavail * shm.f_frsize) >> 10);
    memset(&m, 0, sizeof m);
    sysinfo(&m);
    hearthi_fatal(call,
                  "no memory for %s: the machine has %llu MiB, of which %llu "
                  "MiB are free: touch less of it, or start fewer ranks a "
                  "machine",
                  what, (unsigned long long)m.totalram * m.mem_unit >> 20,
                  (unsigned long long)m.freeram * m.mem_unit >> 20);
}

void
hearthi_sigbus_open(void)
{
    owner = getpid();
}

/* BUS_ADRERR: nothing can be had; other codes are of addresses that are not
 * aligned, and of memory that is broken. */
void
hearthi_sigbus_tell(const siginfo_t *info)
{
    uint64_t page;
    char     what[160];

    if (info->si_code != BUS_ADRERR || getpid() != owner ||
        !(is_ours(info->si_addr, &page) || is_shared()))
        return;
    page_describe(page, what, sizeof what);
    memory_short(hearthi_in_heap(info->si_addr) ? "page fault" : "home memory",
                 what);
}
