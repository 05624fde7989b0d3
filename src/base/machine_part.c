/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "machine_part.h"

#include <string.h>
#include <unistd.h>

#include "cgroup.h"
#include "min.h"

static struct hearthi_part_limit
limit_of(const struct hearthi_cgroup_limit *l)
{
    return (struct hearthi_part_limit){ l->most, l->device, l->group };
}

/* A machine of more processors than a cpu_set_t has room for says nothing of
 * affinity: then it is all of them. */
void
hearthi_machine_part(struct hearthi_machine_part *p)
{
    struct hearthi_cgroup_limit memory = hearthi_cgroup_memory();
    struct hearthi_cgroup_limit processors = hearthi_cgroup_processors();
    long                        online = sysconf(_SC_NPROCESSORS_ONLN);

    memset(p, 0, sizeof *p);
    p->memory =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    p->online = online < 1 ? 1 : (int)online;
    if (sched_getaffinity(0, sizeof p->bound, &p->bound) != 0)
        memset(&p->bound, 0xff, sizeof p->bound);
    p->group_memory = limit_of(&memory);
    p->group_processors = limit_of(&processors);
}

static int
share_group(const struct hearthi_part_limit *a,
            const struct hearthi_part_limit *b)
{
    return a->device == b->device && a->group == b->group;
}

int
hearthi_part_sharers(const struct hearthi_machine_part *all, int n, int i)
{
    int sharers = 0;

    for (int k = 0; k < n; k++)
        sharers += share_group(&all[k].group_memory, &all[i].group_memory);
    return sharers;
}

size_t
hearthi_part_memory(const struct hearthi_machine_part *p)
{
    return (size_t)hearthi_min(p->memory, p->group_memory.most);
}

/* Ranks in groups of their own do not share the limits of these. */
size_t
hearthi_part_share(const struct hearthi_machine_part *all, int n, int i)
{
    uint64_t group = all[i].group_memory.most /
                     (uint64_t)hearthi_part_sharers(all, n, i);

    return (size_t)hearthi_min(all[i].memory / (uint64_t)n, group);
}

/* Launchers bind each process to processors of its own: it counts what all of
 * them have together. */
static int
bound_to(const struct hearthi_machine_part *all, int n)
{
    cpu_set_t together = all[0].bound;
    int       count;

    for (int k = 1; k < n; k++)
        CPU_OR(&together, &together, &all[k].bound);
    count = CPU_COUNT(&together);
    return count < all[0].online ? count : all[0].online;
}

/* Each group once; UINT64_MAX where a process has no such limit. */
static uint64_t
quotas(const struct hearthi_machine_part *all, int n)
{
    uint64_t sum = 0;

    for (int k = 0, first; k < n; k++) {
        if (all[k].group_processors.most == UINT64_MAX)
            return UINT64_MAX;
        for (first = 0; !share_group(&all[first].group_processors,
                                     &all[k].group_processors);)
            first++;
        if (first == k)
            sum += all[k].group_processors.most;
    }
    return sum;
}

int
hearthi_part_cores(const struct hearthi_machine_part *all, int n)
{
    uint64_t cores = hearthi_min((uint64_t)bound_to(all, n),
                                 quotas(all, n) / 1000);

    return cores < 1 ? 1 : (int)cores;
}
