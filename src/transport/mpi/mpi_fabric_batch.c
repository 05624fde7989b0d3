/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Batches: bytes to and from the windows over the segments.
 *
 * Contiguous MPI_Get and MPI_Put of MPI_BYTE only: derived types are broken in
 * MPICH 5.0.1, and in Open MPI 4.1.4 a Put of one is as slow as one for each
 * of its pieces.
 *
 * A flush waits for what all threads have started at its target.  So a batch
 * beside the lock of the page table has a request for each Get, and flushes
 * where it has put only.  The batch of the thread that has the lock has a
 * request for each target at most.
 */
#include "config.h"

#include "base/assert.h"
#include "cluster.h"
#include "front/direct.h"
#include "mpi.h"
#include "mpi_fabric.h"
#include "progress.h"
#include "transport/transport.h"

enum { PIECE = 4 << 20 }; /* bytes of one Get */

enum {
    TABLE_MOST = HEARTHI_OUTSTANDING / 2 - HEARTHI_TARGETS,
    FIRST_MOST = HEARTHI_OUTSTANDING / 4,
    WAY_MOST = HEARTHI_OUTSTANDING / 4 / HEARTHI_WAYS
};

/* Operations of one batch. */
static const int most[HEARTHI_BATCH_KINDS] = {
    [HEARTHI_BATCH_TABLE] = TABLE_MOST,
    [HEARTHI_BATCH_FIRST] = FIRST_MOST,
    [HEARTHI_BATCH_WAY] = WAY_MOST,
};

/* A way, the first of them or another, and a thread that stores beside, have a
 * request for each operation. */
_Static_assert(HEARTHI_TARGETS + FIRST_MOST + HEARTHI_WAYS * WAY_MOST +
                       HEARTHI_OUTSTANDING / 4 <=
                   HEARTHI_OUTSTANDING,
               "they and the steps stay below the bound on all");

/* In the room of a batch.  A target is a window of a home. */
struct targets {
    int         home[HEARTHI_TARGETS], window[HEARTHI_TARGETS];
    MPI_Win     win[HEARTHI_TARGETS];
    MPI_Request last[HEARTHI_TARGETS]; /* of the last Get, or null */
    bool        got[HEARTHI_TARGETS];  /* behind the last Put */
    int         get_home[FIRST_MOST];
    MPI_Request get[FIRST_MOST];
};

_Static_assert(sizeof(struct targets) <= HEARTHI_BATCH_ROOM,
               "a batch has room for its targets");

static struct targets *
targets_of(struct hearthi_fabric_batch *b)
{
    return (struct targets *)(void *)b->room;
}

/* ---- waiting ---- */

/* Several targets: each window once. */
static void
windows_flush(const struct targets *t, int n)
{
    uint64_t flushed = 0;

    for (int i = 0; i < n; i++) {
        uint64_t bit = UINT64_C(1) << t->window[i];

        if (!(flushed & bit))
            HEARTHI_MPI(MPI_Win_flush_all(t->win[i]));
        flushed |= bit;
    }
}

/* A Put has arrived about when a Get that followed it has. */
static void
gets_wait(struct hearthi_fabric_batch *b, struct targets *t)
{
    hearthi_wait_requests(t->get, t->get_home, b->gets, b->bytes, true);
    for (int i = 0; b->puts && i < b->targets; i++)
        if (t->got[i])
            hearthi_flush_come(t->win[i], t->home[i]);
        else
            hearthi_flush(t->win[i], t->home[i]);
}

void
hearthi_mpi_batch_wait(struct hearthi_fabric_batch *b)
{
    struct targets *t = targets_of(b);

    if (b->gets > 0)
        gets_wait(b, t);
    else if (hearthi_help.need[HEARTHI_PAGE] != HEARTHI_FREE)
        hearthi_wait_flush(t->win, t->last, t->home, b->targets, b->bytes);
    else if (b->targets == 1)
        HEARTHI_MPI(MPI_Win_flush(t->home[0], t->win[0]));
    else
        windows_flush(t, b->targets);
}

/* ---- operations ---- */

static void
target_set(struct targets *t, int i, int home, int window)
{
    t->home[i] = home;
    t->window[i] = window;
    t->win[i] = hearthi_windows.win[window];
    t->last[i] = MPI_REQUEST_NULL;
    t->got[i] = false;
    if (hearthi_help.need[HEARTHI_PAGE] == HEARTHI_BLOCKS)
        hearthi_doorbell_announce(home);
}

/* Room for one more operation: the index of its target. */
static int
operation_add(struct hearthi_fabric_batch *b, int home, int window, size_t len)
{
    struct targets *t = targets_of(b);
    int             i;

    HEARTHI_ASSERT(len > 0 && b->targets <= HEARTHI_TARGETS);
    HEARTHI_ASSERT(home >= 0 && home < hearthi_cluster.size);
    if (b->count >= most[b->kind])
        hearthi_fabric_wait(b);
    i = b->targets - 1;
    while (i >= 0 && (t->home[i] != home || t->window[i] != window))
        i--;
    if (i < 0) {
        if (b->targets == HEARTHI_TARGETS)
            hearthi_fabric_wait(b);
        i = b->targets++;
        target_set(t, i, home, window);
    }
    b->count++;
    b->bytes += len;
    hearthi_mpi_count(home, len);
    return i;
}

/* How much of so many bytes from an offset on lies in this window. */
static size_t
span_of(int window, size_t offset, size_t len)
{
    size_t left = hearthi_window_end(window) - offset;

    HEARTHI_ASSERT(offset >= hearthi_window_begin(window));
    HEARTHI_ASSERT(offset < hearthi_window_end(window));
    return len < left ? len : left;
}

void
hearthi_mpi_batch_put(struct hearthi_fabric_batch *b, int home, size_t offset,
                      const void *src, size_t len)
{
    const char *from = src;

    for (size_t n; len > 0; len -= n, offset += n, from += n) {
        int w = hearthi_window_of(offset), i;

        n = span_of(w, offset, len);
        i = operation_add(b, home, w, n);
        targets_of(b)->got[i] = false;
        b->puts = true;
        HEARTHI_MPI(MPI_Put(from, (int)n, MPI_BYTE, home,
                            (MPI_Aint)(offset - hearthi_window_begin(w)),
                            (int)n, MPI_BYTE, hearthi_windows.win[w]));
    }
}

/* Where the request of a Get goes, or NULL if it needs none.  If one is needed
 * to wait for a target, its last operation has it, a Get or one that is made
 * for it: a flush behind an earlier one would block, and cannot ring
 * meanwhile. */
static MPI_Request *
request_for(struct hearthi_fabric_batch *b, int target, bool more_follow)
{
    struct targets *t = targets_of(b);

    if (hearthi_help.need[HEARTHI_PAGE] == HEARTHI_FREE)
        return NULL;
    if (b->kind == HEARTHI_BATCH_TABLE)
        return more_follow ? NULL : &t->last[target];
    HEARTHI_ASSERT(b->gets < FIRST_MOST);
    t->got[target] = true;
    t->get_home[b->gets] = t->home[target];
    return &t->get[b->gets++];
}

void
hearthi_mpi_batch_get(struct hearthi_fabric_batch *b, int home, size_t offset,
                      void *to, size_t left, bool more_follow)
{
    char *here = to;

    for (size_t len; left > 0; left -= len, offset += len, here += len) {
        int          w = hearthi_window_of(offset);
        size_t       span = span_of(w, offset, left);
        MPI_Win      win = hearthi_windows.win[w];
        MPI_Aint     at = (MPI_Aint)(offset - hearthi_window_begin(w));
        MPI_Request *request;

        len = span < PIECE ? span : PIECE;
        request = request_for(b, operation_add(b, home, w, len),
                              len < span || more_follow);
        if (request != NULL)
            HEARTHI_MPI(MPI_Rget(here, (int)len, MPI_BYTE, home, at, (int)len,
                                 MPI_BYTE, win, request));
        else
            HEARTHI_MPI(MPI_Get(here, (int)len, MPI_BYTE, home, at, (int)len,
                                MPI_BYTE, win));
    }
}

void
hearthi_mpi_home_read(int home, size_t offset, void *to, size_t len)
{
    MPI_Request request;

    hearthi_atomic_ops_enter();
    HEARTHI_MPI(MPI_Rget(to, (int)len, MPI_BYTE, home, (MPI_Aint)offset,
                         (int)len, MPI_BYTE, hearthi_windows.win[0],
                         &request));
    hearthi_mpi_count(home, len);
    hearthi_wait_requests(&request, &home, 1, len, false);
    hearthi_atomic_ops_leave();
}

/* ---- the sync regions ---- */

void
hearthi_mpi_sync_get(int rank, size_t at, void *to, size_t len)
{
    HEARTHI_MPI(MPI_Get(to, (int)len, MPI_BYTE, rank, (MPI_Aint)at, (int)len,
                        MPI_BYTE, hearthi_windows.sync));
    hearthi_mpi_count(rank, len);
}

void
hearthi_mpi_sync_put(int rank, size_t at, const void *from, size_t len)
{
    HEARTHI_MPI(MPI_Put(from, (int)len, MPI_BYTE, rank, (MPI_Aint)at, (int)len,
                        MPI_BYTE, hearthi_windows.sync));
    hearthi_mpi_count(rank, len);
}

void
hearthi_mpi_sync_wait(int rank)
{
    hearthi_flush(hearthi_windows.sync, rank);
}
