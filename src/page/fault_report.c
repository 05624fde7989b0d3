/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is said of a fault that no page can end: addresses in no allocation,
 * and home memory that cannot be had, which is SIGBUS.
 *
 * hearth_alloc counts no memory, since many programs touch a part of what they
 * allocate.  A page gets memory from the thread that touches it first: the
 * program, at the heap's address, or a thread of the library that stores there
 * for another rank, at the system view's.  Where /dev/shm is full, or the
 * kernel promises no more than it has (vm.overcommit_memory=2), that is
 * SIGBUS.  A machine or a control group that runs out kills a process instead,
 * and no line can be printed.
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
#include "fault_arch.h"
#include "page.h"
#include "space/segment.h"

/* ---- home memory that cannot be had ---- */

static pid_t owner; /* not what fork() makes of this process */

/* How far into the memory that a rank of the node shares. */
static size_t
offset_in(const char *at, int node_rank)
{
    return (size_t)(at - hearthi_segments.base[node_rank]);
}

/* The rank of the node in whose memory an address lies, or -1. */
static int
segment_of(const char *at)
{
    for (int r = 0; r < hearthi_cluster.node_size; r++)
        if (offset_in(at, r) < hearthi_segments.bytes)
            return r;
    return -1;
}

static bool
is_ours(const char *at)
{
    return hearthi_in_heap(at) ||
           (size_t)(at - hearthi_heap.cached) < hearthi_heap.bytes ||
           segment_of(at) >= 0;
}

/* Which page is at an address: HEARTHI_NO_PAGE for memory of ours that belongs
 * to none. */
static uint64_t
page_at(const char *at)
{
    const size_t first = hearthi_segments.frames_at;
    int          r = segment_of(at);

    if (hearthi_in_heap(at))
        return hearthi_page_of(at);
    if (r < 0 || offset_in(at, r) < first)
        return HEARTHI_NO_PAGE;
    return hearthi_page_in(r,
                           (offset_in(at, r) - first) >> hearthi_heap.shift);
}

/* What transports and MPI share lies in /dev/shm, too. */
static bool
is_shared(void)
{
    struct statvfs shm;

    return hearthi_segments_in_shm() && statvfs("/dev/shm", &shm) == 0 &&
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

    if (hearthi_segments_in_shm() && statvfs("/dev/shm", &shm) == 0)
        hearthi_fatal(call,
                      "no memory for %s: /dev/shm has %zu MiB, of which %zu "
                      "KiB are left: touch less of it, " HEARTHI_SHM_REMEDY,
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
    char what[160];

    if (info->si_code != BUS_ADRERR || getpid() != owner ||
        !(is_ours(info->si_addr) || is_shared()))
        return;
    page_describe(hearthi_table_seize() ? page_at(info->si_addr)
                                        : HEARTHI_NO_PAGE,
                  what, sizeof what);
    memory_short(hearthi_in_heap(info->si_addr) ? "page fault" : "home memory",
                 what);
}

/* ---- addresses in no allocation ---- */

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

/* What other ranks have at an address is not known, and this one may have
 * memory of its own there: the line says what follows if the pointer came from
 * the heap. */
static void
stranger_describe(const char *addr, const char *there)
{
    hearthi_warn("segmentation fault",
                 "address %p is not in the heap, and %s: if it was read from "
                 "the heap, it is private memory of the rank that stored it "
                 "(a stack, malloc, std::string): store offsets or addresses "
                 "of the heap (hearth_malloc)",
                 (const void *)addr, there);
}

static const char *
forbidden(const void *addr, const void *context)
{
    if (hearthi_fault_jumps(context, addr))
        return "what this rank has there cannot be run";
    return hearthi_fault_writes(context, 1)
               ? "what this rank has there may not be written"
               : "what this rank has there may not be read";
}

/* Close to 0 it is a NULL pointer's. */
void
hearthi_stranger_tell(const siginfo_t *info, const void *context)
{
    enum { NEAR_NULL = 1 << 20 };
    static volatile bool told;

    if (told || hearthi_in_heap(info->si_addr) ||
        (uintptr_t)info->si_addr < NEAR_NULL)
        return;
    if (info->si_code != SEGV_MAPERR && info->si_code != SEGV_ACCERR)
        return;
    told = true;
    stranger_describe(info->si_addr, info->si_code == SEGV_MAPERR
                                         ? "nothing is there on this rank"
                                         : forbidden(info->si_addr, context));
}
