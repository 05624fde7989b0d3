/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "fabric.h"

#include "base/option.h"
#include "cluster.h"
#include "mpi_fabric.h"
#include "progress.h"

const struct hearthi_fabric_ops *hearthi_fabric;
bool                             hearthi_fabric_is_shm;

/* ---- one node ---- */

static void
nothing(void)
{
}

static void
nothing_grow(uint64_t frames)
{
    (void)frames;
}

/* No rank is anywhere else, and no object is managed in a sync region. */
static const struct hearthi_fabric_ops none = {
    .name = "none",
    .check = nothing,
    .registers = false,
    .home_open = nothing,
    .home_close = nothing,
    .home_grow = nothing_grow,
};

/* ---- start and end ---- */

static const struct hearthi_fabric_ops *
fabric_wanted(void)
{
    if (hearthi_cluster.nodes == 1)
        return &none;
    return hearthi_opt.fabric == HEARTHI_FABRIC_SHM ? &hearthi_shm_fabric
                                                    : &hearthi_mpi_fabric;
}

void
hearthi_fabric_open(void)
{
    hearthi_fabric = fabric_wanted();
    hearthi_fabric_is_shm = hearthi_fabric == &hearthi_shm_fabric;
    hearthi_help = (struct hearthi_help){ .doorbells = false };
    hearthi_mpi_look_open();
    hearthi_fabric->check();
}

void
hearthi_fabric_close(void)
{
    hearthi_mpi_look_close();
}
