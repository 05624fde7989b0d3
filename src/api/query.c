/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a rank asks about its job, and tells it: ranks, nodes, options, names.
 */
#include "config.h"

#include "api.h"
#include "base/option.h"
#include "base/report.h"
#include "hearth/hearth.h"
#include "profile/allocations.h"
#include "space/heap.h"
#include "world.h"

bool
hearth_initialized(void)
{
    return hearthi_world.up;
}

int
hearth_rank(void)
{
    hearthi_require_up("hearth_rank");
    return hearthi_world.rank;
}

int
hearth_size(void)
{
    hearthi_require_up("hearth_size");
    return hearthi_world.size;
}

int
hearth_node(void)
{
    hearthi_require_up("hearth_node");
    return hearthi_world.node;
}

int
hearth_nodes(void)
{
    hearthi_require_up("hearth_nodes");
    return hearthi_world.nodes;
}

int
hearth_node_of(int rank)
{
    hearthi_require_up("hearth_node_of");
    if (rank < 0 || rank >= hearthi_world.size)
        hearthi_fatal("hearth_node_of",
                      "rank %d does not exist: ranks are 0 "
                      "to %d",
                      rank, hearthi_world.size - 1);
    return hearthi_world.node_of[rank];
}

const char *
hearth_option(const char *name)
{
    hearthi_require_up("hearth_option");
    return hearthi_option_text(name);
}

void
hearth_name(const void *p, const char *name)
{
    hearthi_require_up("hearth_name");
    if (!hearthi_in_heap(p))
        hearthi_fatal("hearth_name",
                      "%p is not in the heap: name what hearth_alloc or "
                      "hearth_malloc returned",
                      p);
    hearthi_allocations_name(p, name);
}
