/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which frames have memory.  A file of this rank's tells where its holes are.
 * Of memory in a node's window the kernel tells what lies in memory now: what
 * was swapped out does not show, so where there is swap space all frames are
 * taken for data.
 */
#include "config.h"

#include <errno.h>
#include <stdbool.h>
#include <sys/mman.h>
#include <sys/sysinfo.h>
#include <unistd.h>

#include "base/min.h"
#include "cluster.h"
#include "heap.h"
#include "segment.h"

enum { LOOK = 4096 }; /* system pages at a time */

static uint64_t
file_data(uint64_t frame, uint64_t end, uint64_t *until)
{
    const unsigned shift = hearthi_heap.shift;
    const off_t    zero = (off_t)hearthi_segments.frames_at;
    off_t          data, hole;

    *until = end;
    data = lseek(hearthi_segments.fd, (off_t)hearthi_frame_at(frame, shift),
                 SEEK_DATA);
    if (data < 0)
        return errno == ENXIO ? end : frame;
    hole = lseek(hearthi_segments.fd, data, SEEK_HOLE);
    if (hole >= 0)
        *until = hearthi_min(
            end, ((uint64_t)(hole - zero) + hearthi_heap.page - 1) >> shift);
    return hearthi_min(end, (uint64_t)(data - zero) >> shift);
}

/* Is any system page of a frame in memory? */
static bool
frame_is_there(const unsigned char *there, size_t pages)
{
    for (size_t i = 0; i < pages; i++)
        if (there[i] & 1)
            return true;
    return false;
}

/* Up to so many frames that follow each other are all there, or all not. */
static uint64_t
alike(const unsigned char *there, size_t each, uint64_t n, bool is)
{
    uint64_t i = 0;

    while (i < n && frame_is_there(there + i * each, each) == is)
        i++;
    return i;
}

static uint64_t
window_data(uint64_t frame, uint64_t end, uint64_t *until)
{
    unsigned char there[LOOK];
    const size_t  each = hearthi_heap.page / (size_t)sysconf(_SC_PAGESIZE);
    char         *own = hearthi_segments.base[hearthi_cluster.node_rank];

    *until = end;
    for (uint64_t n, i; each <= LOOK && frame < end; frame += n) {
        n = hearthi_min(end - frame, LOOK / each);
        if (mincore(own + hearthi_frame_at(frame, hearthi_heap.shift),
                    n << hearthi_heap.shift, there) != 0)
            return frame;
        i = alike(there, each, n, false);
        if (i == n)
            continue;
        *until = frame + i + alike(there + i * each, each, n - i, true);
        return frame + i;
    }
    return frame;
}

uint64_t
hearthi_segment_data(uint64_t frame, uint64_t end, uint64_t *until)
{
    struct sysinfo machine;

    if (hearthi_segments.fd >= 0)
        return file_data(frame, end, until);
    *until = end;
    if (sysinfo(&machine) != 0 || machine.totalswap > 0)
        return frame;
    return window_data(frame, end, until);
}
