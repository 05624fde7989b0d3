/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The one-sided transport, between its files.  Between nodes everything is an
 * operation of the fabric (fabric.h), inside a node of the node layer.
 */
#ifndef HEARTHI_TRANSPORT_MPI_H
#define HEARTHI_TRANSPORT_MPI_H

#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>

#include "base/stat.h"
#include "base/test_limits.h"
#include "cluster.h"
#include "node/event.h"
#include "node/lock_names.h"
#include "transport/transport.h"

struct hearthi_mpi {
    bool helper; /* a thread serves others */
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
bool hearthi_mpi_flag_is_set(int sync);
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
