/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "address_bits.h"
#include "base/assert.h"
#include "base/min.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "memfile.h"
#include "segment.h"
#include "world.h"

struct hearthi_heap       hearthi_heap;
struct hearthi_heap_given hearthi_heap_given;

/* Candidates lie well above what brk and executables use and below where
 * Linux starts to place mappings: with addresses of 47 bits (x86-64, most
 * aarch64) from 16 TiB on, each 2 TiB above the one before, and with fewer
 * bits at the same parts of what there is. */
enum { CANDIDATES = 48, FIRST = 3, STEP = 6 };

/* A table of more than this is not worth its place in a core dump, where a
 * pipe (core_pattern) is given all the zeros of what was never touched. */
enum { DUMPED_TABLE = 64 << 20 };

void
hearthi_dump(void *at, size_t len, bool dumped)
{
    madvise(at, len, dumped ? MADV_DODUMP : MADV_DONTDUMP);
}

void
hearthi_addresses_short(const char *what, size_t bytes)
{
    const struct hearthi_heap *h = &hearthi_heap;
    const char                *why = strerror(errno);
    struct rlimit              most;
    char                       bound[64] = "";

    if (getrlimit(RLIMIT_AS, &most) == 0 && most.rlim_cur != RLIM_INFINITY)
        snprintf(bound, sizeof bound, "; the limit is %llu MiB: ulimit -v",
                 (unsigned long long)most.rlim_cur >> 20);
    hearthi_fatal(
        "hearth_init",
        "no addresses for %s of %zu MiB (%s%s; the kernel gives "
        "addresses of %u bits): HEARTH_HEAP=%zum "
        "and HEARTH_MALLOC=%zum for each of %d ranks take twice "
        "that, and HEARTH_HOME is as much again unless it is given: "
        "lower what is largest, or raise the limit (ulimit -v "
        "unlimited)",
        what, bytes >> 20, why, bound, h->bits, hearthi_opt.heap >> 20,
        (size_t)(h->arena << h->shift >> 20) / (size_t)hearthi_world.size,
        hearthi_world.size);
}

void *
hearthi_sparse(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        hearthi_addresses_short("a table", bytes);
    if (bytes > DUMPED_TABLE)
        hearthi_dump(p, bytes, false);
    return p;
}

void
hearthi_sparse_free(void *p, size_t bytes)
{
    if (p != NULL)
        munmap(p, bytes);
}

/* A page that was never touched stays without memory. */
static void
bytes_clear(char *p, char *end)
{
    for (; p < end; p++)
        if (*p != 0)
            *p = 0;
}

void
hearthi_sparse_clear(void *p, size_t bytes)
{
    uintptr_t page = (uintptr_t)sysconf(_SC_PAGESIZE);
    char     *from = p, *end = from + bytes;
    char     *first = (char *)(((uintptr_t)p + page - 1) & ~(page - 1));
    char     *last = (char *)((uintptr_t)end & ~(page - 1));

    if (first >= last ||
        madvise(first, (size_t)(last - first), MADV_DONTNEED) != 0)
        first = last = end; /* there is none, or it is locked */
    bytes_clear(from, first);
    bytes_clear(last, end);
}

static void *
candidate_map(uintptr_t at, size_t bytes)
{
    void *p =
        mmap((void *)at, bytes, PROT_NONE,
             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE | MAP_FIXED_NOREPLACE,
             -1, 0);

    if (p == MAP_FAILED)
        return NULL;
    if (p != (void *)at) { /* a kernel before 4.17 takes it for a hint */
        munmap(p, bytes);
        return NULL;
    }
    return p;
}

/* Pages are numbered with 32 bits (option.c), those of all arenas too. */
static size_t
arenas_bytes(const struct hearthi_heap *h)
{
    uint64_t mine = hearthi_arena_most(), each = mine;
    size_t   ranks = (size_t)hearthi_world.size;
    size_t   most = (size_t)(UINT32_MAX - 1) << h->shift;

    if (hearthi_heap_given.is)
        return (size_t)hearthi_heap_given.arenas << h->shift;
    if (hearthi_world.gather != NULL) /* clusters may be of different kinds */
        hearthi_all_reduce(&mine, &each, 1, MPI_UINT64_T, MPI_MIN,
                           hearthi_collective_wait);
    if (each > (most - hearthi_opt.heap) / ranks)
        hearthi_fatal("hearth_init",
                      "HEARTH_MALLOC=%zu for each of %zu ranks does not fit "
                      "beside HEARTH_HEAP=%zu: lower one, or raise "
                      "HEARTH_PAGE_SIZE",
                      (size_t)each, ranks, hearthi_opt.heap);
    return each * ranks;
}

/* ThreadSanitizer allows few addresses: on x86-64 those from here on, up to
 * where Linux puts executables (366 GiB further, or above, as it draws). */
static uintptr_t
candidate_first(uintptr_t usual)
{
    return hearthi_has_tsan() ? 0x550000000000 : usual;
}

/* These very addresses, where the pointers of the run before lead. */
static char *
again_reserve(size_t bytes)
{
    char *base = hearthi_heap_given.base;
    bool  free = candidate_map((uintptr_t)base, bytes) != NULL;

    if (hearthi_collective_int(free, MPI_LAND))
        return base;
    if (hearthi_collective_first(!free, hearthi_cluster.comm) !=
        hearthi_cluster.rank)
        hearthi_end_wait();
    hearthi_fatal("hearth_init",
                  "the %zu MiB from %p on, where the heap was that is to be "
                  "restarted, are taken on this rank, or are more addresses "
                  "than it may have: link the program with fewer libraries "
                  "that map memory there, or raise the limit (ulimit -v "
                  "unlimited)",
                  bytes >> 20, (void *)base);
}

/* The first candidate that is free on every rank. */
static char *
reserve(size_t bytes)
{
    unsigned  bits = hearthi_heap.bits;
    uintptr_t first = candidate_first((uintptr_t)1 << (bits - FIRST));
    uintptr_t step = (uintptr_t)1 << (bits - STEP);

    if (hearthi_heap_given.is)
        return again_reserve(bytes);
    while (step < bytes)
        step *= 2;
    for (int i = 0; i < CANDIDATES; i++) {
        char *p = candidate_map(first + (uintptr_t)i * step, bytes);
        int   mine = p != NULL;

        if (hearthi_collective_int(mine, MPI_LAND))
            return p;
        if (p != NULL)
            munmap(p, bytes);
    }
    errno = ENOMEM;
    return NULL;
}

static void
views_map(struct hearthi_heap *h)
{
    const char *why;

    h->fd = hearthi_memfile("hearth-cached", h->bytes, &why);
    if (h->fd < 0)
        hearthi_fatal("hearth_init",
                      "no file of %zu MiB for cached copies of a heap as "
                      "large: %s",
                      h->bytes >> 20, why);
    h->cached = mmap(NULL, h->bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE, h->fd, 0);
    if (h->cached == MAP_FAILED ||
        mmap(h->base, h->bytes, PROT_NONE,
             MAP_SHARED | MAP_NORESERVE | MAP_FIXED, h->fd, 0) == MAP_FAILED)
        hearthi_addresses_short("the second view of a heap", h->bytes);
    hearthi_dump(h->cached, h->bytes, false);
    hearthi_dump(h->base, h->bytes, false);
}

static void
page_settle(void)
{
    char why[256];

    if (hearthi_options_page(&hearthi_opt, (size_t)hearthi_cluster.system_page,
                             why, sizeof why))
        return;
    if (hearthi_cluster.rank != 0)
        hearthi_end_wait();
    hearthi_fatal("hearth_init", "%s", why);
}

/* What all ranks have: their kernels may differ. */
static void
addresses_settle(struct hearthi_heap *h)
{
    uint64_t least[2], mine[2] = { hearthi_address_bits() };

    mine[1] =
        hearthi_heap_default((unsigned)mine[0], hearthi_cluster.node_size);
    hearthi_all_reduce(mine, least, 2, MPI_UINT64_T, MPI_MIN,
                       hearthi_collective_wait);
    h->bits = (unsigned)least[0];
    if (hearthi_opt.heap == 0)
        hearthi_opt.heap = least[1] > h->page ? (size_t)least[1] : h->page;
}

void
hearthi_heap_open(void)
{
    struct hearthi_heap *h = &hearthi_heap;

    page_settle();
    h->page = hearthi_opt.page_size;
    h->shift = (unsigned)__builtin_ctzll(h->page);
    addresses_settle(h);
    h->arena = arenas_bytes(h) >> h->shift;
    h->bytes = (hearthi_opt.heap + h->page - 1) & ~(h->page - 1);
    h->bytes += h->arena << h->shift;
    h->pages = h->bytes >> h->shift;
    if ((h->base = reserve(h->bytes)) == NULL)
        hearthi_addresses_short("a heap, the same on every rank,", h->bytes);
    views_map(h);
}

void
hearthi_heap_close(void)
{
    struct hearthi_heap *h = &hearthi_heap;

    munmap(h->base, h->bytes);
    munmap(h->cached, h->bytes);
    hearthi_memfile_close(h->fd);
    memset(h, 0, sizeof *h);
}

void
hearthi_populate(void *at, size_t len, bool write)
{
#ifdef MADV_POPULATE_WRITE
    madvise(at, len, write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
#else
    (void)at, (void)len, (void)write;
#endif
}

int
hearthi_heap_show(uint64_t page, uint64_t count, uint64_t frame, int prot)
{
    HEARTHI_ASSERT(count > 0 && page + count <= hearthi_heap.pages);
    HEARTHI_ASSERT(frame + count <= hearthi_heap.pages);
    const struct hearthi_heap *h = &hearthi_heap;
    void                      *want = hearthi_app(page);
    size_t                     len = count << h->shift;

    hearthi_memfile_check(h->fd);
    if (mmap(want, len, prot, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, h->fd,
             (off_t)(frame << h->shift)) != want)
        return errno;
    hearthi_dump(want, len, false);
    return 0;
}
