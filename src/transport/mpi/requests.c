/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Waits for requests of one-sided operations.
 */
#include "config.h"

#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "cluster.h"
#include "front/direct.h"
#include "mpi.h"
#include "progress.h"

/* Turns after which a wait is long, some 20 us; what a thread naps then that
 * is not needed, at first. */
enum { LONG = 128, NAP = 20000 };

/* Turns between looks at how long it has taken. */
enum { TURNS_PATIENT = 1 << 12 };

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

/* The first look begins the time, so that short waits cost no more. */
static void
long_wait(uint64_t *since, int rank)
{
    uint64_t now = hearthi_now();

    if (*since == 0)
        *since = now;
    hearthi_wait_warn(rank, now - *since);
}

/* Of several threads that wait for long one drives the progress of all; the
 * others look now and then, or those who are to answer would get no core of
 * this machine, and the one no lock of MPI's. */
static atomic_int  waiting;
static atomic_bool driven;

static void
others_nap(const struct hearthi_wait *w, bool *drives)
{
    struct timespec nap = { .tv_nsec = w->turn < LONG + 32 ? NAP : 4 * NAP };

    if (*drives || w->turn < LONG || atomic_load(&waiting) == 1)
        return;
    *drives = !atomic_exchange(&driven, true);
    if (!*drives)
        nanosleep(&nap, NULL);
}

void
hearthi_wait_requests(MPI_Request *request, const int *rank, int n,
                      size_t bytes, bool may_nap)
{
    struct hearthi_wait w = hearthi_wait_begin(bytes);
    uint64_t            since = 0;
    bool                drives = false;

    waiting++;
    while (requests_left(request, n) > 0) {
        bool ring = hearthi_wait_turn(&w);
        int  done;

        if (may_nap)
            others_nap(&w, &drives);
        if (w.turn % TURNS_PATIENT == 0)
            long_wait(&since, requests_first(request, rank, n));
        for (int i = 0; i < n; i++) {
            if (request[i] == MPI_REQUEST_NULL)
                continue;
            HEARTHI_MPI(MPI_Test(&request[i], &done, MPI_STATUS_IGNORE));
            if (!done && ring)
                hearthi_bell_ring(rank[i]);
        }
    }
    if (drives)
        driven = false;
    waiting--;
}

/* Only a flush tells that a Put has arrived, and it blocks.  A Get of a few
 * bytes that follows on the same path arrives when the target's progress
 * engine runs, so that the flush then has little to wait for. */
void
hearthi_wait_flush(const MPI_Win *win, MPI_Request *last, const int *rank,
                   int n, size_t bytes)
{
    uint64_t sink[HEARTHI_TARGETS];

    for (int i = 0; i < n; i++) {
        if (last[i] != MPI_REQUEST_NULL)
            continue;
        HEARTHI_MPI(MPI_Rget(&sink[i], sizeof sink[i], MPI_BYTE, rank[i], 0,
                             sizeof sink[i], MPI_BYTE, win[i], &last[i]));
        hearthi_mpi_count(rank[i], sizeof sink[i]);
    }
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
