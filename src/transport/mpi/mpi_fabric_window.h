/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The windows over the segments: which one covers an offset.
 */
#ifndef HEARTHI_MPI_FABRIC_WINDOW_H
#define HEARTHI_MPI_FABRIC_WINDOW_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "space/segment.h"

/* Step 0 is the head of each segment and the bytes of its frames up to
 * `first`; step i those from first << (i - 1) up to first << i.  A window
 * covers one step, or as many as one allocation made reachable. */
enum { HEARTHI_WINDOW_FIRST = 64 << 20, HEARTHI_WINDOWS = 40 };

struct hearthi_windows {
    MPI_Win win[HEARTHI_WINDOWS];
    int     n;     /* made so far */
    int     steps; /* that they cover */
    uint8_t of_step[HEARTHI_WINDOWS];
    size_t  begin[HEARTHI_WINDOWS], end[HEARTHI_WINDOWS]; /* offsets */
    size_t  first;     /* a power of two, and of pages a whole number */
    size_t  first_end; /* offset where step 0 ends */
    bool    is_rdma;   /* by osc/rdma of Open MPI (mpi_fabric_window.c) */
};
extern struct hearthi_windows hearthi_windows;

void hearthi_windows_open(void);
void hearthi_windows_close(void);

/* Collective: cover so many frames of each segment.  The table's lock is not
 * held. */
void hearthi_windows_expose(uint64_t frames);

/* Where window i begins and ends, as offsets in a segment. */
static inline size_t
hearthi_window_begin(int i)
{
    return hearthi_windows.begin[i];
}

static inline size_t
hearthi_window_end(int i)
{
    return hearthi_windows.end[i];
}

/* The window that covers an offset. */
static inline int
hearthi_window_of(size_t offset)
{
    size_t n;

    if (offset < hearthi_windows.first_end)
        return 0;
    n = (offset - hearthi_segments.frames_at) / hearthi_windows.first;
    return hearthi_windows.of_step[64 - __builtin_clzll(n)];
}

#endif
