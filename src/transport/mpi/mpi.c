/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The transport's operations together, and atomics.
 *
 * Of those on windows Fetch_and_op only: others are broken somewhere
 * (Compare_and_swap on 64 bits in Open MPI 4.1.4, Get_accumulate in several
 * 4.x and 5.x).
 */
#include "config.h"

#include "mpi.h"

#include "front/direct.h"
#include "managed.h"
#include "pack.h"
#include "progress.h"
#include "transfer.h"
#include "window.h"
#include "world.h"

struct hearthi_mpi hearthi_mpi;

/* ---- atomics ---- */

static int64_t
transport_atomic(enum hearthi_atomic op, int home, size_t offset,
                 int64_t value)
{
    int w = hearthi_window_of(offset);

    return (int64_t)hearthi_fetch_op(
        hearthi_windows.win[w], home, offset - hearthi_window_begin(w),
        op == HEARTHI_ADD ? MPI_SUM : MPI_REPLACE, (uint64_t)value);
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
    if (hearthi_world.nodes > 1) {
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
    if (hearthi_world.nodes > 1) {
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
    return hearthi_world.nodes > 1;
}

static void
transport_reach(uint64_t frames)
{
    if (hearthi_world.nodes > 1)
        hearthi_windows_reach(frames);
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
    .bring = hearthi_mpi_bring,
    .bring_begin = hearthi_mpi_bring_begin,
    .bring_end = hearthi_mpi_bring_end,
    .diff = hearthi_mpi_diff,
    .patch = hearthi_mpi_patch,
    .tell = hearthi_mpi_tell,
    .flush = hearthi_mpi_flush,
    .acquire = hearthi_mpi_acquire,
    .release = hearthi_mpi_release,
    .keep = hearthi_mpi_keep,
    .begin = hearthi_mpi_begin,
    .barrier = hearthi_mpi_barrier,
    .flag_set = hearthi_mpi_flag_set,
    .flag_wait = hearthi_mpi_flag_wait,
    .flag_reset = hearthi_mpi_flag_reset,
    .cond_enter = hearthi_mpi_cond_enter,
    .cond_wait = hearthi_mpi_cond_wait,
    .cond_wake = hearthi_mpi_cond_wake,
    .lost = hearthi_mpi_lost,
    .rw_acquire = hearthi_mpi_rw_acquire,
    .rw_release = hearthi_mpi_rw_release,
    .atomic = transport_atomic,
    .progress = transport_progress,
};
