/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "world.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/option.h"
#include "base/report.h"
#include "front/direct.h"
#include "together.h"

struct hearthi_world hearthi_world;

/* A thread is told from another by the address of a thread-local: initial-
 * exec, so that a signal handler reads it without allocating. */
static _Thread_local __attribute__((tls_model("initial-exec"))) char identity;

const void *
hearthi_thread(void)
{
    return &identity;
}

void
hearthi_mpi_failed(const char *call, int code)
{
    char text[MPI_MAX_ERROR_STRING] = "?";
    int  len = 0;

    if (hearthi_doubt_hook != NULL && hearthi_doubt_hook())
        hearthi_end_wait();
    MPI_Error_string(code, text, &len);
    hearthi_fatal("MPI", "%.*s failed: %s", (int)strcspn(call, "("), call,
                  text);
}

static int *
ints(int n)
{
    int *p = calloc((size_t)n, sizeof *p);

    if (p == NULL)
        hearthi_fatal("hearth_init", "no memory for %d ranks", n);
    return p;
}

/* Of the ranks of this machine those of this node.  Where no communicator
 * must be made none is: each takes a round of all ranks, and blocks. */
static MPI_Comm
node_cut(struct hearthi_world *w, MPI_Comm machine)
{
    int      most = (int)hearthi_opt.node_size;
    MPI_Comm node = machine;

    if (most == 0 || most >= w->machine_ranks)
        return machine;
    if (most == 1)
        HEARTHI_MPI_SPINS(MPI_Comm_dup(MPI_COMM_SELF, &node));
    else
        HEARTHI_MPI_SPINS(
            MPI_Comm_split(machine, w->machine_rank / most, w->rank, &node));
    HEARTHI_MPI_SPINS(MPI_Comm_free(&machine));
    return node;
}

/* Ranks that share memory, cut into virtual nodes of HEARTH_NODE_SIZE. */
static void
nodes_split(struct hearthi_world *w)
{
    MPI_Comm machine;
    int      first = w->rank;

    HEARTHI_MPI_SPINS(MPI_Comm_split_type(w->comm, MPI_COMM_TYPE_SHARED,
                                          w->rank, MPI_INFO_NULL, &machine));
    MPI_Comm_rank(machine, &w->machine_rank);
    MPI_Comm_size(machine, &w->machine_ranks);
    hearthi_together_bcast(&first, sizeof first, 0, machine);
    w->node_comm = node_cut(w, machine);
    w->machine_of = ints(w->size);
    hearthi_together_gather(&first, sizeof first, w->machine_of, w->comm);
    MPI_Comm_set_errhandler(w->node_comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(w->node_comm, &w->node_rank);
    MPI_Comm_size(w->node_comm, &w->node_size);
}

/* Those who speak for nodes to each other. */
static MPI_Comm
leaders_make(const struct hearthi_world *w)
{
    MPI_Comm leaders = MPI_COMM_NULL;

    if (w->nodes == w->size)
        return hearthi_together_dup(w->comm);
    if (w->nodes > 1)
        HEARTHI_MPI_SPINS(MPI_Comm_split(w->comm,
                                         w->node_rank == 0 ? 0 : MPI_UNDEFINED,
                                         w->rank, &leaders));
    return leaders;
}

/* Number the nodes in the order of their first ranks. */
static void
nodes_number(struct hearthi_world *w)
{
    int mine[2], *all = ints(2 * w->size);
    int first = w->rank;

    hearthi_together_bcast(&first, sizeof first, 0, w->node_comm);
    mine[0] = first;
    mine[1] = w->node_rank;
    hearthi_together_gather(mine, sizeof mine, all, w->comm);
    w->node_of = ints(w->size);
    w->node_rank_of = ints(w->size);
    w->node_member = ints(w->node_size);
    w->nodes = 0;
    for (int r = 0; r < w->size; r++) {
        w->node_rank_of[r] = all[2 * r + 1];
        w->node_of[r] = all[2 * r] == r ? w->nodes++ : w->node_of[all[2 * r]];
        if (all[2 * r] == first)
            w->node_member[w->node_rank_of[r]] = r;
    }
    w->node = w->node_of[w->rank];
    w->leaders = leaders_make(w);
    free(all);
}

/* Not what sched_getaffinity says: launchers bind each rank to a core of its
 * own, and what counts is whether ranks share cores. */
static int
cores_of_machine(void)
{
    long n = sysconf(_SC_NPROCESSORS_ONLN);

    return n < 1 ? 1 : (int)n;
}

void
hearthi_world_open(MPI_Comm comm)
{
    struct hearthi_world *w = &hearthi_world;
    int                   level;

    MPI_Query_thread(&level);
    w->multiple = level == MPI_THREAD_MULTIPLE;
    w->main_thread = hearthi_thread();
    w->scope = hearthi_opt.consistency == HEARTHI_SCOPE;
    w->comm = comm;
    MPI_Comm_rank(comm, &w->rank);
    MPI_Comm_size(comm, &w->size);
    w->cores = cores_of_machine();
    w->machine_ranks = w->size;
    nodes_split(w);
    nodes_number(w);
}

void
hearthi_world_close(void)
{
    struct hearthi_world *w = &hearthi_world;

    if (w->leaders != MPI_COMM_NULL)
        HEARTHI_SPINS(MPI_Comm_free(&w->leaders));
    HEARTHI_SPINS(MPI_Comm_free(&w->node_comm));
    HEARTHI_SPINS(MPI_Comm_free(&w->comm));
    free(w->machine_of);
    free(w->node_of);
    free(w->node_rank_of);
    free(w->node_member);
    w->up = false;
}
