/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Waits for one-sided operations: they drive progress, yield the core, and
 * ring the doorbell of a target that may be computing.
 *
 * Some requests are never completed.  In Open MPI 4.1 over UCX MPI_Rget begins
 * an operation and notes in it whose request it is; if another thread has
 * completed the operation in between, no thread completes the request
 * (ompi_osc_ucx_rget in ompi/mca/osc/ucx/osc_ucx_comm.c).  A plain program of
 * two ranks, of which one gets 64 bytes in three threads, lost one of 500,000
 * over TCP (4.1.4 with UCX 1.13.1).  The bytes are there all the same, and a
 * flush completes the operation, whatever its request says (MPI-3.1, 11.5.4).
 *
 * So a wait that has taken long begins another Get from that rank.  When it
 * has come, the rank answers, and flushes there do not block for long; they
 * complete all that had begun.  A request that is not complete then is given
 * up: MPI has it for ever, since no program may free one of RMA (11.3.5).
 */
#include "config.h"

#include <sched.h>
#include <stdatomic.h>
#include <time.h>

#include "base/clock.h"
#include "cluster.h"
#include "front/direct.h"
#include "mpi.h"
#include "mpi_fabric.h"
#include "progress.h"

/* In nanoseconds.  A target inside MPI answers well before RING; sending the
 * datagram costs a microsecond or two, and waking the helper some 10 us of the
 * target's core.  A ring may find a thread of the target that is about to
 * leave MPI, or get lost, so it is repeated.  Where ranks share cores a wait
 * rings early and yields only then: a thread that gets the core may compute on
 * it for milliseconds. */
enum { RING = 6000, RING_CROWDED = 2000, AGAIN = 50000, AGAIN_MOST = 400000 };

/* Turns between looks at the clock, and between yields; and after which a wait
 * is long, some 20 us. */
enum { LOOK = 8, YIELD = 512, YIELD_CROWDED = 32, LONG = 128 };

/* Nanoseconds that a thread naps in a long wait if it is not needed, at first.
 */
enum { NAP = 20000 };

/* Turns between looks at how long it has taken. */
enum { TURNS_PATIENT = 1 << 12 };

/* Nanoseconds after which a request may be one that is never completed; each
 * time that it is asked about twice as many. */
enum { PATIENCE = 1000000000 };

/* ---- one turn ---- */

/* The bytes are given 8 GB/s, and what is usual twice. */
struct hearthi_wait
hearthi_wait_begin(size_t bytes)
{
    struct hearthi_wait w = { .again = AGAIN };
    uint64_t            least = hearthi_crowded() ? RING_CROWDED : RING;
    uint64_t            usual = 2 * hearthi_help.page_time;

    if (hearthi_help.doorbells)
        w.ring_at =
            hearthi_now() + (usual > least ? usual : least) + bytes / 8;
    return w;
}

static bool
ring_due(struct hearthi_wait *w)
{
    uint64_t now;

    if (!hearthi_help.doorbells || (w->turn < LONG && w->turn % LOOK != 0))
        return false;
    now = hearthi_now();
    if (now < w->ring_at)
        return false;
    w->ring_at = now + w->again;
    if (w->again < AGAIN_MOST)
        w->again *= 2;
    return true;
}

bool
hearthi_wait_turn(struct hearthi_wait *w)
{
    bool ring;

    w->turn++;
    hearthi_progress_count_one();
    ring = ring_due(w);
    if (!ring && w->turn % (hearthi_crowded() ? YIELD_CROWDED : YIELD) == 0)
        sched_yield();
    return ring;
}

/* ---- requests ---- */

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
 * others look now and then, or the threads that are to answer would get no
 * core of this machine, and the one no lock of MPI's. */
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

/* A Get of a few bytes, for what has come when it has. */
static void
word_get(MPI_Win win, int rank, uint64_t *sink, MPI_Request *request)
{
    HEARTHI_MPI(MPI_Rget(sink, sizeof *sink, MPI_BYTE, rank, 0, sizeof *sink,
                         MPI_BYTE, win, request));
    hearthi_mpi_count(rank, sizeof *sink);
}

/* MPI_Testall of one request in place of MPI_Test, which costs no more.  In
 * Intel MPI 2021.18 a persistent collective that the program has freed leaves
 * its function for progress in the request, MPI_Rget gets that request again,
 * and MPI_Test alone calls the function: SIGSEGV (`reused` in
 * doc/mpi-bugs.md).
 */
static bool
request_is_done(MPI_Request *request)
{
    int done;

    HEARTHI_MPI(MPI_Testall(1, request, &done, MPI_STATUSES_IGNORE));
    return done;
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
    HEARTHI_MPI(MPI_Win_flush(rank, hearthi_windows.sync));
}

/* Complete the requests of operations at a rank that answers. */
static void
requests_doubt(MPI_Request *request, const int *rank, int n, uint64_t since,
               uint64_t patience)
{
    int         r = requests_first(request, rank, n);
    uint64_t    sink;
    MPI_Request probe;

    word_get(hearthi_windows.win[0], r, &sink, &probe);
    requests_wait(&probe, &r, 1, sizeof sink, false, since, patience);
    everything_flush(r);
    for (int i = 0; i < n; i++) {
        if (rank[i] != r || request[i] == MPI_REQUEST_NULL)
            continue;
        if (!request_is_done(&request[i]))
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
            if (!request_is_done(&request[i]) && ring)
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

/* Over UCX's TCP a flush behind a Put asks the target for one more answer,
 * though all has come, and its helper, which was rung for the Get, may have
 * gone back to a nap of 20 ms.  The flush blocks, so this thread cannot ring
 * meanwhile: it tells the helper before, whose naps are short at first then.
 * Other fabrics complete such a flush at once, and are not to pay for this: so
 * only where flushes have taken long, in nanoseconds, several times. */
enum { FLUSH_LONG = 2000000, FLUSHES_LONG = 2 };

/* Relaxed: the count only says whether the helper is told. */
void
hearthi_flush_come(MPI_Win win, int rank)
{
    int were = __atomic_load_n(&hearthi_help.flushes_long, __ATOMIC_RELAXED);
    uint64_t begin = hearthi_now();

    if (were >= FLUSHES_LONG)
        hearthi_doorbell_stay(rank);
    HEARTHI_MPI(MPI_Win_flush(rank, win));
    if (were < FLUSHES_LONG && hearthi_now() - begin > FLUSH_LONG)
        __atomic_add_fetch(&hearthi_help.flushes_long, 1, __ATOMIC_RELAXED);
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
        hearthi_flush_come(win[i], rank[i]);
}

void
hearthi_flush(MPI_Win win, int rank)
{
    MPI_Request last = MPI_REQUEST_NULL;

    hearthi_atomic_ops_enter();
    if (hearthi_need_at(win == hearthi_windows.sync ? HEARTHI_LOCK
                                                    : HEARTHI_PAGE,
                        rank) == HEARTHI_FREE)
        HEARTHI_MPI(MPI_Win_flush(rank, win));
    else
        hearthi_wait_flush(&win, &last, &rank, 1, 0);
    hearthi_atomic_ops_leave();
}
