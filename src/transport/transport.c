/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "transport.h"

#include "base/option.h"
#include "cluster.h"
#include "clusters/clusters.h"
#include "front/direct.h"
#include "node/relax.h"
#include "world.h"

const struct hearthi_transport_ops *hearthi_transport;
struct hearthi_epochs               hearthi_epochs;

/* Between nodes, and where there is but one. */
static const struct hearthi_transport_ops *const all[][2] = {
    [HEARTHI_TRANSPORT_MPI] = { &hearthi_transport_mpi,
                                &hearthi_transport_mpi_node },
    [HEARTHI_TRANSPORT_UDP] = { &hearthi_transport_udp,
                                &hearthi_transport_udp_node },
};

void
hearthi_transport_open(void)
{
    bool alone = hearthi_cluster.nodes == 1 &&
                 (hearthi_opt.transport != HEARTHI_TRANSPORT_UDP ||
                  hearthi_opt.udp_local != HEARTHI_LOCAL_UDP);

    hearthi_transport = all[hearthi_opt.transport][alone];
    if (hearthi_world.gather != NULL)
        hearthi_transport = hearthi_transport_wan(hearthi_transport);
    if (hearthi_opt.races != HEARTHI_RACES_OFF)
        hearthi_transport = hearthi_transport_loopback(hearthi_transport);
    hearthi_relaxing =
        (struct hearthi_relax){ .progress = hearthi_transport->progress,
                                .may_sleep = true };
    hearthi_transport->open();
}

/* One after the other: a test of any request moves them all. */
void
hearthi_requests_wait(MPI_Request *request, int n)
{
    unsigned turn = 0;
    int      done = 0;

    for (int i = 0; i < n; i += done != 0) {
        HEARTHI_MPI(MPI_Test(&request[i], &done, MPI_STATUS_IGNORE));
        if (!done)
            hearthi_relax(&turn);
    }
}
