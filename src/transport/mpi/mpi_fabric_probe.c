/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The probe: which operations need help while their target is outside MPI?
 *
 * The first rank of the first node, the origin, tries each on the first rank
 * of the last node, the target, on the windows that will be used.  The target
 * leaves MPI for AWAY at the origin's request, and tells it so by its last
 * call.  The request was sent before, so an operation that is complete within
 * AWAY of the request has completed before the target was back.
 *
 * But where ranks share cores the kernel may take the target's in that last
 * call, which then serves an operation that the origin has begun meanwhile;
 * what was taken for free after that would wait for ever later.  So the origin
 * pauses for LEAVING before it begins, and the target says afterwards how long
 * its last call took.  If that was less, counted from before it was made, the
 * target was outside MPI when the operation began, whatever else the machines
 * do.  Everything else may be bad luck and is tried again.
 */
#include "config.h"

#include <time.h>

#include "base/clock.h"
#include "base/option.h"
#include "cluster.h"
#include "front/direct.h"
#include "mpi_fabric.h"
#include "progress.h"

/* In nanoseconds. */
enum { AWAY = 2000000, LEAVING = AWAY / 4 };

enum { TRIES = 3, TRIES_MOST = 12, GETS = 8, ORIGIN = 0 };

enum { TAG_REQUEST = 31001, TAG_LEFT = 31002, TAG_BACK = 31004 };

/* What the origin asks of the target. */
enum request { END, LEAVE, STAY };

struct trial {
    bool free;  /* complete in the target's absence */
    bool tells; /* the target was outside MPI, and the operation in time */
    bool shown; /* its effect was seen before the flush */
    uint64_t
        blocked; /* nanoseconds in the call that starts it and the flush */
};

static void
message_wait(MPI_Request *request)
{
    struct hearthi_wait w = hearthi_wait_begin(0);
    int                 done = 0;

    while (MPI_Test(request, &done, MPI_STATUS_IGNORE) == MPI_SUCCESS && !done)
        hearthi_wait_turn(&w);
}

static void
message_send(int to, int tag, int text)
{
    MPI_Request request;

    HEARTHI_MPI(
        MPI_Isend(&text, 1, MPI_INT, to, tag, hearthi_cluster.comm, &request));
    message_wait(&request);
}

static int
message_receive(int from, int tag)
{
    MPI_Request request;
    int         text = 0;

    HEARTHI_MPI(MPI_Irecv(&text, 1, MPI_INT, from, tag, hearthi_cluster.comm,
                          &request));
    message_wait(&request);
    return text;
}

/* ---- the operations ---- */

static uint64_t
flush_time(MPI_Win win, int target)
{
    uint64_t start = hearthi_now();

    HEARTHI_MPI(MPI_Win_flush(target, win));
    return hearthi_now() - start;
}

static struct trial
get_try(int target)
{
    static char  page[4096];
    MPI_Request  request;
    struct trial t = { .shown = true };
    uint64_t     start = hearthi_now();

    HEARTHI_MPI(MPI_Rget(page, sizeof page, MPI_BYTE, target, 0, sizeof page,
                         MPI_BYTE, hearthi_windows.win[0], &request));
    t.blocked = hearthi_now() - start;
    message_wait(&request);
    t.blocked += flush_time(hearthi_windows.win[0], target);
    return t;
}

/* Long after the target is back. */
static bool
result_shows(const volatile uint64_t *result, uint64_t absent)
{
    struct hearthi_wait w = hearthi_wait_begin(0);
    uint64_t            start = hearthi_now();

    while (*result == absent) {
        if (hearthi_now() - start > 8 * AWAY)
            return false;
        hearthi_fabric_look();
        hearthi_wait_turn(&w);
    }
    return true;
}

static struct trial
atomic_try(MPI_Win win, int target)
{
    const uint64_t    absent = hearthi_word_unlikely(), none = 0;
    volatile uint64_t result = absent;
    struct trial      t = { .shown = false };
    uint64_t          start = hearthi_now();

    HEARTHI_MPI(MPI_Fetch_and_op(&none, (void *)&result, MPI_UINT64_T, target,
                                 0, MPI_SUM, win));
    t.blocked = hearthi_now() - start;
    t.shown = result_shows(&result, absent);
    t.blocked += flush_time(win, target);
    return t;
}

/* Outside MPI. */
static void
pause_for(long ns)
{
    struct timespec left = { .tv_nsec = ns };

    while (nanosleep(&left, &left) != 0)
        continue;
}

static struct trial
operation_try(enum hearthi_operation operation, int target)
{
    uint64_t     start = hearthi_now(), begun;
    struct trial t = { .free = false };

    message_send(target, TAG_REQUEST, LEAVE);
    message_receive(target, TAG_LEFT);
    pause_for(LEAVING);
    begun = hearthi_now();
    switch (operation) {
    case HEARTHI_PAGE: t = get_try(target); break;
    case HEARTHI_WORD: t = atomic_try(hearthi_windows.win[0], target); break;
    case HEARTHI_LOCK:
    case HEARTHI_OPERATIONS:
        t = atomic_try(hearthi_windows.sync, target);
        break;
    }
    t.free = hearthi_now() - start < AWAY;
    t.tells = message_receive(target, TAG_BACK) < LEAVING &&
              begun - start < AWAY / 2;
    return t;
}

/* ---- the two ranks ---- */

/* A user who insists on a helper may know of other ranks that need one: then
 * nothing is taken for free.  A call that seems to block may just have had no
 * core, and is tried more often: each operation whose call blocks is
 * announced, which costs its target a wake-up. */
static enum hearthi_need
operation_probe(enum hearthi_operation operation, int target)
{
    bool     shown = false, thread = hearthi_opt.progress == HEARTHI_THREAD;
    uint64_t blocked = UINT64_MAX;

    for (int i = 0, told = 0;
         i < TRIES_MOST && (told < TRIES || (shown && blocked >= AWAY / 4));
         i++) {
        struct trial t = operation_try(operation, target);

        if (!t.tells)
            continue;
        if (t.free && !thread)
            return HEARTHI_FREE;
        told++;
        shown |= t.shown;
        if (t.blocked < blocked)
            blocked = t.blocked;
        if (t.free)
            break;
    }
    return shown && blocked < AWAY / 4 ? HEARTHI_WAITS : HEARTHI_BLOCKS;
}

/* How long a page takes, in nanoseconds, with its home inside MPI.  The
 * shortest of some: the machine may have other things to do. */
static uint64_t
page_time(int target)
{
    uint64_t shortest = UINT64_MAX;

    message_send(target, TAG_REQUEST, STAY);
    message_receive(target, TAG_LEFT);
    for (int i = 0; i < GETS; i++) {
        uint64_t start = hearthi_now(), took;

        get_try(target);
        took = hearthi_now() - start;
        if (took < shortest)
            shortest = took;
    }
    return shortest;
}

static void
target_run(void)
{
    int request;

    while ((request = message_receive(ORIGIN, TAG_REQUEST)) != END) {
        uint64_t start = hearthi_now(), took;

        message_send(ORIGIN, TAG_LEFT, 0);
        if (request != LEAVE)
            continue;
        took = hearthi_now() - start;
        pause_for(AWAY);
        message_send(ORIGIN, TAG_BACK, took < LEAVING ? (int)took : LEAVING);
    }
}

static int
target_rank(void)
{
    int r = 0;

    while (hearthi_cluster.node_of[r] != hearthi_cluster.nodes - 1)
        r++;
    return r;
}

/* Waiting ranks yield the core to the two. */
static void
verdict_share(struct hearthi_help *verdict)
{
    MPI_Request request;

    HEARTHI_MPI(MPI_Ibcast(verdict, sizeof *verdict, MPI_BYTE, ORIGIN,
                           hearthi_cluster.comm, &request));
    message_wait(&request);
}

void
hearthi_mpi_probe(void)
{
    struct hearthi_help verdict = { .doorbells = false };
    int                 target = target_rank();

    if (hearthi_cluster.rank == ORIGIN) {
        for (int o = 0; o < HEARTHI_OPERATIONS; o++)
            verdict.need[o] =
                operation_probe((enum hearthi_operation)o, target);
        verdict.page_time = page_time(target);
        message_send(target, TAG_REQUEST, END);
    } else if (hearthi_cluster.rank == target) {
        target_run();
    }
    verdict_share(&verdict);
    hearthi_help = verdict;
}
