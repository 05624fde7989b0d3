/* SPDX-License-Identifier: BSD-2-Clause
 *
 * How much of each rank's home memory is for hearth_malloc.
 *
 * With HEARTH_MALLOC=auto an arena is no larger than costs next to nothing in
 * a program that does not call hearth_malloc.
 *
 * Addresses and files with holes are free, so that is 4 GiB where memory is
 * reached without windows of MPI.  But what a window covers a network card may
 * pin: a sixteenth of the memory of the machine, or of a control group, at
 * most is set aside by all of its ranks then, and so much that the first
 * window, which doubles from 64 MiB on (transport/mpi/mpi_fabric_window.c),
 * has 64 MiB beside it for what else the program allocates.  Nor is it more
 * than a quarter of the home memory beside it, and where that lies in
 * /dev/shm, no more than is left there. */
#include "config.h"

#include "heap.h"

#include <sys/statvfs.h>

#include "base/min.h"
#include "base/option.h"
#include "cluster.h"
#include "front/direct.h"
#include "segment.h"
#include "world.h"

static const size_t MIB = 1 << 20, GIB = 1 << 30;

static size_t
unit(void)
{
    return hearthi_heap.page > HEARTHI_ARENA_BLOCK ? hearthi_heap.page
                                                   : HEARTHI_ARENA_BLOCK;
}

static size_t
round_down(size_t bytes)
{
    return bytes / unit() * unit();
}

static bool
has_windows(void)
{
    return hearthi_opt.transport == HEARTHI_TRANSPORT_MPI &&
           hearthi_cluster.nodes > 1;
}

/* 64, 192, 448 or 960 MiB; less only where the machine is small. */
static size_t
beside_first_window(size_t most)
{
    size_t window = 128 * MIB;

    while (2 * window - 64 * MIB <= most && window < GIB)
        window *= 2;
    return hearthi_min(most, window - 64 * MIB);
}

size_t
hearthi_arena_most(void)
{
    if (hearthi_opt.malloc != 0)
        return round_down(hearthi_opt.malloc + unit() - 1);
    if (has_windows())
        return round_down(960 * MIB);
    return round_down(hearthi_min(4 * GIB, (GIB << (hearthi_heap.bits - 37)) /
                                               (size_t)hearthi_world.size));
}

/* Of what is left in /dev/shm for each rank, but for a sixteenth. */
static size_t
left_beside(size_t home)
{
    struct statvfs shm;
    size_t         share;

    if (!hearthi_segments_in_shm() || statvfs("/dev/shm", &shm) != 0)
        return SIZE_MAX;
    share = shm.f_bavail * shm.f_frsize / 16 * 15 /
            (size_t)hearthi_cluster.machine_ranks;
    return share > home ? share - home : 0;
}

/* How many arenas of a run before each rank is home of, at most. */
static uint64_t
given_each(void)
{
    uint64_t ranks = (uint64_t)hearthi_world.size;

    return (hearthi_heap_given.count + ranks - 1) / ranks;
}

size_t
hearthi_arena_wanted(size_t home)
{
    size_t most = hearthi_arena_most();
    size_t share = hearthi_cluster.memory_share / 16;

    if (hearthi_heap_given.is)
        return (size_t)(hearthi_heap_given.arena * given_each())
               << hearthi_heap.shift;
    if (hearthi_opt.malloc != 0)
        return most;
    most = hearthi_min(most, home / 4);
    if (hearthi_opt.home != 0)
        most = hearthi_min(most, left_beside(home));
    if (has_windows())
        most = beside_first_window(
            hearthi_min(most, share < 64 * MIB ? 64 * MIB : share));
    return round_down(most);
}
