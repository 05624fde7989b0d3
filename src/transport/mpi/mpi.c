/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The transport's operations together, and atomics.
 *
 * Of those on windows Fetch_and_op with SUM, REPLACE and NO_OP, and
 * Compare_and_swap (mpi_fabric_window.c); others are broken somewhere:
 * MPI_BAND and the like are not atomic to MPI_SUM in Open MPI 4.1.4 over UCX,
 * which gets, works out and puts them under a lock that MPI_SUM does not take,
 * and Get_accumulate is wrong in several 4.x and 5.x.
 */
#include "config.h"

#include "mpi.h"

#include <string.h>

#include "cluster.h"
#include "diff_aggregate.h"
#include "front/direct.h"
#include "mpi_fabric_window.h"
#include "progress.h"
#include "rma_object.h"
#include "transfer.h"
#include "world.h"

struct hearthi_mpi hearthi_mpi;

/* ---- atomics ---- */

/* A half of a word of 8 bytes. */
static uint32_t
half_get(uint64_t word, size_t at)
{
    uint32_t half;

    memcpy(&half, (char *)&word + at, sizeof half);
    return half;
}

static uint64_t
half_put(uint64_t word, size_t at, uint32_t half)
{
    memcpy((char *)&word + at, &half, sizeof half);
    return word;
}

/* osc/rdma of Open MPI 4.1.4 does a compare-and-swap of 4 bytes by a get and a
 * put under a lock, which other steps do not take, unless the BTL has it as
 * such, which vader does not say; one of 8 bytes it does right.  Fetch_and_op
 * it does right on 4 bytes, too, the same way as this. */
static uint64_t
narrow_swap(MPI_Win win, int home, size_t offset,
            const struct hearthi_atomic_op *s)
{
    size_t                   word = offset & ~(size_t)7, at = offset - word;
    struct hearthi_atomic_op wide = { .kind = HEARTHI_ADD };
    uint64_t found = hearthi_fetch_atomic_op(win, home, word, &wide);

    wide.kind = HEARTHI_CAS;
    do {
        if (half_get(found, at) != (uint32_t)s->expected)
            break;
        wide.expected = found;
        wide.value = half_put(found, at, (uint32_t)s->value);
        found = hearthi_fetch_atomic_op(win, home, word, &wide);
    } while (found != wide.expected);
    return half_get(found, at);
}

static uint64_t
transport_atomic(int home, size_t offset, const struct hearthi_atomic_op *s)
{
    int      w = hearthi_window_of(offset);
    MPI_Win  win = hearthi_windows.win[w];
    size_t   at = offset - hearthi_window_begin(w);
    uint64_t old;

    if (!hearthi_windows.is_rdma)
        return hearthi_fetch_atomic_op(win, home, at, s);
    if (home != hearthi_cluster.rank)
        return s->narrow && s->kind == HEARTHI_CAS
                   ? narrow_swap(win, home, at, s)
                   : hearthi_fetch_atomic_op(win, home, at, s);
    old = hearthi_atomic_op_here(
        hearthi_segments.base[hearthi_cluster.node_rank] + offset, s);
    hearthi_progress_own(win);
    return old;
}

/* ---- progress ---- */

static void
transport_progress(void)
{
    if (hearthi_world.multiple ||
        hearthi_thread() == hearthi_world.main_thread)
        hearthi_progress_drive();
}

/* ---- start and stop ---- */

static void
transport_open(void)
{
    hearthi_mpi = (struct hearthi_mpi){ .sync = MPI_WIN_NULL };
    hearthi_progress_open();
    hearthi_node_open();
    if (hearthi_cluster.nodes > 1) {
        hearthi_transfer_open();
        hearthi_windows_open();
        hearthi_sync_open();
    }
    hearthi_barrier_open();
    hearthi_helper_open();
}

static void
transport_close(void)
{
    hearthi_helper_close();
    hearthi_barrier_close();
    if (hearthi_cluster.nodes > 1) {
        hearthi_sync_close();
        hearthi_windows_close();
        hearthi_transfer_close();
    }
    hearthi_node_close();
    hearthi_progress_close();
}

static bool
transport_registers(void)
{
    return hearthi_cluster.nodes > 1;
}

static void
transport_reach(uint64_t frames)
{
    if (hearthi_cluster.nodes > 1)
        hearthi_windows_expose(frames);
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
    .reach = transport_reach,
    .fetch = hearthi_mpi_fetch,
    .bring = hearthi_mpi_fetch_concurrent,
    .bring_begin = hearthi_mpi_fetch_begin,
    .bring_end = hearthi_mpi_fetch_end,
    .diff = hearthi_mpi_diff,
    .patch = hearthi_mpi_patch,
    .store = hearthi_mpi_store,
    .stored = hearthi_mpi_stored,
    .tell = hearthi_mpi_notify,
    .flush = hearthi_mpi_flush,
    .acquire = hearthi_mpi_acquire,
    .release = hearthi_mpi_release,
    .keep = hearthi_mpi_delegate,
    .begin = hearthi_mpi_begin,
    .barrier = hearthi_mpi_barrier,
    .flag_set = hearthi_mpi_flag_set,
    .flag_wait = hearthi_mpi_flag_wait,
    .flag_reset = hearthi_mpi_flag_reset,
    .cond_enter = hearthi_mpi_cond_enter,
    .cond_wait = hearthi_mpi_cond_wait,
    .cond_wake = hearthi_mpi_cond_wake,
    .lost = hearthi_mpi_abandoned_locks,
    .rw_acquire = hearthi_mpi_rw_acquire,
    .rw_release = hearthi_mpi_rw_release,
    .atomic = transport_atomic,
    .progress = transport_progress,
};
