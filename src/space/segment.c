/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "segment.h"

#include <errno.h>
#include <stdatomic.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/statvfs.h>
#include <sys/syscall.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "arena.h"
#include "base/min.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "heap.h"
#include "world.h"

struct hearthi_segments hearthi_segments;

static MPI_Win window = MPI_WIN_NULL; /* of the node's segments */
static int     private_fd = -1; /* of the segment of a node of one rank */
static bool   *filled;          /* its frames that are known to have memory */

static size_t
round_up(size_t n, size_t unit)
{
    return (n + unit - 1) / unit * unit;
}

/* As much as the heap, as home memory is used where it is touched; of what
 * lies in /dev/shm, which MPI fills no further than it goes, three quarters,
 * shared out among the ranks. */
static size_t
home_default(void)
{
    struct statvfs shm;
    size_t         home = hearthi_opt.heap, share;

    if (hearthi_cluster.node_size == 1 || statvfs("/dev/shm", &shm) != 0)
        return home;
    share = shm.f_bavail * shm.f_frsize / 4 * 3 /
            (size_t)hearthi_cluster.machine_ranks;
    return hearthi_min(home, share);
}

/* A MiB for the letters of all ranks, eight of each, as long as that makes
 * some that are worth it, and then as few as do. */
static void
letters_size(struct hearthi_segments *s)
{
    enum { ALL = 1 << 20, LEAST = 1 << 10, MOST = 1 << 16 };
    size_t even = ALL / 8 / (size_t)hearthi_cluster.size / LEAST * LEAST;

    s->letter = even < LEAST ? LEAST : even > MOST ? MOST : even;
    s->places = even < LEAST ? 2 : 8;
}

/* As many frames again for pages that move, which are memory only then; of
 * /dev/shm what is left of seven eighths. */
static uint64_t
spare_frames(uint64_t frames, uint64_t arena)
{
    struct statvfs shm;
    uint64_t       most;

    if (hearthi_opt.migrate == HEARTHI_WHEN_OFF || hearthi_cluster.nodes == 1)
        return 0;
    if (hearthi_cluster.node_size == 1 || statvfs("/dev/shm", &shm) != 0)
        return frames;
    most = shm.f_bavail * shm.f_frsize / 8 * 7 /
           (size_t)hearthi_cluster.machine_ranks / hearthi_heap.page;
    frames += arena;
    return most > frames ? hearthi_min(frames - arena, most - frames) : 0;
}

/* Home memory and an arena, in bytes: that of /dev/shm is for both. */
static void
wishes(uint64_t wish[2])
{
    wish[0] = hearthi_opt.home != 0 ? hearthi_opt.home : home_default();
    wish[1] = hearthi_arena_wanted(wish[0]);
    if (hearthi_opt.home == 0 && hearthi_cluster.node_size > 1 &&
        hearthi_opt.malloc == 0)
        wish[0] -= wish[1];
}

/* Every rank's segment has the same size, so that offsets can be computed
 * anywhere: the smallest wish of all. */
static void
sizes_agree(struct hearthi_segments *s, size_t keep_bytes, size_t names_bytes)
{
    size_t   page = hearthi_heap.page;
    uint64_t spare, wish[2], least[2], mail, mails;

    wishes(wish);
    hearthi_all_reduce(wish, least, 2, MPI_UINT64_T, MPI_MIN,
                       hearthi_collective_wait);
    s->frames = least[0] / page;
    s->arena = least[1] / page;
    if (s->frames == 0)
        s->frames = 1;
    spare = spare_frames(s->frames, s->arena);
    hearthi_all_reduce(&spare, &s->spare, 1, MPI_UINT64_T, MPI_MIN,
                       hearthi_collective_wait);
    s->frames += s->spare + s->arena;
    s->summary_at = round_up(s->frames, 64);
    s->told_at =
        round_up(s->summary_at + s->frames / HEARTHI_SUMMARY + 64, 64);
    s->keep_at = round_up(s->told_at + HEARTHI_TOLD * sizeof(uint64_t), 64);
    s->mail_at = round_up(s->keep_at + keep_bytes, 64);
    letters_size(s);
    mail = (size_t)hearthi_cluster.size *
           (HEARTHI_AM_MAILBOX_WORDS + s->places * s->letter);
    hearthi_all_reduce(&mail, &mails, 1, MPI_UINT64_T, MPI_MAX,
                       hearthi_collective_wait);
    s->names_at = round_up(s->mail_at + mails, 64);
    s->frames_at = round_up(s->names_at + names_bytes, page);
    s->bytes = s->frames_at + s->frames * page;
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
                      "/dev/shm has %zu MiB left, and the segments of %d "
                      "ranks need %zu MiB: lower HEARTH_HOME or "
                      "HEARTH_MALLOC, or enlarge "
                      "/dev/shm (mount -o remount,size=... /dev/shm)",
                      (size_t)(shm.f_bavail * shm.f_frsize) >> 20,
                      hearthi_cluster.machine_ranks, want >> 20);
}

/* A window of one process is private memory, which has no second view, so
 * here is a memfd of our own. */
static void
private_open(struct hearthi_segments *s)
{
    private_fd = memfd_create("hearth-home", MFD_CLOEXEC);
    if (private_fd < 0 || ftruncate(private_fd, (off_t)s->bytes) != 0)
        hearthi_fatal("hearth_init", "no home memory of %zu bytes: %s",
                      s->bytes, strerror(errno));
    s->base[0] = mmap(NULL, s->bytes, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_NORESERVE, private_fd, 0);
    if (s->base[0] == MAP_FAILED)
        hearthi_fatal("hearth_init", "no home memory of %zu bytes: %s",
                      s->bytes, strerror(errno));
    filled = hearthi_sparse(s->frames * sizeof *filled);
}

/* Open MPI 4.1.4 returns addresses that are not page-aligned: ask for a page
 * more and round up.  A mapping starts at a system page, so the remainder,
 * and with it the offset of the first frame, is the same on all ranks of the
 * node (rounding to a larger HEARTH_PAGE_SIZE would not be).
 *
 * Nobody reaches this window by RMA.  Open MPI and MPICH over UCX do not
 * register it with a network card; MPICH over libfabric does, by the sources,
 * which pins it but lets nobody see what is behind it. */
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
        s->base[r] = (char *)round_up((uintptr_t)at, page);
    }
    /* What is read at every release and free has memory from the start. */
    memset(s->base[hearthi_cluster.node_rank] + s->summary_at, 0,
           s->mail_at - s->summary_at);
}

void
hearthi_segments_open(size_t keep_bytes, size_t names_bytes)
{
    struct hearthi_segments *s = &hearthi_segments;

    sizes_agree(s, keep_bytes, names_bytes);
    s->base = calloc((size_t)hearthi_cluster.node_size, sizeof *s->base);
    if (s->base == NULL)
        hearthi_fatal("hearth_init", "no memory");
    if (hearthi_cluster.node_size == 1)
        private_open(s);
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
    if (private_fd >= 0) {
        munmap(s->base[0], s->bytes);
        close(private_fd);
        private_fd = -1;
        hearthi_sparse_free(filled, s->frames * sizeof *filled);
    }
    free(s->base);
    memset(s, 0, sizeof *s);
}

/* Who touches home memory that cannot be had is told so (page/fault_report.c).
 * But MPI carries pages between nodes of one machine past page tables, and
 * then Open MPI 4.1.4 tries for ever and MPICH 4.0.2 fails in UCX. */
void
hearthi_segments_look(void)
{
    static bool    said;
    struct statvfs shm;

    if (said || private_fd >= 0 || hearthi_cluster.machine_rank != 0 ||
        statvfs("/dev/shm", &shm) != 0 || shm.f_bavail > 0)
        return;
    said = true;
    hearthi_warn("home memory",
                 "/dev/shm is full, with %zu MiB: what of the ranks' home "
                 "memory was not touched yet cannot be had, and MPI may fail "
                 "or wait for it for ever: enlarge /dev/shm (mount -o "
                 "remount,size=... /dev/shm), or do without it "
                 "(HEARTH_NODE_SIZE=1)",
                 (size_t)(shm.f_blocks * shm.f_frsize) >> 20);
}

/* Other ranks of the machine, and others, fill /dev/shm meanwhile. */
bool
hearthi_segments_have(uint64_t frames)
{
    struct statvfs shm;

    return private_fd >= 0 || statvfs("/dev/shm", &shm) != 0 ||
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

    if (private_fd >= 0)
        got = mmap(want, len, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_NORESERVE | MAP_FIXED, private_fd,
                   (off_t)at);
    else
        got =
            (void *)syscall(SYS_mremap, hearthi_segments.base[node_rank] + at,
                            0, len, MREMAP_MAYMOVE | MREMAP_FIXED, want);
    if (got == want && node_rank == hearthi_cluster.node_rank)
        hearthi_dump(want, len, len <= hearthi_machine_memory());
    return got == want ? 0 : errno;
}

void
hearthi_segment_unflag(uint64_t frame, uint64_t count)
{
    char       *flags = hearthi_segments.base[hearthi_cluster.node_rank];
    const char *summary = flags + hearthi_segments.summary_at;

    for (uint64_t end = frame + count, n; frame < end; frame += n) {
        n = HEARTHI_SUMMARY - frame % HEARTHI_SUMMARY;
        n = hearthi_min(n, end - frame);
        if (summary[frame / HEARTHI_SUMMARY])
            memset(flags + frame, 0, n);
    }
}

/* Of memory in a node's window nobody tells where its holes are, only what
 * lies in memory now.  The rest are holes where nothing can be swapped out. */
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
    data = lseek(private_fd, (off_t)hearthi_frame_at(frame, shift), SEEK_DATA);
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
    if (private_fd < 0) {
        shared_clear(frames + (frame << shift), count << shift);
        return;
    }
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
