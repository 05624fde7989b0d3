/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "transport.h"

#include <sched.h>

#include "base/option.h"
#include "cluster.h"
#include "clusters/clusters.h"
#include "front/direct.h"
#include "world.h"

const struct hearthi_transport_ops *hearthi_transport;
struct hearthi_epochs               hearthi_epochs;

/* Between nodes, and where there is but one. */
static const struct hearthi_transport_ops *const all[][2] = {
    [HEARTHI_TRANSPORT_MPI] = { &hearthi_transport_mpi,
                                &hearthi_transport_mpi },
    [HEARTHI_TRANSPORT_UDP] = { &hearthi_transport_udp,
                                &hearthi_transport_udp_node },
};

void
hearthi_transport_open(void)
{
    bool alone = hearthi_cluster.nodes == 1 &&
                 hearthi_opt.udp_local != HEARTHI_LOCAL_UDP;

    hearthi_transport = all[hearthi_opt.transport][alone];
    if (hearthi_world.gather != NULL)
        hearthi_transport = hearthi_transport_wan(hearthi_transport);
    hearthi_transport->open();
}

static void
pause_core(void)
{
#if defined(__x86_64__) || defined(__i386__)
    __builtin_ia32_pause();
#elif defined(__aarch64__)
    __asm__ volatile("yield");
#endif
}

bool
hearthi_may_spin(void)
{
    return hearthi_cluster.machine_ranks <= hearthi_cluster.cores;
}

/* A rank that waits spins for a few microseconds only if every rank has a
 * core of its own: otherwise the one it waits for may need this core. */
void
hearthi_relax(unsigned *turn)
{
    unsigned spins = hearthi_may_spin() ? 64 : 4;

    (*turn)++;
    if (*turn % 4 != 0) {
        pause_core();
        return;
    }
    hearthi_transport->progress();
    if (*turn > spins)
        sched_yield();
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
