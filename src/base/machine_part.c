/* SPDX-License-Identifier: BSD-2-Clause */
#include "config.h"

#include "machine_part.h"

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "cgroup.h"
#include "min.h"

static void
limits_put(struct hearthi_machine_limit       to[HEARTHI_LEVELS],
           const struct hearthi_cgroup_limit *from, int n)
{
    for (int i = 0; i < HEARTHI_LEVELS; i++)
        to[i].most = UINT64_MAX;
    for (int i = 0; i < n; i++)
        to[i] = (struct hearthi_machine_limit){ from[i].most, from[i].device,
                                                from[i].group };
}

/* OpenMP binds its first thread, which is this one, to a part of what the
 * process has. */
static bool
openmp_binds(void)
{
    static const char *const names[] = { "OMP_PROC_BIND", "OMP_PLACES",
                                         "GOMP_CPU_AFFINITY", "KMP_AFFINITY" };

    for (size_t i = 0; i < sizeof names / sizeof *names; i++)
        if (getenv(names[i]) != NULL)
            return true;
    return false;
}

/* A machine of more processors than a cpu_set_t has room for says nothing of
 * affinity: then it is all of them. */
void
hearthi_machine_part(struct hearthi_machine_part *p)
{
    struct hearthi_cgroup_limit l[HEARTHI_LEVELS];
    long                        online = sysconf(_SC_NPROCESSORS_ONLN);
    struct stat                 shm;

    memset(p, 0, sizeof *p);
    p->memory =
        (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
    p->online = online < 1 ? 1 : (int)online;
    if (openmp_binds() ||
        sched_getaffinity(0, sizeof p->bound, &p->bound) != 0)
        memset(&p->bound, 0xff, sizeof p->bound);
    if (stat("/dev/shm", &shm) == 0) {
        p->shm_device = shm.st_dev;
        p->shm_file = shm.st_ino;
    }
    limits_put(p->limit[HEARTHI_OF_MEMORY], l, hearthi_cgroup_memory(l));
    limits_put(p->limit[HEARTHI_OF_PROCESSORS], l,
               hearthi_cgroup_processors(l));
}

static bool
has_limit(const struct hearthi_machine_limit  limit[HEARTHI_LEVELS],
          const struct hearthi_machine_limit *l)
{
    for (int i = 0; i < HEARTHI_LEVELS; i++)
        if (limit[i].most != UINT64_MAX && limit[i].device == l->device &&
            limit[i].group == l->group)
            return true;
    return false;
}

/* The least of what limits leave all[i], and how many share that one: of none,
 * UINT64_MAX and all. */
static uint64_t
limit_share(const struct hearthi_machine_part *all, int n, int i,
            enum hearthi_machine_limit_kind kind, int *sharers)
{
    uint64_t least = UINT64_MAX;

    *sharers = n;
    for (int k = 0; k < HEARTHI_LEVELS; k++) {
        const struct hearthi_machine_limit *l = &all[i].limit[kind][k];
        int                              here = 0;

        if (l->most == UINT64_MAX)
            continue;
        for (int j = 0; j < n; j++)
            here += has_limit(all[j].limit[kind], l);
        if (l->most / (uint64_t)here < least) {
            least = l->most / (uint64_t)here;
            *sharers = here;
        }
    }
    return least;
}

size_t
hearthi_machine_memory(const struct hearthi_machine_part *p)
{
    int alone;

    return (size_t)hearthi_min(
        p->memory, limit_share(p, 1, 0, HEARTHI_OF_MEMORY, &alone));
}

size_t
hearthi_machine_share(const struct hearthi_machine_part *all, int n, int i)
{
    int sharers;

    return (size_t)hearthi_min(
        all[i].memory / (uint64_t)n,
        limit_share(all, n, i, HEARTHI_OF_MEMORY, &sharers));
}

size_t
hearthi_machine_together(const struct hearthi_machine_part *all, int n)
{
    size_t sum = 0;

    for (int i = 0; i < n; i++)
        sum += hearthi_machine_share(all, n, i);
    return sum;
}

int
hearthi_machine_sharers(const struct hearthi_machine_part *all, int n, int i)
{
    int sharers;

    return limit_share(all, n, i, HEARTHI_OF_MEMORY, &sharers) <
                   all[i].memory / (uint64_t)n
               ? sharers
               : n;
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
    return count < all[0].online && count < CPU_SETSIZE ? count
                                                        : all[0].online;
}

/* UINT64_MAX where a process has no such limit. */
static uint64_t
quotas(const struct hearthi_machine_part *all, int n)
{
    uint64_t sum = 0;

    for (int k = 0; k < n; k++) {
        int      sharers;
        uint64_t share =
            limit_share(all, n, k, HEARTHI_OF_PROCESSORS, &sharers);

        if (share == UINT64_MAX)
            return UINT64_MAX;
        sum += share + 1; /* it was rounded down */
    }
    return sum;
}

int
hearthi_machine_cores(const struct hearthi_machine_part *all, int n)
{
    uint64_t cores =
        hearthi_min((uint64_t)bound_to(all, n), quotas(all, n) / 1000);

    return cores < 1 ? 1 : (int)cores;
}

int
hearthi_machine_cores_alone(void)
{
    struct hearthi_machine_part here;

    hearthi_machine_part(&here);
    memset(&here.bound, 0xff, sizeof here.bound);
    return hearthi_machine_cores(&here, 1);
}
