/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The transport's operations together.
 */
#include "config.h"

#include "mpi.h"

#include "base/min.h"
#include "base/option.h"
#include "cluster.h"
#include "diff_aggregate.h"
#include "fabric.h"
#include "node/node.h"
#include "node/relax.h"
#include "progress.h"
#include "rma_object.h"
#include "transfer.h"
#include "transport/one_node.h"
#include "transport/patch.h"
#include "world.h"

struct hearthi_mpi hearthi_mpi;

/* ---- progress ---- */

/* Of a thread that has slept.  It does not count as one that drives MPI: the
 * helper could not rely on it.  The first looks after a sleep are slow in any
 * case. */
static bool
sleeper_drive(void)
{
    enum { COLD = 2, MOVES = 64 };
    int moved = 0;

    for (int i = 0; i < COLD; i++)
        hearthi_fabric_look();
    while (moved < MOVES && hearthi_progress_serve() > 0)
        moved++;
    return moved > 0;
}

/* ---- start and stop ---- */

static void
transport_open(void)
{
    hearthi_mpi = (struct hearthi_mpi){ .helper = false };
    hearthi_fabric_open();
    hearthi_relaxing.drive = sleeper_drive;
    hearthi_node_open();
    hearthi_fabric->home_open();
    if (hearthi_cluster.nodes > 1) {
        hearthi_transfer_open();
        hearthi_sync_open();
        hearthi_barrier_open();
    }
    hearthi_helper_open();
}

static void
transport_close(void)
{
    hearthi_helper_close();
    if (hearthi_cluster.nodes > 1) {
        hearthi_barrier_close();
        hearthi_sync_close();
        hearthi_transfer_close();
    }
    hearthi_fabric->home_close();
    hearthi_node_close();
    hearthi_fabric_close();
}

static bool
transport_registers(void)
{
    return hearthi_fabric->registers;
}

static void
transport_reach(uint64_t frames)
{
    hearthi_fabric->home_grow(frames);
}

static uint64_t
transport_atomic(int home, size_t offset, const struct hearthi_atomic_op *s)
{
    return hearthi_fabric_home_atomic(home, offset, s);
}

static void
transport_adds(const struct hearthi_add_run *run, size_t n)
{
    for (size_t i = 0; i < n; i++)
        hearthi_fabric_home_adds(&run[i]);
}

/* As with runs of changed bytes: few are cheaper by a step each, which needs
 * no thread to wake. */
static bool
transport_post(const struct hearthi_add_run *run)
{
    enum { MOST = (HEARTHI_AM_PIECE - HEARTHI_ADDS_HEAD) / sizeof *run->add };

    if (hearthi_cluster.node_of[run->home] == hearthi_cluster.node ||
        run->n <= hearthi_opt.put_runs || !hearthi_diff_aggregates() ||
        !hearthi_fabric_home_does_adds())
        return false;
    for (size_t i = 0, n; i < run->n; i += n) {
        n = hearthi_min(run->n - i, (size_t)MOST);
        hearthi_am_buffer_adds(
            hearthi_am_buffer_of(run->home,
                                 HEARTHI_ADDS_HEAD + n * sizeof *run->add),
            run->add + i, n);
    }
    return true;
}

static const char *
no_name(unsigned i)
{
    (void)i;
    return NULL;
}

const struct hearthi_transport_ops hearthi_transport_mpi = {
    .name = "mpi",
    .kind_name = no_name,
    .reason_name = no_name,
    .open = transport_open,
    .close = transport_close,
    .registers = transport_registers,
    .collective.expose = transport_reach,
    .data.fetch = hearthi_mpi_fetch,
    .data.fetch_concurrent = hearthi_mpi_fetch_concurrent,
    .data.fetch_begin = hearthi_mpi_fetch_begin,
    .data.fetch_end = hearthi_mpi_fetch_end,
    .data.diff = hearthi_mpi_diff,
    .data.patch = hearthi_mpi_patch,
    .data.store = hearthi_mpi_store,
    .data.stored = hearthi_mpi_stored,
    .data.notify = hearthi_mpi_notify,
    .data.flush = hearthi_mpi_flush,
    .sync.acquire = hearthi_mpi_acquire,
    .sync.release = hearthi_mpi_release,
    .sync.delegate = hearthi_mpi_delegate,
    .sync.begin = hearthi_mpi_begin,
    .collective.barrier = hearthi_mpi_barrier,
    .sync.flag_set = hearthi_mpi_flag_set,
    .sync.flag_wait = hearthi_mpi_flag_wait,
    .sync.flag_reset = hearthi_mpi_flag_reset,
    .sync.flag_is_set = hearthi_mpi_flag_is_set,
    .sync.cond_enter = hearthi_mpi_cond_enter,
    .sync.cond_wait = hearthi_mpi_cond_wait,
    .sync.cond_wake = hearthi_mpi_cond_wake,
    .sync.abandoned_locks = hearthi_mpi_abandoned_locks,
    .sync.rw_acquire = hearthi_mpi_rw_acquire,
    .sync.rw_release = hearthi_mpi_rw_release,
    .data.atomic = transport_atomic,
    .data.post = transport_post,
    .data.adds = transport_adds,
    .progress = hearthi_mpi_progress,
};

const struct hearthi_transport_ops hearthi_transport_mpi_node = {
    .name = "mpi",
    .kind_name = no_name,
    .reason_name = no_name,
    .open = transport_open,
    .close = transport_close,
    .registers = transport_registers,
    .collective.expose = transport_reach,
    .data.fetch = hearthi_mpi_fetch,
    .data.fetch_concurrent = hearthi_mpi_fetch_concurrent,
    .data.fetch_begin = hearthi_mpi_fetch_begin,
    .data.fetch_end = hearthi_mpi_fetch_end,
    .data.diff = hearthi_mpi_diff,
    .data.patch = hearthi_mpi_patch,
    .data.store = hearthi_mpi_store,
    .data.stored = hearthi_mpi_stored,
    .data.notify = hearthi_mpi_notify,
    .data.flush = hearthi_mpi_flush,
    HEARTHI_ONE_NODE_OPS,
    .sync.rw_acquire = hearthi_mpi_rw_acquire,
    .sync.rw_release = hearthi_mpi_rw_release,
    .data.atomic = transport_atomic,
    .data.adds = transport_adds,
    .progress = hearthi_mpi_progress,
};
