/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The windows over the segments, and the one of managed objects.
 *
 * A network card registers what a window covers: the memory is pinned, and
 * half of the machine's would be gone if one window covered all of
 * HEARTH_HOME. So windows follow allocation: the first covers the head of each
 * segment, its arena (space/heap.h) and some frames behind that, and each
 * further one as many frames as there were before, or that a multiple times
 * over if one allocation needs it, made when frames are given out that no
 * window covers.  All ranks compute that from the same allocations.  Windows
 * stay, so what is covered is 64 MiB, or less than twice what lies below the
 * last frame that any segment ever had in use, free frames between them
 * included.  That takes some ten windows (MPICH 4.0.2 has 2045); a program
 * that stays in the first never pays for this.
 *
 * Windows by chunks, not one dynamic window: a Get of 4 KiB with its flush
 * took 12.1 us on a dynamic window against 7.3 us (MPICH 4.0.2; 15.4 with 200
 * regions), 2.3 us on both (Open MPI 4.1.4, osc/rdma, which has 64 regions at
 * most), and Open MPI over UCX could not attach at all.  Making a window took
 * 0.1 to 1 ms, over UCX in Open MPI up to 100 ms; four windows are as fast as
 * one.
 */
#include "config.h"

#include "mpi_fabric.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/min.h"
#include "base/mpi_recipe.h"
#include "base/report.h"
#include "cluster.h"
#include "collective.h"
#include "front/direct.h"
#include "front/session.h"
#include "space/heap.h"
#include "transport/transport.h"

struct hearthi_windows hearthi_windows;

/* The settings that hearth-info prints, and tries, under that name; "" if
 * there are none for this library. */
static void
recipe_text(char *text, size_t size, struct hearthi_mpi_library library,
            const char *when, enum hearthi_mpi_form form)
{
    struct hearthi_mpi_recipe r;

    text[0] = '\0';
    for (int i = 1; hearthi_mpi_recipe(library, i, &r); i++)
        if (strcmp(r.when, when) == 0)
            hearthi_mpi_settings(text, size, library, r.settings, form);
}

static const char *
remedy_text(char *text, size_t size)
{
    static const char          tcp[] = "UCX over TCP";
    char                       words[256], variables[256], plain[256];
    struct hearthi_mpi_library library = hearthi_mpi_library_loaded();

    if (library.kind != HEARTHI_MPI_OPEN)
        return "set HEARTH_TRANSPORT=udp (see hearth-info)";
    recipe_text(words, sizeof words, library, tcp, HEARTHI_MPI_WORDS);
    recipe_text(variables, sizeof variables, library, tcp,
                HEARTHI_MPI_VARIABLES);
    recipe_text(plain, sizeof plain, library, "point-to-point windows",
                HEARTHI_MPI_WORDS);
    snprintf(text, size,
             "over TCP pass '%s' to mpirun, or set %s where srun starts the "
             "ranks%s%s%s; or set HEARTH_TRANSPORT=udp (see hearth-info)",
             words, variables, plain[0] == '\0' ? "" : "; or pass '", plain,
             plain[0] == '\0' ? ", and use less than MPI_THREAD_MULTIPLE"
                              : "' and use less than MPI_THREAD_MULTIPLE");
    return text;
}

/* The first is refused for want of a network module, later ones for want of
 * what a card may pin. */
static void
window_refused(const char *call, int code, size_t bytes)
{
    char text[MPI_MAX_ERROR_STRING] = "?", remedy[2048];
    int  len = 0;

    MPI_Error_string(code, text, &len);
    if (hearthi_windows.n > 0)
        hearthi_fatal(call,
                      "this MPI cannot make a window over %zu more bytes of "
                      "home memory (%s): raise the limit on memory that a "
                      "network card may pin (ulimit -l), or allocate less",
                      bytes, text);
    hearthi_fatal(call,
                  "this MPI cannot make the windows between these hosts (%s): "
                  "%s",
                  text, remedy_text(remedy, sizeof remedy));
}

/* Loads and stores must meet what RMA wrote without further calls. */
static void
model_check(MPI_Win win)
{
    int *model, found = 0;

    MPI_Win_get_attr(win, MPI_WIN_MODEL, &model, &found);
    if (!found || *model != MPI_WIN_UNIFIED)
        hearthi_fatal("hearth_init",
                      "this MPI has the separate memory model of RMA, which "
                      "shared memory cannot be built on: use another MPI or "
                      "another network module of it");
}

/*
 * Are steps of SUM, REPLACE and Compare_and_swap on one word atomic to each
 * other?  MPI promises it under no value of accumulate_ops (same_op_no_op by
 * default, or same_op), but each implementation is so where all of them are
 * done by one and the same means.
 *
 * MPICH: by the target's processor, one after the other in its progress engine
 * and under its lock, also those on a rank's own words; or by the network, if
 * it is told not to use shared memory for them, and then only if the network
 * has all those of the key which_accumulate_ops.  So that key lists what
 * Hearth uses.
 *
 * Open MPI, osc/pt2pt: by the target's processor, under a lock of the window.
 * osc/ucx: each is one atomic of UCX, which does all of a worker by the card
 * or all by the processor.  (Others than these are not.)
 *
 * Open MPI, osc/rdma: each is one atomic of the BTL.  That of shared memory
 * (vader) has the target's progress engine do it, by one instruction of the
 * processor.  But a rank's own words osc/rdma reaches by plain loads and
 * stores, which another thread that drives progress for other ranks may come
 * between, and Compare_and_swap on them crashes (4.1.4: vader has no endpoint
 * for it).  So there the rank itself takes the processor's instructions, which
 * are atomic to those of vader.  With a network card whose atomics are not
 * atomic to the processor's osc/rdma's own loads and stores are not, either.
 *
 * Open MPI from 5.0 on, osc/rdma: as in 4.1, but where all ranks of the window
 * are on one machine Compare_and_swap is a get and a put under a lock of the
 * target's (5.0.7, 5.0.11: use_shared_mem in osc_rdma_accumulate.c).  All
 * other steps take that lock, too, also those on a rank's own words; the
 * processor's instructions do not, and what they did between the get and the
 * put was lost.  So there all steps are MPI's, and those of 4 bytes are not
 * made by one of 8, which would put back what a neighbour was.  Between
 * machines Compare_and_swap is one atomic of the BTL and takes no lock: there
 * the rank's own steps are the processor's, as in 4.1, since those of osc/rdma
 * on own words are loads and stores under the lock.  (The program `mix` of
 * doc/mpi-bugs.md tries the combinations.)
 *
 * Neither MPI tells which module a window has, but its name begins with it
 * (ompi_win_set_name in osc_rdma_component.c).
 * tests/coherence/atomics.c mixes all steps, by all ranks and threads.
 */
static bool
is_rdma(MPI_Win win)
{
    static const char rdma[] = "rdma window";
    char              name[MPI_MAX_OBJECT_NAME] = "";
    int               len;

    MPI_Win_get_name(win, name, &len);
    return strncmp(name, rdma, sizeof rdma - 1) == 0;
}

static bool
has_own_steps(MPI_Win win)
{
    bool one_machine = hearthi_cluster.machine_ranks == hearthi_cluster.size;

    return is_rdma(win) && !(one_machine && hearthi_mpi_library_loaded().major >= 5);
}

/* What is said of every window: each flush waits for at most one accumulate a
 * word, so they need no order; and all of them are single steps of
 * Fetch_and_op and Compare_and_swap, which Open MPI's osc/rdma then does by
 * one network atomic instead of under a lock at the target.  An MPI that does
 * not know a key ignores it.  To be freed. */
static MPI_Info
window_info(void)
{
    MPI_Info info;

    HEARTHI_MPI(MPI_Info_create(&info));
    HEARTHI_MPI(MPI_Info_set(info, "accumulate_ordering", "none"));
    HEARTHI_MPI(MPI_Info_set(info, "acc_single_intrinsic", "true"));
    HEARTHI_MPI(
        MPI_Info_set(info, "which_accumulate_ops", "sum,replace,no_op,cswap"));
    return info;
}

static size_t
step_end(int step)
{
    size_t end = hearthi_segments.frames_at + (hearthi_windows.first << step);

    return end < hearthi_segments.bytes ? end : hearthi_segments.bytes;
}

/* The same piece of every segment: all steps below this one that no window
 * covers. */
static void
window_make(const char *call, int steps)
{
    struct hearthi_windows *w = &hearthi_windows;
    size_t                  at = w->n == 0 ? 0 : w->end[w->n - 1];
    size_t                  bytes = step_end(steps - 1) - at;
    MPI_Info                info = window_info();
    char *base = hearthi_segments.base[hearthi_cluster.node_rank] + at;
    int   code;

    code = HEARTHI_SPINS(MPI_Win_create(base, (MPI_Aint)bytes, 1, info,
                                        hearthi_cluster.comm, &w->win[w->n]));
    MPI_Info_free(&info);
    if (code != MPI_SUCCESS)
        window_refused(call, code, bytes);
    MPI_Win_set_errhandler(w->win[w->n], MPI_ERRORS_RETURN);
    HEARTHI_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, w->win[w->n]));
    w->begin[w->n] = at;
    w->end[w->n] = at + bytes;
    while (w->steps < steps)
        w->of_step[w->steps++] = (uint8_t)w->n;
    w->n++;
}

static void
home_open(void)
{
    struct hearthi_windows *w = &hearthi_windows;
    size_t                  page = hearthi_heap.page, end;
    int                     steps = 1;

    w->n = w->steps = 0;
    w->first = page > HEARTHI_WINDOW_FIRST ? page : HEARTHI_WINDOW_FIRST;
    end = hearthi_frame_at(hearthi_segments.arena, hearthi_heap.shift) +
          w->first / 2;
    end = hearthi_min(end, hearthi_segments.bytes);
    while (end > step_end(steps - 1))
        steps++;
    w->first_end = step_end(steps - 1);
    window_make("hearth_init", steps);
    model_check(w->win[0]);
    w->own_steps = has_own_steps(w->win[0]);
}

static void
home_close(void)
{
    struct hearthi_windows *w = &hearthi_windows;

    while (w->n > 0) {
        w->n--;
        MPI_Win_unlock_all(w->win[w->n]);
        HEARTHI_SPINS(MPI_Win_free(&w->win[w->n]));
    }
}

/* Other threads of all ranks go on meanwhile, on the windows that there are:
 * no lock of ours is held, and this one drives progress inside MPI.  No rank
 * leaves before each has all windows. */
static void
home_grow(uint64_t frames)
{
    struct hearthi_windows *w = &hearthi_windows;
    size_t                  end = hearthi_frame_at(frames, hearthi_heap.shift);
    int                     steps = w->steps;
    MPI_Request             request;

    if (end <= step_end(steps - 1))
        return;
    while (end > step_end(steps - 1))
        steps++;
    hearthi_window_order_begin();
    window_make("hearth_alloc", steps);
    hearthi_window_order_end();
    HEARTHI_MPI(MPI_Ibarrier(hearthi_cluster.comm, &request));
    hearthi_requests_wait(&request, 1);
}

/* ---- the window of managed objects ---- */

/* MPICH 4.0.2 misplaces data unless a window's size is a multiple of 16. */
static void *
sync_open(size_t bytes)
{
    MPI_Info info = window_info();
    void    *base;

    HEARTHI_ASSERT(bytes % 16 == 0);
    HEARTHI_MPI_SPINS(MPI_Win_allocate((MPI_Aint)bytes, 1, info,
                                       hearthi_cluster.comm, &base,
                                       &hearthi_windows.sync));
    MPI_Info_free(&info);
    MPI_Win_set_errhandler(hearthi_windows.sync, MPI_ERRORS_RETURN);
    return base;
}

static void
sync_ready(void)
{
    HEARTHI_MPI(MPI_Win_lock_all(MPI_MODE_NOCHECK, hearthi_windows.sync));
    HEARTHI_MPI(MPI_Win_sync(hearthi_windows.sync));
    hearthi_collective(hearthi_cluster.comm);
}

static void
sync_close(void)
{
    MPI_Win_unlock_all(hearthi_windows.sync);
    HEARTHI_SPINS(MPI_Win_free(&hearthi_windows.sync));
}

const struct hearthi_fabric_ops hearthi_mpi_fabric = {
    .name = "mpi",
    .check = hearthi_mpi_peek,
    .registers = true,
    .home_open = home_open,
    .home_close = home_close,
    .home_grow = home_grow,
    .sync_open = sync_open,
    .sync_ready = sync_ready,
    .sync_close = sync_close,
    .probe = hearthi_mpi_probe,
    .exchange = hearthi_mpi_exchange,
    .gather = hearthi_mpi_gather,
};
