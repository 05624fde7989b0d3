/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The mpi transport, between its files.  Between nodes everything rides
 * windows in passive epochs that lasts for the whole run, and the leaders'
 * exchange at a barrier; inside a node, shared memory and C11 atomics.
 */
#ifndef HEARTHI_TRANSPORT_MPI_H
#define HEARTHI_TRANSPORT_MPI_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/stat.h"
#include "cluster.h"
#include "node/lock_names.h"
#include "transport/transport.h"

/* Most operations that are started before a flush, by all threads: Open MPI 5
 * over UCX aborts at the 255th. */
enum { HEARTHI_OUTSTANDING = 248 };

/* A lock or flag as the ranks of one node see it: a ticket lock of theirs
 * that stands before the lock between nodes. */
struct hearthi_node_lock {
    _Atomic uint64_t   next, serving;
    atomic_bool        value;   /* one node only: the flag */
    bool               ours;    /* this node has the lock between nodes */
    bool               rests;   /* ... unless somebody took it: it rests */
    int                place;   /* where (mcs_lock.h) */
    int                last;    /* node rank + 1 of its last holder */
    atomic_int         holder;  /* ... of who has it; for those it leaves */
    int                told;    /* rank + 1 that is said there to keep it */
    int                row;     /* passed on inside the node in a row */
    atomic_int         keeper;  /* node rank + 1 of who may keep it */
    uint16_t           ticket;  /* of a flag */
    atomic_bool        watched; /* a rank of the node waits for a flag */
    uint64_t           word;    /* its `serving` (rma_object.h) */
    struct hearthi_log log;     /* as the holder knows it; epoch 0: past */
};

/* Writers of a reader-writer lock take turns as those do who take a lock, by a
 * number of its own behind those of all objects. */
static inline int
hearthi_turn_of(int rw)
{
    return hearthi_syncs + rw - HEARTHI_RWS_AT;
}

static inline int
hearthi_turns(void)
{
    return hearthi_syncs + HEARTH_RWLOCKS;
}

/* The words of a reader-writer lock (rw.c) where there is one node only. */
struct hearthi_node_rw {
    _Atomic uint64_t word[2];
};

/* Notices of one rank or of all, in the node's memory. */
struct hearthi_deposit {
    _Alignas(64) atomic_uint generation;
    uint32_t n;
    uint32_t invalidate_all;
    uint32_t moves;
};

struct hearthi_node_area {
    struct hearthi_node_rw rw[HEARTH_RWLOCKS];
    struct hearthi_deposit news; /* what the barrier brought */
    struct hearthi_deposit of[]; /* what each rank of the node gave */
};

struct hearthi_mpi {
    MPI_Win                   sync; /* words and logs of managed objects */
    struct hearthi_node_area *node;
    struct hearthi_node_lock *lock;      /* of each object, in its memory */
    struct hearthi_notice    *news;      /* two NEWS_MAX, the node's */
    struct hearthi_notice   **deposited; /* NEWS_OF_ONE, of each node rank */
    bool                      helper;    /* a thread serves others */
};

extern struct hearthi_mpi hearthi_mpi;

/* Count a message to another node: an operation on its memory, or what else
 * goes through MPI. */
static inline void
hearthi_mpi_count(int rank, size_t bytes)
{
    if (hearthi_cluster.node_of[rank] == hearthi_cluster.node)
        return;
    hearthi_count(messages, 1);
    hearthi_count(message_bytes, bytes);
}

/* node.c: the memory of a node.  Collective. */
void hearthi_node_open(void);
void hearthi_node_close(void);

/* progress.c: one Fetch_and_op on a 64-bit word, complete on return; and the
 * completion of all that was started on a window at a rank.  Both block. */
uint64_t hearthi_fetch_op(MPI_Win win, int rank, size_t offset, MPI_Op op,
                          uint64_t value);
void     hearthi_flush(MPI_Win win, int rank);

/* The same of a step of the seam's. */
uint64_t hearthi_fetch_atomic_op(MPI_Win win, int rank, size_t offset,
                                 const struct hearthi_atomic_op *s);

/* What is said of every window: each flush waits for at most one accumulate a
 * word, so they need no order; and all of them are single steps of
 * Fetch_and_op and Compare_and_swap, which Open MPI's osc/rdma then does by
 * one network atomic instead of under a lock at the target.
 * mpi_fabric_window.c has the argument why they are atomic to each other.
 *
 * Who does not know a key ignores it.  To be freed. */
MPI_Info hearthi_window_info(void);

/* rma_object.c, sync.c, flag.c, cond.c, rw.c: locks, flags and so on. */
void hearthi_sync_open(void);
void hearthi_sync_close(void);
bool hearthi_mpi_acquire(int sync, bool try, struct hearthi_grant *g);
void hearthi_mpi_release(int sync, uint64_t epoch,
                         const struct hearthi_notice *n, size_t count);
bool hearthi_mpi_delegate(int lock);
void hearthi_mpi_abandoned_locks(int rank, struct hearthi_abandoned_locks *l);
bool hearthi_turn_take(int turn, bool try);
void hearthi_turn_leave(int turn);
void hearthi_mpi_flag_set(int sync, const struct hearthi_notice *n,
                          size_t count);
void hearthi_mpi_flag_wait(int sync, struct hearthi_grant *g);
void hearthi_mpi_flag_reset(int sync);
uint64_t hearthi_mpi_cond_enter(int sync);
void     hearthi_mpi_cond_wait(int sync, uint64_t place);
void     hearthi_mpi_cond_wake(int sync, bool all);
bool     hearthi_mpi_rw_acquire(int sync, bool write, bool try,
                                struct hearthi_grant *g);
void     hearthi_mpi_rw_release(int sync, bool write,
                                const struct hearthi_notice *n, size_t count);

/* barrier.c */
void hearthi_barrier_open(void);
void hearthi_barrier_close(void);
void hearthi_mpi_barrier(const struct hearthi_notice *own, size_t n,
                         bool                            invalidate_all,
                         struct hearthi_barrier_notices *news);

/* helper.c: a thread that drives progress, if the MPI needs one. */
void hearthi_helper_open(void);
void hearthi_helper_close(void);

#endif
