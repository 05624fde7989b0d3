/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "cluster.h"

#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine_part.h"
#include "base/option.h"
#include "base/report.h"
#include "collective.h"
#include "front/direct.h"
#include "front/session.h"

struct hearthi_cluster hearthi_cluster;

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
node_cut(struct hearthi_cluster *j, MPI_Comm machine)
{
    int      most = (int)hearthi_opt.node_size;
    int      part = most == 0 ? 0 : j->machine_rank / most;
    MPI_Comm node = machine;

    if ((most == 0 || most >= j->machine_ranks) && !j->hides)
        return machine;
    if (most == 1 && hearthi_mpi_has_world())
        HEARTHI_MPI_SPINS(MPI_Comm_dup(MPI_COMM_SELF, &node));
    else
        HEARTHI_MPI_SPINS(
            MPI_Comm_split(machine, hearthi_cluster_hidden() ? j->size : part,
                           j->rank, &node));
    HEARTHI_MPI_SPINS(MPI_Comm_free(&machine));
    return node;
}

/* Where the memory of a node lies must be the same for all of its ranks.  MPI
 * takes one host name for one machine, which it is not where ranks are in
 * containers: windows of shared memory then end in a crash of MPI's, at a file
 * that the others do not have. */
static void
shm_check(const struct hearthi_machine_part *mine,
          const struct hearthi_machine_part *first)
{
    if (hearthi_opt.node_size == 1 || first->shm_device == 0 ||
        mine->shm_device == 0 ||
        (mine->shm_device == first->shm_device &&
         mine->shm_file == first->shm_file))
        return;
    hearthi_fatal("hearth_init",
                  "/dev/shm is not that of rank %d, which MPI takes for one "
                  "of the same machine: give ranks in containers one (docker "
                  "run --ipc=container:NAME or host, one pod), or a host name "
                  "each, or set HEARTH_NODE_SIZE=1 and HEARTH_TRANSPORT=udp",
                  first->rank);
}

/* What the ranks of this machine have of it.  Returns the first of them. */
static int
machine_share(struct hearthi_cluster            *j,
              const struct hearthi_machine_part *mine, MPI_Comm machine)
{
    int                          n = j->machine_ranks, first;
    struct hearthi_machine_part *all = calloc((size_t)n, sizeof *all);

    if (all == NULL)
        hearthi_fatal("hearth_init", "no memory for %d ranks", n);
    hearthi_collective_gather(mine, sizeof *mine, all, machine);
    shm_check(mine, &all[0]);
    j->cores = hearthi_machine_cores(all, n);
    j->memory = hearthi_machine_together(all, n);
    j->memory_share = hearthi_machine_share(all, n, j->machine_rank);
    first = all[0].rank;
    free(all);
    return first;
}

/* Ranks that share memory, cut into virtual nodes of HEARTH_NODE_SIZE. */
static void
nodes_split(struct hearthi_cluster *j, const struct hearthi_machine_part *mine)
{
    MPI_Comm machine;
    int      first;

    HEARTHI_MPI_SPINS(MPI_Comm_split_type(j->comm, MPI_COMM_TYPE_SHARED,
                                          j->rank, MPI_INFO_NULL, &machine));
    MPI_Comm_rank(machine, &j->machine_rank);
    MPI_Comm_size(machine, &j->machine_ranks);
    first = machine_share(j, mine, machine);
    j->node_comm = node_cut(j, machine);
    j->machine_of = ints(j->size);
    hearthi_collective_gather(&first, sizeof first, j->machine_of, j->comm);
    MPI_Comm_set_errhandler(j->node_comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(j->node_comm, &j->node_rank);
    MPI_Comm_size(j->node_comm, &j->node_size);
}

/* The ranks that speak for nodes to each other. */
static MPI_Comm
leaders_make(const struct hearthi_cluster *j)
{
    MPI_Comm leaders = MPI_COMM_NULL;

    if (j->nodes == j->size)
        return hearthi_collective_dup(j->comm);
    if (j->nodes > 1)
        HEARTHI_MPI_SPINS(MPI_Comm_split(j->comm,
                                         j->node_rank == 0 ? 0 : MPI_UNDEFINED,
                                         j->rank, &leaders));
    return leaders;
}

/* What ranks tell each other of themselves. */
struct place {
    int first, node_rank; /* of the node: its first rank */
    int page;             /* of the system */
    int level;            /* of threads, of its MPI */
};

/* Number the nodes in the order of their first ranks. */
static void
nodes_number(struct hearthi_cluster *j)
{
    struct place  mine = { .first = j->rank,
                           .node_rank = j->node_rank,
                           .page = (int)sysconf(_SC_PAGESIZE) };
    struct place *all = calloc((size_t)j->size, sizeof *all);

    if (all == NULL)
        hearthi_fatal("hearth_init", "no memory for %d ranks", j->size);
    MPI_Query_thread(&mine.level);
    hearthi_collective_bcast(&mine.first, sizeof mine.first, 0, j->node_comm);
    hearthi_collective_gather(&mine, sizeof mine, all, j->comm);
    j->node_of = ints(j->size);
    j->node_rank_of = ints(j->size);
    j->node_member = ints(j->node_size);
    j->nodes = 0;
    j->system_page = 0;
    j->threads = false;
    j->unthreaded = j->size;
    for (int r = 0; r < j->size; r++) {
        j->node_rank_of[r] = all[r].node_rank;
        j->node_of[r] =
            all[r].first == r ? j->nodes++ : j->node_of[all[r].first];
        if (all[r].first == mine.first)
            j->node_member[j->node_rank_of[r]] = r;
        if (all[r].page > j->system_page)
            j->system_page = all[r].page;
        if (all[r].level == MPI_THREAD_MULTIPLE)
            j->threads = true;
        else if (j->unthreaded == j->size)
            j->unthreaded = r;
    }
    j->node = j->node_of[j->rank];
    j->leaders = leaders_make(j);
    free(all);
}

void
hearthi_cluster_open(MPI_Comm comm, bool hides)
{
    struct hearthi_cluster     *j = &hearthi_cluster;
    struct hearthi_machine_part mine;

    j->comm = comm;
    j->hides = hides;
    MPI_Comm_rank(comm, &j->rank);
    MPI_Comm_size(comm, &j->size);
    hearthi_machine_part(&mine);
    mine.rank = j->rank;
    j->cores = hearthi_machine_cores(&mine, 1); /* so far */
    j->machine_ranks = j->size;
    nodes_split(j, &mine);
    nodes_number(j);
}

void
hearthi_cluster_close(void)
{
    struct hearthi_cluster *j = &hearthi_cluster;

    if (j->leaders != MPI_COMM_NULL)
        HEARTHI_SPINS(MPI_Comm_free(&j->leaders));
    HEARTHI_SPINS(MPI_Comm_free(&j->node_comm));
    HEARTHI_SPINS(MPI_Comm_free(&j->comm));
    free(j->machine_of);
    free(j->node_of);
    free(j->node_rank_of);
    free(j->node_member);
}
