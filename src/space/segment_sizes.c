/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How large the segments are, and what lies where in each.
 */
#include "config.h"

#include "segment.h"

#include <inttypes.h>
#include <sys/statvfs.h>

#include "base/min.h"
#include "base/option.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "heap.h"

/* As much as the heap, as home memory is used where it is touched; of what
 * lies in /dev/shm, which MPI fills no further than it goes, three quarters,
 * shared out among the ranks.  Where each rank maps the files of many others,
 * these leave three quarters of its addresses free. */
static size_t
home_default(void)
{
    const size_t   addresses = (size_t)1 << (hearthi_heap.bits - 2);
    struct statvfs shm;
    size_t         home = hearthi_opt.heap, share;

    if (hearthi_cluster.node_size == 1)
        return home;
    if (!hearthi_segments_in_shm())
        return hearthi_min(home,
                           addresses / (size_t)hearthi_cluster.node_size);
    if (statvfs("/dev/shm", &shm) != 0)
        return home;
    share = shm.f_bavail * shm.f_frsize / 4 * 3 /
            (size_t)hearthi_cluster.machine_ranks;
    return hearthi_min(home, share);
}

/* A MiB for the active messages of all ranks, eight of each, as long as that
 * makes some that are worth it, and then as few as do. */
static void
am_buffers_size(struct hearthi_segments *s)
{
    enum { ALL = 1 << 20, LEAST = 1 << 10, MOST = 1 << 16 };
    size_t even = ALL / 8 / (size_t)hearthi_cluster.size / LEAST * LEAST;

    s->am_buffer = even < LEAST ? LEAST : even > MOST ? MOST : even;
    s->places = even < LEAST ? 2 : 8;
}

/* As many frames again for pages that move, which are memory only then; of
 * /dev/shm what is left of seven eighths. */
static uint64_t
migration_frames(uint64_t frames, uint64_t arena)
{
    struct statvfs shm;
    uint64_t       most;

    if (hearthi_opt.migrate == HEARTHI_WHEN_OFF || hearthi_cluster.nodes == 1)
        return 0;
    if (!hearthi_segments_in_shm() || statvfs("/dev/shm", &shm) != 0)
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
    if (hearthi_opt.home == 0 && hearthi_segments_in_shm() &&
        hearthi_opt.malloc == 0)
        wish[0] -= hearthi_min(wish[0], wish[1]);
}

/* A rank's share of /dev/shm, and all of it. */
static void
shm_look(uint64_t has[2])
{
    struct statvfs shm;

    has[0] = has[1] = SIZE_MAX;
    if (!hearthi_segments_in_shm() || statvfs("/dev/shm", &shm) != 0)
        return;
    has[0] =
        shm.f_bavail * shm.f_frsize / (uint64_t)hearthi_cluster.machine_ranks;
    has[1] = shm.f_blocks * shm.f_frsize;
}

bool
hearthi_segments_lack_shm(uint64_t home, uint64_t arena)
{
    const struct hearthi_segments *s = &hearthi_segments;

    return s->shm_share != SIZE_MAX &&
           s->frames_at + ((home + arena) << hearthi_heap.shift) >
               s->shm_share;
}

uint64_t
hearthi_segments_home(void)
{
    const struct hearthi_segments *s = &hearthi_segments;
    bool both = hearthi_opt.home == 0 && hearthi_opt.malloc == 0;

    return s->frames - s->migration - (both ? 0 : s->arena);
}

/* Frames are numbered with 32 bits (page/page_map.h): those kept free are as
 * many as there are numbers left. */
static void
frames_bound(struct hearthi_segments *s)
{
    if (s->frames + s->arena > HEARTHI_FRAMES_MOST)
        hearthi_fatal("hearth_init",
                      "home memory of %" PRIu64 " pages a rank is more than "
                      "%u: lower HEARTH_HOME, or raise HEARTH_PAGE_SIZE",
                      s->frames + s->arena, HEARTHI_FRAMES_MOST);
    s->migration =
        hearthi_min(s->migration, HEARTHI_FRAMES_MOST - s->frames - s->arena);
}

/* Every rank's segment has the same size, so that offsets can be computed
 * anywhere: the least that any rank wants. */
void
hearthi_segment_sizes(struct hearthi_segments *s, size_t keep_bytes,
                      size_t names_bytes)
{
    size_t   page = hearthi_heap.page;
    uint64_t migration, wish[4], least[4], mail, mails;

    wishes(wish);
    shm_look(wish + 2);
    hearthi_all_reduce(wish, least, 4, MPI_UINT64_T, MPI_MIN,
                       hearthi_collective_wait);
    s->shm_share = least[2];
    s->shm = least[3];
    s->frames = least[0] / page;
    s->arena = least[1] / page;
    if (s->frames == 0)
        s->frames = 1;
    migration = migration_frames(s->frames, s->arena);
    hearthi_all_reduce(&migration, &s->migration, 1, MPI_UINT64_T, MPI_MIN,
                       hearthi_collective_wait);
    frames_bound(s);
    s->frames += s->migration + s->arena;
    s->summary_at = hearthi_round_up(s->frames, 64);
    s->told_at =
        hearthi_round_up(s->summary_at + s->frames / HEARTHI_SUMMARY + 64, 64);
    s->keep_at =
        hearthi_round_up(s->told_at + HEARTHI_TOLD * sizeof(uint64_t), 64);
    s->am_mailbox_at = hearthi_round_up(s->keep_at + keep_bytes, 64);
    am_buffers_size(s);
    mail = (size_t)hearthi_cluster.size *
           (HEARTHI_AM_MAILBOX_WORDS + s->places * s->am_buffer);
    hearthi_all_reduce(&mail, &mails, 1, MPI_UINT64_T, MPI_MAX,
                       hearthi_collective_wait);
    s->names_at = hearthi_round_up(s->am_mailbox_at + mails, 64);
    s->frames_at = hearthi_round_up(s->names_at + names_bytes, page);
    s->bytes = s->frames_at + s->frames * page;
}
