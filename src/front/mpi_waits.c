/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A call notes its name and the rank for which it waits.  Calls that are not
 * here, those that go past libhearth, and all of them over several clusters
 * are no waits: then nothing is said of the job.
 */
#include "config.h"

#include "front/mpi_next.h"

#include <stdatomic.h>

#include "api/thread_state.h"
#include "base/option.h"
#include "front/session.h"
#include "life/wait_graph.h"
#include "world.h"

static struct {
    bool                     is;
    bool                     all_of_world; /* the job has all of MPI's ranks */
    MPI_Group                job;
    struct hearthi_mpi_calls mpi, pmpi; /* what came next before */
    _Atomic uint64_t         all;       /* calls that all ranks make */
} w;

uint64_t
hearthi_mpi_waits_count(void)
{
    return atomic_load(&w.all);
}

/* ---- for whom ---- */

static bool
has_others(MPI_Comm comm)
{
    int inter;

    hearthi_next_pmpi.Comm_test_inter(comm, &inter);
    return inter != 0;
}

static bool
is_in_job(MPI_Group group)
{
    int n, to;

    hearthi_next_pmpi.Group_size(group, &n);
    for (int i = 0; i < n; i++) {
        hearthi_next_pmpi.Group_translate_ranks(group, 1, &i, w.job, &to);
        if (to == MPI_UNDEFINED)
            return false;
    }
    return true;
}

static int
rank_in_job(MPI_Group group, int rank)
{
    int to = MPI_UNDEFINED;

    if (rank == MPI_ANY_SOURCE)
        return is_in_job(group) ? HEARTHI_PEER_ANY : HEARTHI_PEER_OUTSIDE;
    if (rank >= 0)
        hearthi_next_pmpi.Group_translate_ranks(group, 1, &rank, w.job, &to);
    return to == MPI_UNDEFINED ? HEARTHI_PEER_OUTSIDE : to;
}

static int
one(MPI_Comm comm, int rank)
{
    MPI_Group group;
    int       to;

    if (has_others(comm))
        return HEARTHI_PEER_OUTSIDE;
    hearthi_next_pmpi.Comm_group(comm, &group);
    to = rank_in_job(group, rank);
    hearthi_next_pmpi.Group_free(&group);
    return to;
}

/* Of fewer ranks than all it is not known which have been there. */
static int
each(MPI_Comm comm)
{
    MPI_Group group;
    int       same, to;

    if (has_others(comm))
        return HEARTHI_PEER_OUTSIDE;
    hearthi_next_pmpi.Comm_group(comm, &group);
    hearthi_next_pmpi.Group_compare(group, w.job, &same);
    to = same != MPI_UNEQUAL ? HEARTHI_PEER_EACH
                             : rank_in_job(group, MPI_ANY_SOURCE);
    hearthi_next_pmpi.Group_free(&group);
    return to;
}

/* What a request waits for is not known. */
static int
any(void)
{
    return w.all_of_world ? HEARTHI_PEER_ANY : HEARTHI_PEER_OUTSIDE;
}

/* ---- notes ---- */

/* False if a call behind this one was noted. */
static bool
wait_begin(const char *call, int peer)
{
    struct hearthi_thread_state *u = &hearthi_thread_state;

    if (!hearthi_world.up || atomic_load(&u->mpi_call) != 0)
        return false;
    if (!u->known)
        hearthi_thread_state_begin();
    if (peer == HEARTHI_PEER_EACH)
        atomic_fetch_add(&w.all, 1);
    atomic_store(&u->mpi_peer, peer);
    atomic_store(&u->mpi_call, (uintptr_t)call);
    return true;
}

static void
wait_end(bool noted)
{
    if (noted)
        atomic_store(&hearthi_thread_state.mpi_call, 0);
}

/* ---- the calls ---- */

/* X(name, parameters, arguments, for whom) */
#define CALLS(X)                                                             \
    X(Recv,                                                                  \
      (void *buf, int n, MPI_Datatype t, int from, int tag, MPI_Comm comm,   \
       MPI_Status *s),                                                       \
      (buf, n, t, from, tag, comm, s), one(comm, from))                      \
    X(Send,                                                                  \
      (const void *buf, int n, MPI_Datatype t, int to, int tag,              \
       MPI_Comm comm),                                                       \
      (buf, n, t, to, tag, comm), one(comm, to))                             \
    X(Ssend,                                                                 \
      (const void *buf, int n, MPI_Datatype t, int to, int tag,              \
       MPI_Comm comm),                                                       \
      (buf, n, t, to, tag, comm), one(comm, to))                             \
    X(Sendrecv,                                                              \
      (const void *sbuf, int sn, MPI_Datatype st, int to, int stag,          \
       void *rbuf, int rn, MPI_Datatype rt, int from, int rtag,              \
       MPI_Comm comm, MPI_Status *s),                                        \
      (sbuf, sn, st, to, stag, rbuf, rn, rt, from, rtag, comm, s),           \
      one(comm, from))                                                       \
    X(Probe, (int from, int tag, MPI_Comm comm, MPI_Status *s),              \
      (from, tag, comm, s), one(comm, from))                                 \
    X(Mprobe,                                                                \
      (int from, int tag, MPI_Comm comm, MPI_Message *m, MPI_Status *s),     \
      (from, tag, comm, m, s), one(comm, from))                              \
    X(Wait, (MPI_Request * r, MPI_Status * s), (r, s), any())                \
    X(Waitall, (int n, MPI_Request *r, MPI_Status *s), (n, r, s), any())     \
    X(Waitany, (int n, MPI_Request *r, int *i, MPI_Status *s), (n, r, i, s), \
      any())                                                                 \
    X(Waitsome, (int n, MPI_Request *r, int *m, int *i, MPI_Status *s),      \
      (n, r, m, i, s), any())                                                \
    X(Barrier, (MPI_Comm comm), (comm), each(comm))                          \
    X(Bcast, (void *buf, int n, MPI_Datatype t, int root, MPI_Comm comm),    \
      (buf, n, t, root, comm), each(comm))                                   \
    X(Reduce,                                                                \
      (const void *sbuf, void *rbuf, int n, MPI_Datatype t, MPI_Op op,       \
       int root, MPI_Comm comm),                                             \
      (sbuf, rbuf, n, t, op, root, comm), each(comm))                        \
    X(Allreduce,                                                             \
      (const void *sbuf, void *rbuf, int n, MPI_Datatype t, MPI_Op op,       \
       MPI_Comm comm),                                                       \
      (sbuf, rbuf, n, t, op, comm), each(comm))                              \
    X(Gather,                                                                \
      (const void *sbuf, int sn, MPI_Datatype st, void *rbuf, int rn,        \
       MPI_Datatype rt, int root, MPI_Comm comm),                            \
      (sbuf, sn, st, rbuf, rn, rt, root, comm), each(comm))                  \
    X(Scatter,                                                               \
      (const void *sbuf, int sn, MPI_Datatype st, void *rbuf, int rn,        \
       MPI_Datatype rt, int root, MPI_Comm comm),                            \
      (sbuf, sn, st, rbuf, rn, rt, root, comm), each(comm))                  \
    X(Allgather,                                                             \
      (const void *sbuf, int sn, MPI_Datatype st, void *rbuf, int rn,        \
       MPI_Datatype rt, MPI_Comm comm),                                      \
      (sbuf, sn, st, rbuf, rn, rt, comm), each(comm))                        \
    X(Alltoall,                                                              \
      (const void *sbuf, int sn, MPI_Datatype st, void *rbuf, int rn,        \
       MPI_Datatype rt, MPI_Comm comm),                                      \
      (sbuf, sn, st, rbuf, rn, rt, comm), each(comm))

#define NOTED(table, name, parameters, arguments, whom) \
    static int table##_##name parameters                \
    {                                                   \
        bool noted = wait_begin("MPI_" #name, whom);    \
        int code = w.table.name arguments;              \
                                                        \
        wait_end(noted);                                \
        return code;                                    \
    }
#define NOTED_MPI(...)  NOTED(mpi, __VA_ARGS__)
#define NOTED_PMPI(...) NOTED(pmpi, __VA_ARGS__)
CALLS(NOTED_MPI)
CALLS(NOTED_PMPI)

/* ---- start and end ---- */

static bool
has_all_of_world(void)
{
    MPI_Group world;
    int       same;

    if (!hearthi_mpi_has_world())
        return false;
    hearthi_next_pmpi.Comm_group(MPI_COMM_WORLD, &world);
    hearthi_next_pmpi.Group_compare(world, w.job, &same);
    hearthi_next_pmpi.Group_free(&world);
    return same != MPI_UNEQUAL;
}

void
hearthi_mpi_waits_open(void)
{
    w.all = 0;
    w.is = hearthi_opt.deadlock > 0 && hearthi_opt.interpose &&
           hearthi_world.gather == NULL && hearthi_world.size > 1;
    if (!w.is)
        return;
    hearthi_next_pmpi.Comm_group(hearthi_world.comm, &w.job);
    w.all_of_world = has_all_of_world();
    w.mpi = hearthi_next_mpi;
    w.pmpi = hearthi_next_pmpi;
#define LEAD(name, parameters, arguments, whom) \
    if (w.mpi.name != NULL)                     \
        hearthi_next_mpi.name = mpi_##name;     \
    if (w.pmpi.name != NULL)                    \
        hearthi_next_pmpi.name = pmpi_##name;
    CALLS(LEAD)
#undef LEAD
}

void
hearthi_mpi_waits_close(void)
{
    if (!w.is)
        return;
    hearthi_next_mpi = w.mpi;
    hearthi_next_pmpi = w.pmpi;
    hearthi_next_pmpi.Group_free(&w.job);
    w.is = false;
}
