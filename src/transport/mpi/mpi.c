/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages, diffs and atomics over one window that covers the segments.
 *
 * Contiguous MPI_Get and MPI_Put of MPI_BYTE and Fetch_and_op only: other
 * calls are broken somewhere (Compare_and_swap on 64 bits in Open MPI 4.1.4,
 * Get_accumulate in several 4.x and 5.x, derived types in MPICH 5.0.1).
 */
#include "config.h"

#include "mpi.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "progress.h"
#include "space/heap.h"
#include "space/segment.h"
#include "world.h"

struct hearthi_mpi hearthi_mpi;

enum { ONES = 1 << 16, PIECE = 4 << 20 };

static uint8_t *ones; /* ONES flags that are set */

static void
window_refused(int code)
{
    char text[MPI_MAX_ERROR_STRING] = "?";
    int  len = 0;

    MPI_Error_string(code, text, &len);
    hearthi_fatal(
        "hearth_init",
        "this MPI cannot make the windows between these hosts (%s): with Open "
        "MPI "
        "over TCP pass '--mca pml ucx --mca osc ucx --mca pml_ucx_tls any "
        "--mca pml_ucx_devices any -x UCX_TLS=tcp,self' to mpirun, or "
        "'--mca pml ob1 --mca osc pt2pt' and less than MPI_THREAD_MULTIPLE "
        "(see hearth-info)",
        text);
}

/* Loads and stores must meet what RMA wrote without further calls. */
static void
model_check(void)
{
    int *model, found = 0;

    MPI_Win_get_attr(hearthi_mpi.heap, MPI_WIN_MODEL, &model, &found);
    if (!found || *model != MPI_WIN_UNIFIED)
        hearthi_fatal("hearth_init",
                      "this MPI has the separate memory model of RMA, which "
                      "shared memory cannot be built on: use another MPI or "
                      "another network module of it");
}

MPI_Info
hearthi_window_info(void)
{
    MPI_Info info;

    HEARTHI_MPI(MPI_Info_create(&info));
    HEARTHI_MPI(MPI_Info_set(info, "accumulate_ordering", "none"));
    HEARTHI_MPI(MPI_Info_set(info, "acc_single_intrinsic", "true"));
    HEARTHI_MPI(
        MPI_Info_set(info, "which_accumulate_ops", "sum,replace,no_op"));
    return info;
}

static void
heap_window_open(void)
{
    struct hearthi_segments *s = &hearthi_segments;
    MPI_Info                 info = hearthi_window_info();
    int                      code;

    code = MPI_Win_create(s->base[hearthi_world.node_rank], (MPI_Aint)s->bytes,
                          1, info, hearthi_world.comm, &hearthi_mpi.heap);
    MPI_Info_free(&info);
    if (code != MPI_SUCCESS)
        window_refused(code);
    MPI_Win_set_errhandler(hearthi_mpi.heap, MPI_ERRORS_RETURN);
    model_check();
    HEARTHI_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, hearthi_mpi.heap));
}

/* ---- pages and diffs ---- */

/* Operations on the heap window that were started and not waited for. */
static struct {
    int         count, homes;
    int         home[HEARTHI_TARGETS];
    MPI_Request last[HEARTHI_TARGETS]; /* of the last Get, or null */
    size_t      bytes;
} outstanding;

static void
outstanding_wait(void)
{
    MPI_Win heap = hearthi_mpi.heap;

    if (outstanding.count == 0)
        return;
    if (hearthi_help.need[HEARTHI_PAGE] != HEARTHI_FREE)
        hearthi_wait_flush(heap, outstanding.last, outstanding.home,
                           outstanding.homes, outstanding.bytes);
    else if (outstanding.homes == 1)
        HEARTHI_MPI(MPI_Win_flush(outstanding.home[0], heap));
    else
        HEARTHI_MPI(MPI_Win_flush_all(heap));
    outstanding.count = 0;
    outstanding.homes = 0;
    outstanding.bytes = 0;
}

/* Room for one more operation: the index of its home. */
static int
outstanding_add(int home, size_t len)
{
    int i;

    if (outstanding.count >= HEARTHI_OUTSTANDING)
        outstanding_wait();
    i = outstanding.homes - 1;
    while (i >= 0 && outstanding.home[i] != home)
        i--;
    if (i < 0) {
        if (outstanding.homes == HEARTHI_TARGETS)
            outstanding_wait();
        i = outstanding.homes++;
        outstanding.home[i] = home;
        outstanding.last[i] = MPI_REQUEST_NULL;
        if (hearthi_help.need[HEARTHI_PAGE] == HEARTHI_BLOCKS)
            hearthi_bell_announce(home);
    }
    outstanding.count++;
    outstanding.bytes += len;
    hearthi_mpi_count(home, len);
    return i;
}

static void
put(int home, size_t offset, const void *src, size_t len)
{
    outstanding_add(home, len);
    HEARTHI_MPI(MPI_Put(src, (int)len, MPI_BYTE, home, (MPI_Aint)offset,
                        (int)len, MPI_BYTE, hearthi_mpi.heap));
}

/* A `last` Get of a home has a request, if one is needed to wait for it. */
static void
get(int home, size_t offset, void *dst, size_t len, bool last)
{
    MPI_Request *request = &outstanding.last[outstanding_add(home, len)];
    MPI_Aint     at = (MPI_Aint)offset;
    int          n = (int)len;

    if (last && *request == MPI_REQUEST_NULL &&
        hearthi_help.need[HEARTHI_PAGE] != HEARTHI_FREE)
        HEARTHI_MPI(MPI_Rget(dst, n, MPI_BYTE, home, at, n, MPI_BYTE,
                             hearthi_mpi.heap, request));
    else
        HEARTHI_MPI(MPI_Get(dst, n, MPI_BYTE, home, at, n, MPI_BYTE,
                            hearthi_mpi.heap));
}

/* Flags of a run and the summary bytes that stand for them. */
static void
flags_put(int home, uint64_t frame, uint64_t count)
{
    while (count > 0) {
        uint64_t n = count < ONES ? count : ONES;
        uint64_t first = frame / HEARTHI_SUMMARY;
        uint64_t last = (frame + n - 1) / HEARTHI_SUMMARY;

        put(home, frame, ones, n);
        put(home, hearthi_segments.summary_at + first, ones, last - first + 1);
        frame += n;
        count -= n;
    }
}

static void
transport_fetch(const struct hearthi_fetch *run, size_t n)
{
    unsigned shift = hearthi_heap.shift;

    for (size_t i = 0; i < n; i++) {
        const struct hearthi_fetch *f = &run[i];
        size_t                      len = (size_t)f->count << shift;
        bool last = i + 1 == n || run[i + 1].home != f->home;

        if (f->announce)
            flags_put(f->home, f->frame, f->count);
        for (size_t at = 0; at < len; at += PIECE)
            get(f->home, hearthi_frame_at(f->frame, shift) + at,
                hearthi_cached(f->page) + at,
                len - at < PIECE ? len - at : PIECE,
                last && len - at <= PIECE);
    }
    outstanding_wait();
}

/* The value leaves from here later, so no two of one batch share a place. */
static void
transport_tell(int home)
{
    static uint64_t     value[HEARTHI_OUTSTANDING];
    static unsigned     place;
    uint64_t           *v = &value[++place % HEARTHI_OUTSTANDING];
    struct hearthi_told told = hearthi_told_next();

    *v = told.value;
    put(home, told.at, v, sizeof *v);
}

/* ---- atomics ---- */

static int64_t
transport_atomic(enum hearthi_atomic op, int home, size_t offset,
                 int64_t value)
{
    return (int64_t)hearthi_fetch_op(hearthi_mpi.heap, home, offset,
                                     op == HEARTHI_ADD ? MPI_SUM : MPI_REPLACE,
                                     (uint64_t)value);
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
    hearthi_mpi =
        (struct hearthi_mpi){ .heap = MPI_WIN_NULL, .sync = MPI_WIN_NULL };
    hearthi_progress_open();
    hearthi_node_open();
    if (hearthi_world.nodes > 1) {
        ones = malloc(ONES);
        if (ones == NULL)
            hearthi_fatal("hearth_init", "no memory");
        memset(ones, 1, ONES);
        heap_window_open();
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
        MPI_Win_unlock_all(hearthi_mpi.heap);
        MPI_Win_free(&hearthi_mpi.heap);
        free(ones);
    }
    hearthi_node_close();
    hearthi_progress_close();
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
    .fetch = transport_fetch,
    .diff = put,
    .tell = transport_tell,
    .flush = outstanding_wait,
    .acquire = hearthi_mpi_acquire,
    .release = hearthi_mpi_release,
    .barrier = hearthi_mpi_barrier,
    .flag_set = hearthi_mpi_flag_set,
    .flag_wait = hearthi_mpi_flag_wait,
    .flag_reset = hearthi_mpi_flag_reset,
    .atomic = transport_atomic,
    .progress = transport_progress,
};
