/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A network card that cannot page, for a machine without one: it stands below
 * Hearth in MPI's profiling interface, loaded before the MPI library.
 *
 *     mpiexec -n 2 env LD_PRELOAD=tests/transport/mpi/.libs/registered.so \
 *         tests/litmus/litmus.mpi
 *
 * Every window made over a program's memory, and every buffer of Get and Put
 * from its first use on, is pinned as a driver would pin it, and stays so
 * until the window, or the last of them, is freed.  Pinned pages do not move.
 * So where the processor later finds another physical page at an address, the
 * card and the processor no longer mean the same memory: that ends the job.
 *
 * Shared memory only: private memory (stacks, malloc) is given back by the C
 * library, too, which every MPI knows how to deal with.
 *
 * REGISTERED_PROBE=yes says on stdout why it cannot work here, if so.
 */
#include <config.h>

#include <errno.h>
#include <fcntl.h>
#include <linux/io_uring.h>
#include <mpi.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <sys/uio.h>
#include <unistd.h>

enum { PAGE = 4096, WINDOWS = 4096, SLOTS = 1 << 22, RING = 16384 };

/* The library is compiled with hidden symbols, and not every mpi.h says that
 * its own are not. */
#define EXPORT __attribute__((visibility("default")))

#define PRESENT (UINT64_C(1) << 63)
#define SHARED  (UINT64_C(1) << 61) /* or of a file */
#define FRAME   ((UINT64_C(1) << 55) - 1)

/* Buffers, page by page: open addressing, since nothing may be allocated in
 * the handler of a fault. */
struct slot {
    uint64_t page, frame; /* number of the page, 0 if unused */
};

static struct window {
    MPI_Win   win;
    char     *base;
    size_t    bytes;
    int       ring;
    uint64_t *frame; /* of each page */
} window[WINDOWS];

static pthread_mutex_t lock = PTHREAD_MUTEX_INITIALIZER;
static struct slot    *slot;
static int             pagemap = -1;
static int             ring = -1; /* of buffers; older ones stay open, too */
static unsigned        ring_used, n_windows;
static size_t          bytes_now, bytes_most, buffers, checks;

/* For tests: bytes that are registered by windows now. */
EXPORT size_t registered_bytes(void);

size_t
registered_bytes(void)
{
    return bytes_now;
}

static _Noreturn void
fail(const char *what, const void *at)
{
    fprintf(stderr, "registered: %s at %p: %s\n", what, at, strerror(errno));
    fflush(stderr);
    PMPI_Abort(MPI_COMM_WORLD, 3);
    _exit(3);
}

/* ---- pinning ---- */

static int
ring_new(void)
{
    struct io_uring_params        params = { 0 };
    struct io_uring_rsrc_register sparse = { .nr = RING,
                                             .flags =
                                                 IORING_RSRC_REGISTER_SPARSE };
    int fd = (int)syscall(SYS_io_uring_setup, 1, &params);

    if (fd >= 0 && syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS2,
                           &sparse, sizeof sparse) < 0) {
        close(fd);
        return -1;
    }
    return fd;
}

static bool
pin(int fd, unsigned at, const void *base, size_t len)
{
    struct iovec                 v = { (void *)base, len };
    struct io_uring_rsrc_update2 update = { .offset = at,
                                            .data = (uintptr_t)&v,
                                            .nr = 1 };

    return syscall(SYS_io_uring_register, fd, IORING_REGISTER_BUFFERS_UPDATE,
                   &update, sizeof update) == 1;
}

/* What the page table says of a page; it is touched first, since a page that
 * is not mapped has no entry. */
static uint64_t
entry_of(const char *at)
{
    uint64_t entry = 0;

    (void)*(const volatile char *)at;
    if (pread(pagemap, &entry, sizeof entry,
              (off_t)((uintptr_t)at / PAGE * sizeof entry)) != sizeof entry ||
        !(entry & PRESENT))
        fail("no entry in /proc/self/pagemap", at);
    return entry;
}

/* Why this machine cannot run it, or NULL. */
static const char *
unable(void)
{
    static const char *why;
    char              *page;
    int                fd;

    if (pagemap >= 0 || why != NULL)
        return why;
    pagemap = open("/proc/self/pagemap", O_RDONLY | O_CLOEXEC);
    fd = ring_new();
    page = mmap(NULL, PAGE, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS,
                -1, 0);
    if (pagemap < 0)
        why = "no /proc/self/pagemap";
    else if (fd < 0)
        why = "io_uring registers no buffers";
    else if (page == MAP_FAILED || !pin(fd, 0, page, PAGE))
        why = "io_uring pins no shared memory";
    else if ((entry_of(page) & FRAME) == 0)
        why = "only root sees physical page numbers";
    close(fd);
    slot = mmap(NULL, SLOTS * sizeof *slot, PROT_READ | PROT_WRITE,
                MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    return why;
}

static __attribute__((constructor)) void
probe(void)
{
    if (getenv("REGISTERED_PROBE") == NULL)
        return;
    if (unable() != NULL)
        puts(unable());
    fflush(stdout);
    _exit(0);
}

static void
require(void)
{
    if (unable() != NULL)
        fail(unable(), NULL);
}

/* ---- checking ---- */

static void
compare(const char *what, const char *at, uint64_t frame)
{
    checks++;
    if ((entry_of(at) & FRAME) == frame)
        return;
    errno = EFAULT;
    fail(what, at);
}

static void
window_compare(const struct window *w)
{
    for (size_t i = 0; i < w->bytes / PAGE; i++)
        compare("a window's memory was given back or mapped anew while it was "
                "registered",
                w->base + i * PAGE, w->frame[i]);
}

static struct slot *
slot_of(uint64_t page)
{
    uint64_t i = page * UINT64_C(0x9e3779b97f4a7c15) >> 42;

    while (slot[i].page != 0 && slot[i].page != page)
        i = (i + 1) % SLOTS;
    return &slot[i];
}

static void
buffer_compare(const struct slot *s)
{
    compare("a buffer of Get or Put was given back or mapped anew while it "
            "was registered",
            (const char *)(s->page * PAGE), s->frame);
}

static void
buffer_add(struct slot *s, uint64_t page)
{
    const char *at = (const char *)(page * PAGE);
    uint64_t    entry = entry_of(at);

    if (!(entry & SHARED))
        return;
    if (ring < 0 || ring_used == RING) {
        ring = ring_new();
        ring_used = 0;
    }
    if (ring < 0 || !pin(ring, ring_used++, at, PAGE))
        fail("a buffer cannot be pinned", at);
    *s = (struct slot){ page, entry_of(at) & FRAME };
    buffers += PAGE;
}

/* A buffer is used: registered now, or still what was registered. */
static void
buffer(const void *base, int len)
{
    uint64_t first = (uintptr_t)base / PAGE;
    uint64_t last = ((uintptr_t)base + (size_t)len - 1) / PAGE;

    if (len <= 0)
        return;
    pthread_mutex_lock(&lock);
    require();
    for (uint64_t page = first; page <= last; page++) {
        struct slot *s = slot_of(page);

        if (s->page == 0)
            buffer_add(s, page);
        else
            buffer_compare(s);
    }
    pthread_mutex_unlock(&lock);
}

/* ---- windows ---- */

/* A card registers whole pages, and a driver faults all of them in. */
static void
window_add(MPI_Win win, void *base, size_t bytes)
{
    char        *from = (char *)((uintptr_t)base / PAGE * PAGE);
    size_t       len = ((char *)base + bytes - from + PAGE - 1) / PAGE * PAGE;
    const size_t most = (size_t)1 << 30;
    struct window *w = window;
    unsigned       n = 0;

    while (w < window + WINDOWS && w->base != NULL)
        w++;
    if (w == window + WINDOWS)
        fail("too many windows", base);
    *w = (struct window){ win, from, len, ring_new(),
                          malloc(len / PAGE * sizeof(uint64_t)) };
    if (w->ring < 0 || w->frame == NULL)
        fail("no memory for a window", base);
    for (size_t at = 0; at < len; at += most)
        if (!pin(w->ring, n++, from + at, len - at < most ? len - at : most))
            fail("a window cannot be pinned", from + at);
    for (size_t i = 0; i < len / PAGE; i++)
        w->frame[i] = entry_of(from + i * PAGE) & FRAME;
    n_windows++;
    bytes_now += len;
    bytes_most = bytes_now > bytes_most ? bytes_now : bytes_most;
}

static void
buffers_forget(void)
{
    for (size_t i = 0; i < SLOTS; i++)
        if (slot[i].page != 0)
            buffer_compare(&slot[i]);
    memset(slot, 0, SLOTS * sizeof *slot);
    close(ring);
    ring = -1;
}

static void
window_forget(MPI_Win win)
{
    for (struct window *w = window; w < window + WINDOWS; w++) {
        if (w->base == NULL || w->win != win)
            continue;
        window_compare(w);
        close(w->ring);
        free(w->frame);
        bytes_now -= w->bytes;
        w->base = NULL;
        if (--n_windows == 0)
            buffers_forget();
        return;
    }
}

/* ---- what MPI calls are ---- */

EXPORT int
MPI_Win_create(void *base, MPI_Aint size, int unit, MPI_Info info,
               MPI_Comm comm, MPI_Win *win)
{
    int code = PMPI_Win_create(base, size, unit, info, comm, win);

    if (code != MPI_SUCCESS || size == 0)
        return code;
    pthread_mutex_lock(&lock);
    require();
    window_add(*win, base, (size_t)size);
    pthread_mutex_unlock(&lock);
    return code;
}

EXPORT int
MPI_Win_free(MPI_Win *win)
{
    pthread_mutex_lock(&lock);
    window_forget(*win);
    pthread_mutex_unlock(&lock);
    return PMPI_Win_free(win);
}

/* All types are MPI_BYTE in Hearth. */
EXPORT int
MPI_Get(void *to, int n, MPI_Datatype type, int rank, MPI_Aint at, int m,
        MPI_Datatype there, MPI_Win win)
{
    buffer(to, n);
    return PMPI_Get(to, n, type, rank, at, m, there, win);
}

EXPORT int
MPI_Rget(void *to, int n, MPI_Datatype type, int rank, MPI_Aint at, int m,
         MPI_Datatype there, MPI_Win win, MPI_Request *request)
{
    buffer(to, n);
    return PMPI_Rget(to, n, type, rank, at, m, there, win, request);
}

EXPORT int
MPI_Put(const void *from, int n, MPI_Datatype type, int rank, MPI_Aint at,
        int m, MPI_Datatype there, MPI_Win win)
{
    buffer(from, n);
    return PMPI_Put(from, n, type, rank, at, m, there, win);
}

EXPORT int
MPI_Finalize(void)
{
    int rank;

    PMPI_Comm_rank(MPI_COMM_WORLD, &rank);
    fprintf(stderr,
            "registered: rank %d: windows of %zu KiB at once, buffers of %zu "
            "KiB, %zu pages compared\n",
            rank, bytes_most >> 10, buffers >> 10, checks);
    return PMPI_Finalize();
}
