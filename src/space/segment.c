/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "segment.h"

#include <errno.h>
#include <inttypes.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/min.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "files.h"
#include "front/direct.h"
#include "heap.h"
#include "memfile.h"
#include "world.h"

struct hearthi_segments hearthi_segments = { .fd = -1 };

bool hearthi_segments_sparse;

static bool    by_files;              /* of ranks of one node */
static MPI_Win window = MPI_WIN_NULL; /* of the node's segments */
static bool   *filled; /* its frames that are known to have memory */

/* Memory without a name, which /dev/shm does not bound. */
static bool
are_files(void)
{
    return by_files || (hearthi_opt.fabric == HEARTHI_FABRIC_SHM &&
                        hearthi_cluster.nodes > 1);
}

bool
hearthi_segments_in_shm(void)
{
    return hearthi_cluster.node_size > 1 && !are_files();
}

/* tmpfs promises more than it has, and a page beyond it is SIGBUS. */
static void
shm_check(size_t bytes)
{
    struct statvfs shm;
    size_t         want = bytes * (size_t)hearthi_cluster.machine_ranks;

    if (statvfs("/dev/shm", &shm) != 0)
        return;
    if (want > shm.f_bavail * shm.f_frsize)
        hearthi_fatal("hearth_init",
                      "the segments of %d ranks (HEARTH_HOME, HEARTH_MALLOC) "
                      "want %zu MiB, and /dev/shm has %zu MiB, of which %zu "
                      "are left: " HEARTHI_SHM_REMEDY ", or lower these",
                      hearthi_cluster.machine_ranks, want >> 20,
                      (size_t)(shm.f_blocks * shm.f_frsize) >> 20,
                      (size_t)(shm.f_bavail * shm.f_frsize) >> 20);
}

/* A window of one process is private memory, which has no second view, so
 * here is a memfd of our own. */
static void
own_open(struct hearthi_segments *s)
{
    const char *why;
    int         own = hearthi_cluster.node_rank;

    s->fd = hearthi_memfile("hearth-home", s->bytes, &why);
    if (s->fd < 0)
        hearthi_fatal("hearth_init", "no home memory of %zu MiB: %s",
                      s->bytes >> 20, why);
    s->base[own] = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_NORESERVE, s->fd, 0);
    if (s->base[own] == MAP_FAILED)
        hearthi_addresses_short("home memory", s->bytes);
    filled = hearthi_sparse(s->frames * sizeof *filled);
}

/* Where ranks of other nodes map the segments as well, or the program is
 * sparse, they are such files of all ranks. */
static void
files_open(struct hearthi_segments *s)
{
    own_open(s);
    hearthi_files_map(s->fd, s->bytes, s->base, hearthi_cluster.node_size,
                      hearthi_cluster.node_member, hearthi_cluster.node_comm);
}

/* Open MPI 4.1.4 returns addresses that are not page-aligned: ask for a page
 * more and round up.  A mapping starts at a system page, so the remainder,
 * and with it the offset of the first frame, is the same on all ranks of the
 * node (rounding to a larger HEARTH_PAGE_SIZE would not be).
 *
 * No rank reaches this window by RMA.  Open MPI and MPICH over UCX do not
 * register it with a network card; MPICH over libfabric does, by the sources,
 * which pins it but does not let a rank see what is behind it. */
static void
shared_open(struct hearthi_segments *s)
{
    size_t page = (size_t)sysconf(_SC_PAGESIZE);
    void  *mine;

    shm_check(s->bytes);
    HEARTHI_MPI_SPINS(
        MPI_Win_allocate_shared((MPI_Aint)(s->bytes + page), 1, MPI_INFO_NULL,
                                hearthi_cluster.node_comm, &mine, &window));
    for (int r = 0; r < hearthi_cluster.node_size; r++) {
        MPI_Aint size;
        int      unit;
        void    *at;

        HEARTHI_MPI(MPI_Win_shared_query(window, r, &size, &unit, &at));
        s->base[r] = (char *)hearthi_round_up((uintptr_t)at, page);
    }
    /* What is read at every release and free has memory from the start. */
    memset(s->base[hearthi_cluster.node_rank] + s->summary_at, 0,
           s->am_mailbox_at - s->summary_at);
}

void
hearthi_segments_open(size_t keep_bytes, size_t names_bytes)
{
    struct hearthi_segments *s = &hearthi_segments;

    by_files = hearthi_segments_sparse && hearthi_cluster.nodes == 1 &&
               hearthi_cluster.node_size > 1 && hearthi_files_are_seen();
    hearthi_segment_sizes(s, keep_bytes, names_bytes);
    s->base = calloc((size_t)hearthi_cluster.node_size, sizeof *s->base);
    if (s->base == NULL)
        hearthi_fatal("hearth_init", "no memory");
    if (are_files())
        files_open(s);
    else if (hearthi_cluster.node_size == 1)
        own_open(s);
    else
        shared_open(s);
    for (int r = 0; r < hearthi_cluster.node_size; r++)
        hearthi_dump(s->base[r], s->bytes, false);
}

void
hearthi_segments_close(void)
{
    struct hearthi_segments *s = &hearthi_segments;

    if (window != MPI_WIN_NULL)
        HEARTHI_SPINS(MPI_Win_free(&window));
    if (s->fd >= 0) {
        for (int r = 0; r < hearthi_cluster.node_size; r++)
            munmap(s->base[r], s->bytes);
        hearthi_memfile_close(s->fd);
        hearthi_sparse_free(filled, s->frames * sizeof *filled);
    }
    free(s->base);
    *s = (struct hearthi_segments){ .fd = -1 };
}

/* A thread that touches home memory that cannot be had is told so
 * (page/fault_report.c).  But MPI carries pages between nodes of one machine
 * past page tables, and then Open MPI 4.1.4 tries for ever and MPICH 4.0.2
 * fails in UCX.
 */
void
hearthi_segments_look(void)
{
    static bool    said;
    struct statvfs shm;

    if (said || hearthi_segments.fd >= 0 ||
        hearthi_cluster.machine_rank != 0 || statvfs("/dev/shm", &shm) != 0 ||
        shm.f_bavail > 0)
        return;
    said = true;
    hearthi_warn("home memory",
                 "/dev/shm is full, with %zu MiB: what of the ranks' home "
                 "memory was not touched yet cannot be had, and MPI may fail "
                 "or wait for it for ever: " HEARTHI_SHM_REMEDY,
                 (size_t)(shm.f_blocks * shm.f_frsize) >> 20);
}

/* Other ranks of the machine, and others, fill /dev/shm meanwhile. */
bool
hearthi_segments_have(uint64_t frames)
{
    struct statvfs shm;

    return hearthi_segments.fd >= 0 || statvfs("/dev/shm", &shm) != 0 ||
           shm.f_bavail * shm.f_frsize / 2 >
               (frames << hearthi_heap.shift) *
                   (size_t)hearthi_cluster.machine_ranks;
}

/* UCX before 1.14 replaces mremap by a function that forgets the wanted
 * address (openucx/ucx #8820): use the system call itself. */
int
hearthi_segment_map(uint64_t page, uint64_t count, int node_rank,
                    uint64_t frame)
{
    unsigned shift = hearthi_heap.shift;
    size_t   at = hearthi_frame_at(frame, shift), len = count << shift;
    void    *want = hearthi_app(page);
    void    *got;

    if (hearthi_segments.fd >= 0 && node_rank == hearthi_cluster.node_rank) {
        hearthi_memfile_check(hearthi_segments.fd);
        got = mmap(want, len, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_NORESERVE | MAP_FIXED, hearthi_segments.fd,
                   (off_t)at);
    } else {
        got =
            (void *)syscall(SYS_mremap, hearthi_segments.base[node_rank] + at,
                            0, len, MREMAP_MAYMOVE | MREMAP_FIXED, want);
    }
    if (got == want && node_rank == hearthi_cluster.node_rank)
        hearthi_dump(want, len, len <= hearthi_cluster.memory);
    return got == want ? 0 : errno;
}

/* Relaxed: no rank sets flags of these frames meanwhile. */
void
hearthi_segment_unflag(uint64_t frame, uint64_t count)
{
    char       *flags = hearthi_segments.base[hearthi_cluster.node_rank];
    const char *summary = flags + hearthi_segments.summary_at;

    for (uint64_t end = frame + count, n; frame < end; frame += n) {
        n = HEARTHI_SUMMARY - frame % HEARTHI_SUMMARY;
        n = hearthi_min(n, end - frame);
        if (__atomic_load_n(summary + frame / HEARTHI_SUMMARY,
                            __ATOMIC_RELAXED))
            memset(flags + frame, 0, n);
    }
}

/* Of memory in a node's window the kernel does not tell where its holes are,
 * only what lies in memory now.  The rest are holes where nothing can be
 * swapped out. */
static void
shared_clear(char *at, size_t bytes)
{
    enum { LOOK = 1024 };
    unsigned char  there[LOOK];
    size_t         page = (size_t)sysconf(_SC_PAGESIZE), n;
    struct sysinfo machine;
    bool           swaps = sysinfo(&machine) != 0 || machine.totalswap > 0;

    for (char *end = at + bytes; at < end; at += n) {
        n = hearthi_min(LOOK * page, (size_t)(end - at));
        if (swaps || mincore(at, n, there) != 0)
            memset(there, 1, sizeof there);
        for (size_t i = 0; i < n / page; i++)
            if (there[i] & 1)
                memset(at + i * page, 0, page);
    }
}

/* The first frame from this one on that has memory: what was never touched is
 * a hole, which zeroing would fill.  A hole's end is found at once, a hole
 * only by a walk over all that lies before it: so each frame is asked for, and
 * what has memory keeps it, so it is asked for once. */
static uint64_t
memory_next(uint64_t frame)
{
    unsigned shift = hearthi_heap.shift;
    off_t    data;

    if (filled[frame])
        return frame;
    data = lseek(hearthi_segments.fd, (off_t)hearthi_frame_at(frame, shift),
                 SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? hearthi_segments.frames : frame;
    frame = ((uint64_t)data - hearthi_segments.frames_at) >> shift;
    filled[frame] = true;
    return frame;
}

void
hearthi_segment_clear(uint64_t frame, uint64_t count, bool keep)
{
    unsigned shift = hearthi_heap.shift;
    char    *frames = hearthi_segments.base[hearthi_cluster.node_rank] +
                   hearthi_segments.frames_at;
    uint64_t end = frame + count;

    if (!keep &&
        madvise(frames + (frame << shift), count << shift, MADV_REMOVE) == 0)
        return;
    if (hearthi_segments.fd < 0) {
        shared_clear(frames + (frame << shift), count << shift);
        return;
    }
    hearthi_memfile_check(hearthi_segments.fd);
    for (; frame < end && (frame = memory_next(frame)) < end; frame++)
        memset(frames + (frame << shift), 0, hearthi_heap.page);
}

/* Ranks share a word, so a value has its rank in it, above a count. */
struct hearthi_told
hearthi_told_by(uint64_t who)
{
    static _Atomic uint64_t count;
    size_t                  word = (size_t)(who % HEARTHI_TOLD);
    uint64_t                next = atomic_fetch_add(&count, 1) + 1;

    return (
        struct hearthi_told){ hearthi_segments.told_at + word * sizeof next,
                              (who + 1) << 40 | (next & ~UINT64_C(0) >> 24) };
}

struct hearthi_told
hearthi_told_next(void)
{
    return hearthi_told_by((uint64_t)hearthi_world.rank);
}
