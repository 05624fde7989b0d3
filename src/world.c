/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "world.h"

#include "base/option.h"
#include "base/report.h"
#include "front/direct.h"

struct hearthi_world hearthi_world;

_Thread_local __attribute__((tls_model("initial-exec"))) char hearthi_identity;

static int alone[2]; /* where one cluster is all */

int
hearthi_cluster_of(int rank)
{
    int i = 0;

    if (rank >= hearthi_world.size)
        return rank - hearthi_world.size;
    while (rank >= hearthi_world.first_of[i + 1])
        i++;
    return i;
}

void
hearthi_one_cluster(const char *call)
{
    if (hearthi_world.gather == NULL)
        return;
    if (hearthi_world.rank == hearthi_world.first)
        hearthi_fatal(call, "it does not go over several clusters "
                            "(HEARTH_CLUSTERS): use the calls of hearth.h");
    hearthi_end_wait();
}

void
hearthi_world_open(MPI_Comm comm, bool hides)
{
    struct hearthi_world         *w = &hearthi_world;
    const struct hearthi_cluster *j = &hearthi_cluster;
    int                           level;

    MPI_Query_thread(&level);
    w->multiple = level == MPI_THREAD_MULTIPLE;
    w->main_thread = hearthi_thread();
    w->scope = hearthi_opt.consistency == HEARTHI_SCOPE;
    w->comm = comm;
    hearthi_cluster_open(comm, hides);
    w->threads = j->threads;
    w->rank = j->rank;
    w->size = hearthi_cluster_ranks();
    w->node = j->node;
    w->nodes = j->nodes;
    w->home_node = hearthi_opt.races == HEARTHI_RACES_OFF ? w->node : -1;
    w->node_of = j->node_of;
    w->node_rank_of = j->node_rank_of;
    w->clusters = 1;
    w->cluster = w->first = 0;
    alone[1] = w->size;
    w->first_of = alone;
    w->gather = NULL;
}

void
hearthi_world_close(void)
{
    hearthi_cluster_close();
    hearthi_world.up = false;
}
