/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The fabric over MPI-3 RMA, between its files: all calls of RMA are there,
 * and what MPI libraries do otherwise than the standard lets one hope.
 * Everything rides windows in passive epochs that last for the whole run.
 */
#ifndef HEARTHI_MPI_FABRIC_H
#define HEARTHI_MPI_FABRIC_H

#include <mpi.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/test_limits.h"
#include "fabric.h"
#include "progress.h"
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
    bool own_steps; /* on own words by the processor (mpi_fabric_window.c) */
    MPI_Win sync;   /* the sync regions */
};
extern struct hearthi_windows hearthi_windows;

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

/* Most requests of one-sided operations, and flushes, that are under way at a
 * time, by all threads: UCX counts those of Open MPI 5 in 8 bits, and aborts
 * at the 255th (ompi #14192).  A Get, a Put or an atomic step without a
 * request counts when it is flushed.  A part is for threads that make steps on
 * words, or read or write logs, one flush or request each; batches have the
 * rest. */
enum {
    HEARTHI_OUTSTANDING = 248,
    HEARTHI_ATOMIC_OPS_MOST = HEARTHI_TEST_LIMIT(HEARTHI_OUTSTANDING / 4, 2)
};

/* ---- mpi_fabric_wait.c ---- */

struct hearthi_wait {
    unsigned turn;
    uint64_t ring_at, again; /* when to ring next, and how long after that */
};

/* A wait in which so many bytes move, which takes its time in any case. */
struct hearthi_wait hearthi_wait_begin(size_t bytes);

/* A fruitless turn: yields now and then; true if it is time to ring. */
bool hearthi_wait_turn(struct hearthi_wait *w);

/* Complete requests, each of an operation at a rank; null ones are, and in the
 * end those that MPI has lost. may_nap: if other threads wait, too, and none
 * for this one. */
void hearthi_wait_requests(MPI_Request *request, const int *rank, int n,
                           size_t bytes, bool may_nap);

/* Complete what was started on up to TARGETS windows, each at one rank.
 * `last` holds for each the request of its last operation, or null. */
enum { HEARTHI_TARGETS = 32 };
void hearthi_wait_flush(const MPI_Win *win, MPI_Request *last, const int *rank,
                        int n, size_t bytes);

/* Flush where a Get that followed all else has come: the target's helper is
 * told first, if that has needed it before. */
void hearthi_flush_come(MPI_Win win, int rank);

/* The same for all that was started on a window at a rank. */
void hearthi_flush(MPI_Win win, int rank);

/* ---- mpi_fabric_atomic.c ---- */

void hearthi_mpi_look_open(void);
void hearthi_mpi_look_close(void);

/* Around a request or a flush of a thread that makes a step or moves a log:
 * waits while too many are under way (HEARTHI_OUTSTANDING).  They end without
 * another one's beginning. */
extern _Thread_local enum hearthi_atomic_right {
    HEARTHI_RIGHT_UNKNOWN,
    HEARTHI_RIGHT_OWN,
    HEARTHI_RIGHT_COUNTED
} hearthi_atomic_right;

void hearthi_atomic_ops_count(void);
void hearthi_atomic_ops_uncount(void);

static inline void
hearthi_atomic_ops_enter(void)
{
    if (hearthi_atomic_right != HEARTHI_RIGHT_OWN)
        hearthi_atomic_ops_count();
}

static inline void
hearthi_atomic_ops_leave(void)
{
    if (hearthi_atomic_right == HEARTHI_RIGHT_COUNTED)
        hearthi_atomic_ops_uncount();
}

/* ---- mpi_fabric_probe.c, mpi_fabric_peek.c, mpi_fabric_exchange.c ---- */

void hearthi_mpi_probe(void);

/* Ends the job where this MPI would hang.  Collective. */
void hearthi_mpi_peek(void);

void hearthi_mpi_exchange(void *all, size_t bytes);
void hearthi_mpi_gather(void *all, const int *counts, const int *starts);

#endif
