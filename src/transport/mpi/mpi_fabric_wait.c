/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Waits for requests of one-sided operations.
 *
 * Some are never completed.  In Open MPI 4.1 over UCX MPI_Rget begins an
 * operation and notes in it whose request it is; if another thread has
 * completed the operation in between, nobody completes the request
 * (ompi_osc_ucx_rget in ompi/mca/osc/ucx/osc_ucx_comm.c).  A plain program of
 * two ranks, of which one gets 64 bytes in three threads, lost one of 500,000
 * over TCP (4.1.4 with UCX 1.13.1).  The bytes are there all the same, and a
 * flush completes the operation, whatever its request says (MPI-3.1, 11.5.4).
 *
 * So a wait that has taken long begins another Get from that rank.  When it
 * has come, the rank answers, and flushes there do not block for long; they
 * complete all that had begun.  A request that is not complete then is given
 * up: MPI has it for ever, since nobody may free one of RMA (11.3.5).
 */
#include "config.h"

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "cluster.h"
#include "front/direct.h"
#include "mpi.h"
#include "mpi_fabric_window.h"
#include "progress.h"

/* Nanoseconds that a thread naps in a long wait if it is not needed, at first.
 */
enum { NAP = 20000 };

/* Turns between looks at how long it has taken. */
enum { TURNS_PATIENT = 1 << 12 };

/* Nanoseconds after which a request may be one that is never completed; each
 * time that it is asked about twice as many. */
enum { PATIENCE = 1000000000 };

static int
requests_left(const MPI_Request *request, int n)
{
    int left = 0;

    for (int i = 0; i < n; i++)
        left += request[i] != MPI_REQUEST_NULL;
    return left;
}

static int
requests_first(const MPI_Request *request, const int *rank, int n)
{
    int i = 0;

    while (i < n - 1 && request[i] == MPI_REQUEST_NULL)
        i++;
    return rank[i];
}

/* How long it has taken.  The first look begins the time, so that short waits
 * cost no more. */
static uint64_t
long_wait(uint64_t *since, int rank)
{
    uint64_t now = hearthi_now();

    if (*since == 0)
        *since = now;
    hearthi_wait_warn(rank, now - *since);
    return now - *since;
}

/* Of several threads that wait for long one drives the progress of all; the
 * others look now and then, or those who are to answer would get no core of
 * this machine, and the one no lock of MPI's. */
static atomic_int  waiting;
static atomic_bool driven;

static void
others_nap(const struct hearthi_wait *w, bool *drives)
{
    struct timespec nap = { .tv_nsec = w->turn < HEARTHI_WAIT_LONG + 32
                                           ? NAP
                                           : 4 * NAP };

    if (*drives || w->turn < HEARTHI_WAIT_LONG || atomic_load(&waiting) == 1)
        return;
    *drives = !atomic_exchange(&driven, true);
    if (!*drives)
        nanosleep(&nap, NULL);
}

/* A Get of a few bytes, for what has come when it has. */
static void
word_get(MPI_Win win, int rank, uint64_t *sink, MPI_Request *request)
{
    HEARTHI_MPI(MPI_Rget(sink, sizeof *sink, MPI_BYTE, rank, 0, sizeof *sink,
                         MPI_BYTE, win, request));
    hearthi_mpi_count(rank, sizeof *sink);
}

static void requests_wait(MPI_Request *request, const int *rank, int n,
                          size_t bytes, bool may_nap, uint64_t since,
                          uint64_t patience);

/* Whatever has been begun at a rank. */
static void
everything_flush(int rank)
{
    for (int w = 0; w < hearthi_windows.n; w++)
        HEARTHI_MPI(MPI_Win_flush(rank, hearthi_windows.win[w]));
    HEARTHI_MPI(MPI_Win_flush(rank, hearthi_mpi.sync));
}

/* Complete the requests of operations at a rank that answers. */
static void
requests_doubt(MPI_Request *request, const int *rank, int n, uint64_t since,
               uint64_t patience)
{
    int         r = requests_first(request, rank, n), done;
    uint64_t    sink;
    MPI_Request probe;

    word_get(hearthi_windows.win[0], r, &sink, &probe);
    requests_wait(&probe, &r, 1, sizeof sink, false, since, patience);
    everything_flush(r);
    for (int i = 0; i < n; i++) {
        if (rank[i] != r || request[i] == MPI_REQUEST_NULL)
            continue;
        HEARTHI_MPI(MPI_Test(&request[i], &done, MPI_STATUS_IGNORE));
        if (!done)
            request[i] = MPI_REQUEST_NULL;
    }
}

static void
requests_wait(MPI_Request *request, const int *rank, int n, size_t bytes,
              bool may_nap, uint64_t since, uint64_t patience)
{
    struct hearthi_wait w = hearthi_wait_begin(bytes);
    bool                drives = false;

    waiting++;
    while (requests_left(request, n) > 0) {
        bool ring = hearthi_wait_turn(&w);
        int  done;

        if (may_nap)
            others_nap(&w, &drives);
        if (w.turn % TURNS_PATIENT == 0 &&
            long_wait(&since, requests_first(request, rank, n)) > patience) {
            patience *= 2;
            requests_doubt(request, rank, n, since, patience);
        }
        for (int i = 0; i < n; i++) {
            if (request[i] == MPI_REQUEST_NULL)
                continue;
            HEARTHI_MPI(MPI_Test(&request[i], &done, MPI_STATUS_IGNORE));
            if (!done && ring)
                hearthi_doorbell_ring(rank[i]);
        }
    }
    if (drives)
        driven = false;
    waiting--;
}

void
hearthi_wait_requests(MPI_Request *request, const int *rank, int n,
                      size_t bytes, bool may_nap)
{
    requests_wait(request, rank, n, bytes, may_nap, 0, PATIENCE);
}

/* Only a flush tells that a Put has arrived, and it blocks.  A Get of a few
 * bytes that follows on the same path arrives when the target's progress
 * engine runs, so that the flush then has little to wait for. */
void
hearthi_wait_flush(const MPI_Win *win, MPI_Request *last, const int *rank,
                   int n, size_t bytes)
{
    uint64_t sink[HEARTHI_TARGETS];

    for (int i = 0; i < n; i++)
        if (last[i] == MPI_REQUEST_NULL)
            word_get(win[i], rank[i], &sink[i], &last[i]);
    hearthi_wait_requests(last, rank, n, bytes, false);
    for (int i = 0; i < n; i++)
        HEARTHI_MPI(MPI_Win_flush(rank[i], win[i]));
}

void
hearthi_flush(MPI_Win win, int rank)
{
    MPI_Request last = MPI_REQUEST_NULL;

    if (hearthi_need_at(win == hearthi_mpi.sync ? HEARTHI_LOCK : HEARTHI_PAGE,
                        rank) == HEARTHI_FREE)
        HEARTHI_MPI(MPI_Win_flush(rank, win));
    else
        hearthi_wait_flush(&win, &last, &rank, 1, 0);
}
