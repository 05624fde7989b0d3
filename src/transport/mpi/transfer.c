/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Bytes to and from the windows that cover the segments.
 *
 * Contiguous MPI_Get and MPI_Put of MPI_BYTE only: derived types are broken in
 * MPICH 5.0.1, and in Open MPI 4.1.4 a Put of one is as slow as one for each
 * of its pieces.
 */
#include "config.h"

#include "transfer.h"

#include <stdlib.h>
#include <string.h>

#include "base/report.h"
#include "cluster.h"
#include "front/direct.h"
#include "mpi.h"
#include "mpi_fabric_window.h"
#include "progress.h"
#include "space/heap.h"
#include "space/segment.h"

enum { ONES = 1 << 16, PIECE = 4 << 20, FEW = 1 << 16 };

static uint8_t *ones; /* ONES flags that are set */

/* Together they stay below the bound on all (mpi.h), with one more for each
 * target, or for each way, that a flush adds. */
enum {
    LOCKED_MOST = HEARTHI_OUTSTANDING / 2 - HEARTHI_TARGETS,
    FIRST_WAY_MOST = HEARTHI_OUTSTANDING / 4,
    WAY_MOST = HEARTHI_OUTSTANDING / 4 / HEARTHI_WAYS
};

/* Operations that were started and not waited for, by whoever has the lock of
 * the page table or by one fetch beside it.  A target is a window of a home.
 *
 * A flush waits for what all threads have started at its target.  So a fetch
 * beside the lock has a request for each Get, and flushes where it has put
 * flags only. */
struct outstanding {
    int         most, count, targets;
    int         home[HEARTHI_TARGETS], window[HEARTHI_TARGETS];
    MPI_Win     win[HEARTHI_TARGETS];
    MPI_Request last[HEARTHI_TARGETS]; /* of the last Get, or null */
    bool        got[HEARTHI_TARGETS];  /* behind the last Put */
    size_t      bytes;
    bool        beside, puts;
    int         gets, get_home[FIRST_WAY_MOST];
    MPI_Request get[FIRST_WAY_MOST];
};

static struct outstanding locked = { .most = LOCKED_MOST };
static struct outstanding ahead; /* on the first way */

/* Several targets: each window once. */
static void
windows_flush(const struct outstanding *o)
{
    uint64_t flushed = 0;

    for (int i = 0; i < o->targets; i++) {
        uint64_t bit = UINT64_C(1) << o->window[i];

        if (!(flushed & bit))
            HEARTHI_MPI(MPI_Win_flush_all(o->win[i]));
        flushed |= bit;
    }
}

/* A Put has arrived about when a Get that followed it has. */
static void
gets_wait(struct outstanding *o)
{
    hearthi_wait_requests(o->get, o->get_home, o->gets, o->bytes, true);
    for (int i = 0; o->puts && i < o->targets; i++)
        if (o->got[i])
            HEARTHI_MPI(MPI_Win_flush(o->home[i], o->win[i]));
        else
            hearthi_flush(o->win[i], o->home[i]);
    o->gets = 0;
}

static void
outstanding_wait(struct outstanding *o)
{
    if (o->count == 0)
        return;
    if (o->gets > 0)
        gets_wait(o);
    else if (hearthi_help.need[HEARTHI_PAGE] != HEARTHI_FREE)
        hearthi_wait_flush(o->win, o->last, o->home, o->targets, o->bytes);
    else if (o->targets == 1)
        HEARTHI_MPI(MPI_Win_flush(o->home[0], o->win[0]));
    else
        windows_flush(o);
    o->count = 0;
    o->targets = 0;
    o->bytes = 0;
    o->puts = false;
}

static void
target_add(struct outstanding *o, int i, int home, int window)
{
    o->home[i] = home;
    o->window[i] = window;
    o->win[i] = hearthi_windows.win[window];
    o->last[i] = MPI_REQUEST_NULL;
    o->got[i] = false;
    if (hearthi_help.need[HEARTHI_PAGE] == HEARTHI_BLOCKS)
        hearthi_doorbell_announce(home);
}

/* Room for one more operation: the index of its target. */
static int
outstanding_add(struct outstanding *o, int home, int window, size_t len)
{
    int i;

    if (o->count >= o->most)
        outstanding_wait(o);
    i = o->targets - 1;
    while (i >= 0 && (o->home[i] != home || o->window[i] != window))
        i--;
    if (i < 0) {
        if (o->targets == HEARTHI_TARGETS)
            outstanding_wait(o);
        i = o->targets++;
        target_add(o, i, home, window);
    }
    o->count++;
    o->bytes += len;
    hearthi_mpi_count(home, len);
    return i;
}

/* How much of so many bytes from an offset on lies in this window. */
static size_t
span_of(int window, size_t offset, size_t len)
{
    size_t left = hearthi_window_end(window) - offset;

    return len < left ? len : left;
}

static void
put_on(struct outstanding *o, int home, size_t offset, const void *src,
       size_t len)
{
    const char *from = src;

    for (size_t n; len > 0; len -= n, offset += n, from += n) {
        int w = hearthi_window_of(offset);

        n = span_of(w, offset, len);
        o->got[outstanding_add(o, home, w, n)] = false;
        o->puts = true;
        HEARTHI_MPI(MPI_Put(from, (int)n, MPI_BYTE, home,
                            (MPI_Aint)(offset - hearthi_window_begin(w)),
                            (int)n, MPI_BYTE, hearthi_windows.win[w]));
    }
}

/* Flags of a run and the summary bytes that stand for them. */
static void
flags_put(struct outstanding *o, int home, uint64_t frame, uint64_t count)
{
    while (count > 0) {
        uint64_t n = count < ONES ? count : ONES;
        uint64_t first = frame / HEARTHI_SUMMARY;
        uint64_t last = (frame + n - 1) / HEARTHI_SUMMARY;

        put_on(o, home, frame, ones, n);
        put_on(o, home, hearthi_segments.summary_at + first, ones,
               last - first + 1);
        frame += n;
        count -= n;
    }
}

/* Does the window cover any of a run, or its flags?  Those of all frames are
 * in the first. */
static bool
is_covered(const struct hearthi_fetch *run, int window)
{
    size_t begin = hearthi_frame_at(run->frame, hearthi_heap.shift);
    size_t len = (size_t)run->count << hearthi_heap.shift;

    return (run->announce && window == 0) ||
           (hearthi_window_of(begin) <= window &&
            hearthi_window_of(begin + len - 1) >= window);
}

static bool
is_any_covered(const struct hearthi_fetch *run, size_t n, int home, int window)
{
    for (size_t i = 0; i < n; i++)
        if (run[i].home == home && is_covered(&run[i], window))
            return true;
    return false;
}

/* Where the request of a Get goes, or NULL if it needs none.  If one is needed
 * to wait for a target, its last operation has it, a Get or one that is made
 * for it: a flush behind an earlier one would block, and cannot ring
 * meanwhile. */
static MPI_Request *
request_for(struct outstanding *o, int target, bool more_follow)
{
    if (hearthi_help.need[HEARTHI_PAGE] == HEARTHI_FREE)
        return NULL;
    if (!o->beside)
        return more_follow ? NULL : &o->last[target];
    o->got[target] = true;
    o->get_home[o->gets] = o->home[target];
    return &o->get[o->gets++];
}

/* Get the first of n runs. */
static void
run_get(struct outstanding *o, const struct hearthi_fetch *run, size_t n)
{
    size_t offset = hearthi_frame_at(run->frame, hearthi_heap.shift);
    size_t left = (size_t)run->count << hearthi_heap.shift;
    char  *to = run->to;

    for (size_t len; left > 0; left -= len, offset += len, to += len) {
        int          w = hearthi_window_of(offset);
        size_t       here = span_of(w, offset, left);
        MPI_Win      win = hearthi_windows.win[w];
        MPI_Aint     at = (MPI_Aint)(offset - hearthi_window_begin(w));
        MPI_Request *request;

        len = here < PIECE ? here : PIECE;
        request = request_for(
            o, outstanding_add(o, run->home, w, len),
            len < here || is_any_covered(run + 1, n - 1, run->home, w));
        if (request != NULL)
            HEARTHI_MPI(MPI_Rget(to, (int)len, MPI_BYTE, run->home, at,
                                 (int)len, MPI_BYTE, win, request));
        else
            HEARTHI_MPI(MPI_Get(to, (int)len, MPI_BYTE, run->home, at,
                                (int)len, MPI_BYTE, win));
    }
}

static void
runs_get(struct outstanding *o, const struct hearthi_fetch *run, size_t n)
{
    for (size_t i = 0; i < n; i++) {
        if (run[i].announce)
            flags_put(o, run[i].home, run[i].frame, run[i].count);
        run_get(o, run + i, n - i);
    }
}

void
hearthi_mpi_fetch(const struct hearthi_fetch *run, size_t n)
{
    runs_get(&locked, run, n);
    outstanding_wait(&locked);
}

static void
way_begin(struct outstanding *o, int way)
{
    o->most = way == 0 ? FIRST_WAY_MOST : WAY_MOST;
    o->count = o->targets = o->gets = 0;
    o->bytes = 0;
    o->beside = true;
    o->puts = false;
}

void
hearthi_mpi_fetch_concurrent(int way, const struct hearthi_fetch *run,
                             size_t n)
{
    struct outstanding o;

    way_begin(&o, way);
    runs_get(&o, run, n);
    outstanding_wait(&o);
}

/* Where a target has to be woken nobody would, until this ends; and a flush of
 * others would wait for it.  Where not, a few pages are here in less time than
 * the fault takes that would wait for them. */
bool
hearthi_mpi_fetch_begin(const struct hearthi_fetch *run, size_t n)
{
    way_begin(&ahead, 0);
    runs_get(&ahead, run, n);
    if (hearthi_help.need[HEARTHI_PAGE] == HEARTHI_FREE && ahead.bytes > FEW)
        return true;
    outstanding_wait(&ahead);
    return false;
}

void
hearthi_mpi_fetch_end(void)
{
    outstanding_wait(&ahead);
}

void
hearthi_put(int home, size_t offset, const void *src, size_t len)
{
    put_on(&locked, home, offset, src, len);
}

void
hearthi_puts_wait(void)
{
    outstanding_wait(&locked);
}

static struct outstanding beside = { .most = WAY_MOST, .beside = true };

void
hearthi_mpi_store(int home, size_t offset, const void *src, size_t len)
{
    put_on(&beside, home, offset, src, len);
}

void
hearthi_mpi_stored(void)
{
    outstanding_wait(&beside);
}

void
hearthi_look(int home, size_t offset, void *to, size_t len)
{
    MPI_Request request;

    HEARTHI_MPI(MPI_Rget(to, (int)len, MPI_BYTE, home, (MPI_Aint)offset,
                         (int)len, MPI_BYTE, hearthi_windows.win[0],
                         &request));
    hearthi_mpi_count(home, len);
    hearthi_wait_requests(&request, &home, 1, len, false);
}

void
hearthi_transfer_open(void)
{
    ones = malloc(ONES);
    if (ones == NULL)
        hearthi_fatal("hearth_init", "no memory");
    memset(ones, 1, ONES);
}

void
hearthi_transfer_close(void)
{
    free(ones);
}
