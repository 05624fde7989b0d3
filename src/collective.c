/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "collective.h"

#include <fcntl.h>
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <time.h>
#include <unistd.h>

#include "base/clock.h"
#include "base/descriptor.h"
#include "base/min.h"
#include "base/report.h"
#include "base/test_limits.h"
#include "cluster.h"
#include "front/direct.h"
#include "front/session.h"
#include "world.h"

/* Turns before a rank yields, and before it naps, in nanoseconds: no start is
 * slower for it, and ranks that are late find a core. */
enum { SPINS = 64, YIELDS = 1024, NAP = 50000 };

enum { TAG_GATHER = 30000 }; /* and one a round */

/* Bytes of one message, whose length is an int for MPI. */
enum { PIECE = HEARTHI_TEST_LIMIT(1 << 30, 1000) };

static void
turn(unsigned n)
{
    const struct timespec nap = { .tv_nsec = NAP };

    if (n > YIELDS)
        nanosleep(&nap, NULL);
    else if (n > SPINS)
        sched_yield();
}

void
hearthi_collective_wait(MPI_Request *request, int n)
{
    int done = 0;

    for (unsigned turns = 0; !done; turns++) {
        HEARTHI_MPI(MPI_Testall(n, request, &done, MPI_STATUSES_IGNORE));
        if (!done)
            turn(turns);
    }
}

void
hearthi_collective(MPI_Comm comm)
{
    MPI_Request request;

    HEARTHI_MPI(MPI_Ibarrier(comm, &request));
    hearthi_collective_wait(&request, 1);
}

void
hearthi_collective_bcast(void *at, size_t bytes, int root, MPI_Comm comm)
{
    MPI_Request request;

    HEARTHI_MPI(MPI_Ibcast(at, (int)bytes, MPI_BYTE, root, comm, &request));
    hearthi_collective_wait(&request, 1);
}

void
hearthi_collective_swap_by(const struct hearthi_collective_way *way,
                           const void *mine, int to, void *theirs, int from,
                           size_t bytes, int round)
{
    MPI_Request request[2];
    int         tag = way->tag + round;
    size_t      at = 0, n;

    do {
        n = hearthi_min(bytes - at, PIECE);
        HEARTHI_MPI(MPI_Irecv((char *)theirs + at, (int)n, MPI_BYTE, from, tag,
                              way->comm, &request[0]));
        HEARTHI_MPI(MPI_Isend((const char *)mine + at, (int)n, MPI_BYTE, to,
                              tag, way->comm, &request[1]));
        way->wait(request, 2);
    } while ((at += n) < bytes);
}

/* After Bruck et al., as the barrier of leaders (transport/mpi/barrier.c):
 * MPI_Iallgather in Open MPI 4.1.4 sends to every rank, which makes N^2
 * connections of 100 kB. */
void
hearthi_collective_gather_by(const struct hearthi_collective_way *way,
                             const void *mine, size_t bytes, void *all)
{
    int   n, me;
    char *from_me;

    MPI_Comm_size(way->comm, &n);
    MPI_Comm_rank(way->comm, &me);
    from_me = malloc((size_t)n * bytes); /* of rank me + i */
    if (from_me == NULL)
        hearthi_fatal(way->call, "no memory for %d ranks", n);
    memcpy(from_me, mine, bytes);
    for (int have = 1, round = 0; have < n; have *= 2, round++)
        hearthi_collective_swap_by(
            way, from_me, (me - have + n) % n, from_me + (size_t)have * bytes,
            (me + have) % n,
            bytes * (size_t)(have < n - have ? have : n - have), round);
    memcpy((char *)all + (size_t)me * bytes, from_me,
           (size_t)(n - me) * bytes);
    memcpy(all, from_me + (size_t)(n - me) * bytes, (size_t)me * bytes);
    free(from_me);
}

void
hearthi_collective_gather(const void *mine, size_t bytes, void *all,
                          MPI_Comm comm)
{
    const struct hearthi_collective_way way = { "hearth_init", comm,
                                                TAG_GATHER,
                                                hearthi_collective_wait };

    hearthi_collective_gather_by(&way, mine, bytes, all);
}

void
hearthi_collective_reduce(const void *mine, void *all, int n,
                          MPI_Datatype type, MPI_Op op, MPI_Comm comm)
{
    MPI_Request request;

    HEARTHI_MPI(MPI_Iallreduce(mine, all, n, type, op, comm, &request));
    hearthi_collective_wait(&request, 1);
}

/* ---- over all ranks ---- */

static void
far_reduce(const void *mine, void *all, int n, MPI_Datatype type, MPI_Op op)
{
    int   size;
    char *every;

    MPI_Type_size(type, &size);
    size *= n;
    every = malloc((size_t)hearthi_world.size * (size_t)size);
    if (every == NULL)
        hearthi_fatal("hearth_init", "no memory for %d ranks",
                      hearthi_world.size);
    hearthi_world.gather(mine, (size_t)size, every);
    memcpy(all, every, (size_t)size);
    for (int r = 1; r < hearthi_world.size; r++)
        HEARTHI_MPI(MPI_Reduce_local(every + (size_t)r * (size_t)size, all, n,
                                     type, op));
    free(every);
}

void
hearthi_all_reduce(const void *mine, void *all, int n, MPI_Datatype type,
                   MPI_Op op, void (*wait)(MPI_Request *request, int n))
{
    MPI_Request request;

    if (hearthi_world.gather != NULL) {
        far_reduce(mine, all, n, type, op);
        return;
    }
    HEARTHI_MPI(
        MPI_Iallreduce(mine, all, n, type, op, hearthi_world.comm, &request));
    wait(&request, 1);
}

void
hearthi_all_barrier(void (*wait)(MPI_Request *request, int n))
{
    MPI_Request request;
    int         one = 1, all;

    if (hearthi_world.gather != NULL) {
        far_reduce(&one, &all, 1, MPI_INT, MPI_MIN);
        return;
    }
    HEARTHI_MPI(MPI_Ibarrier(hearthi_world.comm, &request));
    wait(&request, 1);
}

int
hearthi_collective_here(int mine, MPI_Op op)
{
    int all = 0;

    hearthi_collective_reduce(&mine, &all, 1, MPI_INT, op,
                              hearthi_cluster.comm);
    return all;
}

int
hearthi_collective_int(int mine, MPI_Op op)
{
    int all = 0;

    hearthi_all_reduce(&mine, &all, 1, MPI_INT, op, hearthi_collective_wait);
    return all;
}

int
hearthi_collective_first(bool is, MPI_Comm comm)
{
    int rank, size, mine, first;

    MPI_Comm_rank(comm, &rank);
    MPI_Comm_size(comm, &size);
    mine = is ? rank : size;
    hearthi_collective_reduce(&mine, &first, 1, MPI_INT, MPI_MIN, comm);
    return first;
}

void
hearthi_collective_swap(const void *mine, int to, void *theirs, int from,
                        size_t bytes, int tag)
{
    const struct hearthi_collective_way way = { "hearth_init",
                                                hearthi_world.comm, tag,
                                                hearthi_collective_wait };

    hearthi_collective_swap_by(&way, mine, to, theirs, from, bytes, 0);
}

MPI_Comm
hearthi_collective_dup(MPI_Comm comm)
{
    MPI_Request request;
    MPI_Comm    own;

    HEARTHI_MPI(MPI_Comm_idup(comm, &own, &request));
    hearthi_collective_wait(&request, 1);
    return own;
}

/* ---- windows, one after the other ----
 *
 * Open MPI 4.1.4 names the file behind a window's shared state after the host
 * and the communicator's context number, which disjoint communicators share:
 * two groups of one job that make windows at the same moment fail with
 * MPI_ERR_WIN (in every second start of two halves of 4 ranks).  So groups
 * that are not the whole job take turns on each machine.  Harmless elsewhere.
 */

static int file = -1;
static int tries_before; /* of MPICH, while windows are made */

/* Clusters are jobs of their own, and wait for each other meanwhile.  (Those
 * of a test are groups of one job: they share no windows, split.h.) */
static bool
alone_in_the_job(void)
{
    return hearthi_world.gather != NULL ||
           hearthi_job_size() == hearthi_cluster.size;
}

static void
turn_open(void)
{
    char path[64];

    snprintf(path, sizeof path, "/tmp/hearth-windows.%u", (unsigned)geteuid());
    file = hearthi_descriptor(
        open(path, O_CREAT | O_RDWR | O_CLOEXEC | O_NOFOLLOW, 0600));
}

/* MPICH 4.0.2 looks for an address where every rank can map the whole window,
 * by an msync of each of its pages: seconds for a few gigabytes.  No rank here
 * needs equal addresses, and MPI does without when it is told not to try.  For
 * all windows of all ranks, or MPI_Win_allocate fails where only some did so.
 * Gives the number of tries before, or -1 if this MPI has no such variable:
 * Open MPI has none, and loads each module that it has to tell (0.2 s). */
static int
symmetric_tries(int tries)
{
#ifdef OPEN_MPI
    (void)tries;
    return -1;
#else
    MPI_T_cvar_handle variable;
    int               level, index, count, before = -1;

    MPI_Query_thread(&level);
    if (MPI_T_init_thread(level, &level) != MPI_SUCCESS)
        return -1;
    if (MPI_T_cvar_get_index("MPIR_CVAR_SHM_SYMHEAP_RETRY", &index) ==
            MPI_SUCCESS &&
        MPI_T_cvar_handle_alloc(index, NULL, &variable, &count) ==
            MPI_SUCCESS) {
        MPI_T_cvar_read(variable, &before);
        MPI_T_cvar_write(variable, &tries);
        MPI_T_cvar_handle_free(&variable);
    }
    MPI_T_finalize();
    return before;
#endif
}

/* The first rank of each machine tries, and all give up together if one
 * machine is taken: so groups that meet on several machines cannot wait for
 * each other in a circle. */
static void
turn_take(void)
{
    bool try = hearthi_cluster.machine_rank == 0;
    int  mine, all;

    if (alone_in_the_job())
        return;
    if (try)
        turn_open();
    for (;;) {
        struct timespec nap = { 0, 1000000 + (long)(hearthi_now() % 4000000) };

        mine = !try || file < 0 || flock(file, LOCK_EX | LOCK_NB) == 0;
        hearthi_collective_reduce(&mine, &all, 1, MPI_INT, MPI_LAND,
                                  hearthi_cluster.comm);
        if (all)
            return;
        if (try && file >= 0 && mine)
            flock(file, LOCK_UN);
        nanosleep(&nap, NULL);
    }
}

static void
turn_give(void)
{
    if (alone_in_the_job())
        return;
    hearthi_collective(hearthi_cluster.comm);
    if (file >= 0)
        close(file);
    file = -1;
}

void
hearthi_window_order_begin(void)
{
    turn_take();
    tries_before = symmetric_tries(0);
}

void
hearthi_window_order_end(void)
{
    if (tries_before >= 0)
        symmetric_tries(tries_before);
    turn_give();
}
