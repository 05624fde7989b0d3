/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a large heap and large allocations cost: nothing until they are used;
 * and what Hearth takes of a machine that has limits.
 */
#define _GNU_SOURCE
#include <sched.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "cluster.h"
#include "fixture.h"
#include "made_up.h"
#include "page/frames.h"

enum { TRIES = 5 };
#define TEBIBYTE ((size_t)1 << 40)

static long
status_kib(const char *key)
{
    FILE *f = fopen("/proc/self/status", "r");
    char  line[200];
    long  kib = 0;

    while (f != NULL && fgets(line, sizeof line, f) != NULL)
        if (strncmp(line, key, strlen(key)) == 0)
            kib = strtol(line + strlen(key), NULL, 10);
    if (f != NULL)
        fclose(f);
    return kib;
}

static long
resident_kib(void)
{
    return status_kib("VmRSS:");
}

/* Tables are there, and pages are not. */
static long
private_kib(void)
{
    return status_kib("RssAnon:");
}

/* How many times as long a library takes that counts (./check --coverage). */
#ifdef HEARTHI_COVERAGE
enum { SLOWER = 10 };
#else
enum { SLOWER = 1 };
#endif

/* The machine may be busy with other things: the best of a few tries. */
START_TEST(a_tebibyte_starts_within_a_second)
{
    double best = 1e9;

    for (int i = 0; i < TRIES && best >= SLOWER; i++) {
        double start, took;

        MPI_Barrier(MPI_COMM_WORLD);
        start = MPI_Wtime();
        fixture_start_with("HEAP", "1t");
        took = MPI_Wtime() - start;
        fixture_stop();
        MPI_Allreduce(MPI_IN_PLACE, &took, 1, MPI_DOUBLE, MPI_MAX,
                      MPI_COMM_WORLD);
        best = took < best ? took : best;
    }
    all_assert_timely(best < SLOWER);
}
END_TEST

START_TEST(a_tebibyte_is_not_resident)
{
    unsigned char *p;
    long           before = resident_kib(), after;

    fixture_start_with("HEAP", "1t");
    p = hearth_alloc(64 << 20, 1, hearth_cyclic(16));
    barrier();
    p[me] = 1;
    after = resident_kib();
    expect(before > 0 && after - before < 100 * 1024);
    barrier();
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

/* Far apart in a large allocation: memory is used for what is touched. */
START_TEST(an_allocation_costs_what_is_touched)
{
    size_t         bytes = (size_t)2 << 30, step = bytes / 64;
    unsigned char *p;
    long           before;

    fixture_start_with("HEAP", "1t");
    before = resident_kib();
    p = hearth_alloc(bytes, 1, hearth_block());
    barrier();
    for (size_t i = (size_t)me * page_bytes(); i < bytes; i += step)
        p[i] = (unsigned char)(me + 1);
    barrier();
    for (int r = 0; r < ranks; r++)
        for (size_t i = (size_t)r * page_bytes(); i < bytes; i += step)
            expect_eq(p[i], r + 1);
    expect(resident_kib() - before < 100 * 1024);
    barrier();
    hearth_free(p);
    fixture_stop();
    all_expected();
}
END_TEST

/* A page in each of many parts of an allocation, of other homes and mine. */
static void
parts_touch(unsigned char *p, size_t bytes)
{
    enum { PARTS = 256 };
    size_t step = bytes / PARTS;

    for (size_t i = 0; i < PARTS; i++)
        p[i * step + (size_t)me * page_bytes()] = (unsigned char)(i % 255 + 1);
    barrier();
    for (size_t i = 0; i < PARTS; i++)
        for (int r = 0; r < ranks; r++)
            expect_eq(p[i * step + (size_t)r * page_bytes()], i % 255 + 1);
    barrier();
}

static void *
tebibyte(hearth_layout layout, double *best)
{
    double         start;
    unsigned char *p;

    MPI_Barrier(MPI_COMM_WORLD);
    start = MPI_Wtime();
    p = hearth_alloc(1, TEBIBYTE, layout);
    start = MPI_Wtime() - start;
    MPI_Allreduce(MPI_IN_PLACE, &start, 1, MPI_DOUBLE, MPI_MAX,
                  MPI_COMM_WORLD);
    if (*best > start)
        *best = start;
    return p;
}

/* Milliseconds, but for what MPI takes for a window; memory for what is
 * touched, and back again: 256 pages stand for none, since some are touched by
 * the allocation.  In the first round all the rest gets memory, such
 * as MPI's own and twins. */
START_TEST(a_tebibyte_is_allocated_at_once)
{
    hearth_layout layouts[] = { hearth_block(), hearth_cyclic(1),
                                hearth_cyclic(16), hearth_cyclic(8192),
                                hearth_on(0) };
    double        best = 1e9;

    fixture_start_with("HEAP", "4t");
    if (hearth_nodes() < ranks) { /* /dev/shm is not that large */
        fixture_stop();
        return;
    }
    for (int i = 0; i < 2 * TRIES; i++) {
        long           before = resident_kib(), placed, touched;
        unsigned char *p = tebibyte(layouts[i % TRIES], &best);

        if (i >= TRIES)
            expect(resident_kib() - before < (long)page_bytes() / 4);
        placed = private_kib();
        parts_touch(p, TEBIBYTE);
        touched = private_kib();
        hearth_free(p);
        if (i >= TRIES && ranks > 1 && layouts[i % TRIES].kind != HEARTH_ON)
            expect(touched - placed > 512);
        if (i >= TRIES)
            expect(private_kib() - placed < 256);
    }
    expect_timely(best < 0.05 * SLOWER);
    fixture_stop();
    all_expected();
}
END_TEST

/* ---- limits of containers ---- */

static int
world_rank(void)
{
    int rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    return rank;
}

/* All ranks are in this control group. */
static void
group_enter(char root[MADE_UP])
{
    if (world_rank() == 0) {
        made_up_begin(root);
        made_up_file(root, "proc/self/cgroup", "0::/pod\n");
        made_up_file(root, "sys/fs/cgroup/pod/memory.max", "268435456\n");
        made_up_file(root, "sys/fs/cgroup/pod/cpu.max", "120000 100000\n");
    }
    MPI_Bcast(root, MADE_UP, MPI_CHAR, 0, MPI_COMM_WORLD);
    hearthi_cgroup_root = root;
}

static void
group_leave(const char *root)
{
    hearthi_cgroup_root = "";
    MPI_Barrier(MPI_COMM_WORLD);
    if (world_rank() == 0)
        made_up_end(root);
}

START_TEST(the_ranks_of_a_control_group_share_its_limits)
{
    static char root[MADE_UP]; /* where a failure leaves this */
    uint64_t    pages;
    int         cores;

    group_enter(root);
    fixture_start_with("CACHE", "auto");
    pages = ((uint64_t)256 << 20) / 8 / (uint64_t)ranks / page_bytes();
    expect_eq(hearthi_frames.bound, pages);
    expect(hearthi_cluster.memory <= 256 << 20 &&
           hearthi_cluster.memory > (256 << 20) - (size_t)ranks);
    cores = hearthi_cluster.cores;
    fixture_stop();
    group_leave(root);
    expect_eq(cores, 1);
    all_expected();
}
END_TEST

/* Where one rank may run, from where on all may run. */
static void
processor_choose(cpu_set_t *one)
{
    int i = 0;

    CPU_ZERO(one);
    sched_getaffinity(0, sizeof *one, one);
    while (i < CPU_SETSIZE - 1 && !CPU_ISSET(i, one))
        i++;
    MPI_Bcast(&i, 1, MPI_INT, 0, MPI_COMM_WORLD);
    CPU_ZERO(one);
    CPU_SET(i, one);
}

START_TEST(ranks_that_are_bound_to_one_processor_share_it)
{
    cpu_set_t before, one;
    int       bound, mine;

    sched_getaffinity(0, sizeof before, &before);
    processor_choose(&one);
    mine = sched_setaffinity(0, sizeof one, &one) == 0;
    MPI_Allreduce(&mine, &bound, 1, MPI_INT, MPI_LAND, MPI_COMM_WORLD);
    fixture_start();
    expect(!bound || hearthi_cluster.cores == 1);
    expect(!bound || hearthi_crowded() == (ranks > 1));
    fixture_stop();
    sched_setaffinity(0, sizeof before, &before);
    all_expected();
}
END_TEST

int
main(int argc, char **argv)
{
    Suite *s = suite_create("heap");
    TCase *tc = tcase_create("large"), *limits = tcase_create("limits");

    tcase_add_test(tc, a_tebibyte_starts_within_a_second);
    tcase_add_test(tc, a_tebibyte_is_not_resident);
    tcase_add_test(tc, an_allocation_costs_what_is_touched);
    tcase_add_test(tc, a_tebibyte_is_allocated_at_once);
    suite_add_tcase(s, tc);
    tcase_add_test(limits, the_ranks_of_a_control_group_share_its_limits);
    tcase_add_test(limits, ranks_that_are_bound_to_one_processor_share_it);
    suite_add_tcase(s, limits);
    return mpi_main(argc, argv, s);
}
