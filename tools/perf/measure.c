/* SPDX-License-Identifier: BSD-2-Clause */
/* What every figure needs: a clock, medians, memory, patterns, a meeting. */
#define _GNU_SOURCE
#include "perf.h"

#include <dirent.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <time.h>

double
perf_now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

static int
double_compare(const void *a, const void *b)
{
    double x = *(const double *)a;
    double y = *(const double *)b;

    return (x > y) - (x < y);
}

double
perf_median(double *values, int count)
{
    qsort(values, (size_t)count, sizeof *values, double_compare);
    if (count % 2)
        return values[count / 2];
    return (values[count / 2 - 1] + values[count / 2]) / 2;
}

bool
perf_acting(const struct perf *p)
{
    return p->rank == PERF_ACTOR;
}

bool
perf_is_peer(const struct perf *p)
{
    return p->rank == p->peer;
}

bool
perf_taking_part(const struct perf *p)
{
    return perf_acting(p) || perf_is_peer(p);
}

int
perf_other(const struct perf *p)
{
    return perf_acting(p) ? p->peer : PERF_ACTOR;
}

/* MPI_Barrier need not drive other ranks' one-sided operations; a tested
 * MPI_Ibarrier does.  It yields only where ranks share cores: on a busy
 * machine whoever yields is away for a time slice of the others. */
void
perf_meet(const struct perf *p)
{
    MPI_Request request;
    int         done = 0;

    MPI_Ibarrier(p->raw.comm, &request);
    for (unsigned spins = 1; !done; spins++) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        if (p->crowded && spins % 64 == 0)
            sched_yield();
    }
}

/* A rank that spins takes a core from the threads that are measured; this one
 * looks once in a millisecond. */
void
perf_rest(const struct perf *p)
{
    const struct timespec nap = { .tv_nsec = 1000000 };
    MPI_Request           request;
    int                   done = 0;

    if (p->transport == PERF_OVER_MPI) {
        perf_meet(p);
        return;
    }
    MPI_Ibarrier(p->raw.comm, &request);
    MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    while (!done) {
        nanosleep(&nap, NULL);
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
    }
}

/* The first two cores are for the actor and its peer, which changes places
 * with rank 1. */
void
perf_core(const struct perf *p, cpu_set_t *core)
{
    int place = perf_is_peer(p) ? 1 : p->rank == 1 ? p->peer : p->rank;
    int turn = place % CPU_COUNT(&p->cores);
    int i = 0;

    while (!CPU_ISSET(i, &p->cores) || turn-- > 0)
        i++;
    CPU_ZERO(core);
    CPU_SET(i, core);
}

/* Whether the kernel wakes a thread where its waker runs or on a core that
 * sleeps makes a factor of ten on some machines, and differs from run to
 * run. */
void
perf_pin(struct perf *p)
{
    cpu_set_t      core;
    DIR           *threads = opendir("/proc/self/task");
    struct dirent *t;

    if (!threads)
        return;
    perf_core(p, &core);
    while ((t = readdir(threads)))
        if (t->d_name[0] != '.')
            sched_setaffinity((pid_t)strtol(t->d_name, NULL, 10), sizeof core,
                              &core);
    closedir(threads);
    p->cores = core;
}

_Noreturn void
perf_wrong(const char *figure, size_t offset)
{
    fprintf(stderr, "hearth-perf: %s: wrong data at byte %zu\n", figure,
            offset);
    MPI_Abort(MPI_COMM_WORLD, 1);
    abort();
}

static uint64_t
mix(uint64_t x)
{
    x ^= x >> 31;
    x *= UINT64_C(0x9e3779b97f4a7c15);
    return x ^ (x >> 29);
}

size_t *
perf_shuffled(size_t count)
{
    size_t *order = malloc(count * sizeof *order);

    if (!order)
        abort();
    for (size_t i = 0; i < count; i++)
        order[i] = i;
    for (size_t i = count - 1; i > 0; i--) {
        size_t j = mix(i + 12345) % (i + 1);
        size_t t = order[i];

        order[i] = order[j];
        order[j] = t;
    }
    return order;
}

void *
perf_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_SHARED | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED) {
        perror("hearth-perf: mmap");
        MPI_Abort(MPI_COMM_WORLD, 1);
    }
    return p;
}

void
perf_memory_free(void *p, size_t bytes)
{
    munmap(p, bytes);
}

/* Every 8-byte word differs from its neighbours and from the last round's,
 * and never equals a fresh page's zero. */
void
perf_fill(uint64_t *words, size_t count, uint64_t salt)
{
    for (size_t i = 0; i < count; i++)
        words[i] = ((i + 1) << 20) + salt;
}

size_t
perf_check(const uint64_t *words, size_t count, uint64_t salt)
{
    for (size_t i = 0; i < count; i++)
        if (words[i] != ((i + 1) << 20) + salt)
            return i;
    return count;
}
