/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "collective.h"

#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "base/report.h"
#include "cluster.h"
#include "front/direct.h"
#include "world.h"

/* Turns before a rank yields, and before it naps, in nanoseconds: no start is
 * slower for it, and ranks that are late find a core. */
enum { SPINS = 64, YIELDS = 1024, NAP = 50000 };

enum { TAG_GATHER = 30000 }; /* and one a round */

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

    HEARTHI_MPI(MPI_Irecv(theirs, (int)bytes, MPI_BYTE, from, tag, way->comm,
                          &request[0]));
    HEARTHI_MPI(MPI_Isend(mine, (int)bytes, MPI_BYTE, to, tag, way->comm,
                          &request[1]));
    way->wait(request, 2);
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
