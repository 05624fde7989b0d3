/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "heap.h"

#include <errno.h>
#include <fcntl.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "arena.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "world.h"

struct hearthi_heap hearthi_heap;

/* Candidates lie well above what brk and executables use and below where
 * Linux starts to place mappings on x86-64 and aarch64 (47 bits). */
#define CANDIDATE_FIRST ((uintptr_t)1 << 44)
#define CANDIDATE_STEP  ((uintptr_t)1 << 41)
enum { CANDIDATES = 48 };

/* A table of more than this is not worth its place in a core dump, where a
 * pipe (core_pattern) is given all the zeros of what was never touched. */
enum { DUMPED_TABLE = 64 << 20 };

void
hearthi_dump(void *at, size_t len, bool dumped)
{
    madvise(at, len, dumped ? MADV_DODUMP : MADV_DONTDUMP);
}

size_t
hearthi_machine_memory(void)
{
    return (size_t)sysconf(_SC_PHYS_PAGES) * (size_t)sysconf(_SC_PAGESIZE);
}

void *
hearthi_sparse(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);

    if (p == MAP_FAILED)
        hearthi_fatal("hearth_init",
                      "no address space for a table of %zu bytes (%s): lower "
                      "HEARTH_HEAP or HEARTH_CACHE",
                      bytes, strerror(errno));
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

/* A page that nobody has touched stays without memory. */
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

/* The first candidate that is free on every rank. */
static char *
reserve(size_t bytes)
{
    uintptr_t step = CANDIDATE_STEP;

    while (step < bytes)
        step *= 2;
    for (int i = 0; i < CANDIDATES; i++) {
        char *p = candidate_map(CANDIDATE_FIRST + (uintptr_t)i * step, bytes);
        int   mine = p != NULL;

        if (hearthi_collective_int(mine, MPI_LAND))
            return p;
        if (p != NULL)
            munmap(p, bytes);
    }
    return NULL;
}

static void
views_map(struct hearthi_heap *h)
{
    h->fd = memfd_create("hearth-cached", MFD_CLOEXEC);
    if (h->fd < 0 || ftruncate(h->fd, (off_t)h->bytes) != 0)
        hearthi_fatal("hearth_init",
                      "no file of HEARTH_HEAP=%zu bytes for cached copies "
                      "(%s): lower HEARTH_HEAP",
                      h->bytes, strerror(errno));
    h->cached = mmap(NULL, h->bytes, PROT_READ | PROT_WRITE,
                     MAP_SHARED | MAP_NORESERVE, h->fd, 0);
    if (h->cached == MAP_FAILED ||
        mmap(h->base, h->bytes, PROT_NONE,
             MAP_SHARED | MAP_NORESERVE | MAP_FIXED, h->fd, 0) == MAP_FAILED)
        hearthi_fatal("hearth_init",
                      "a heap of %zu bytes cannot be mapped twice (%s): "
                      "lower HEARTH_HEAP",
                      h->bytes, strerror(errno));
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

void
hearthi_heap_open(void)
{
    struct hearthi_heap *h = &hearthi_heap;

    page_settle();
    h->page = hearthi_opt.page_size;
    h->shift = (unsigned)__builtin_ctzll(h->page);
    h->arena = arenas_bytes(h) >> h->shift;
    h->bytes = (hearthi_opt.heap + h->page - 1) & ~(h->page - 1);
    h->bytes += h->arena << h->shift;
    h->pages = h->bytes >> h->shift;
    if ((h->base = reserve(h->bytes)) == NULL)
        hearthi_fatal("hearth_init",
                      "a heap of HEARTH_HEAP=%zu bytes cannot be reserved at "
                      "the same address on every rank: lower HEARTH_HEAP, or "
                      "raise the limit on address space (ulimit -v)",
                      h->bytes);
    views_map(h);
}

void
hearthi_heap_close(void)
{
    struct hearthi_heap *h = &hearthi_heap;

    munmap(h->base, h->bytes);
    munmap(h->cached, h->bytes);
    close(h->fd);
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
    const struct hearthi_heap *h = &hearthi_heap;
    void                      *want = hearthi_app(page);
    size_t                     len = count << h->shift;

    if (mmap(want, len, prot, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, h->fd,
             (off_t)(frame << h->shift)) != want)
        return errno;
    hearthi_dump(want, len, false);
    return 0;
}
