/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The limits of control groups, read from trees that are made up, and what
 * they and affinity leave to the processes of a machine.
 */
#include <config.h>

#include "base/cgroup.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/machine_part.h"
#include "harness.h"
#include "made_up.h"

#define NONE UINT64_MAX

static char root[MADE_UP];

static void
setup(void)
{
    made_up_begin(root);
}

static void
teardown(void)
{
    made_up_end(root);
}

static struct hearthi_cgroup_limit limit[HEARTHI_LEVELS];

static uint64_t
processors(void)
{
    return hearthi_cgroup_least(limit, hearthi_cgroup_processors(limit)).most;
}

static void
memory_is(uint64_t most, const char *file)
{
    struct hearthi_cgroup_limit l =
        hearthi_cgroup_least(limit, hearthi_cgroup_memory(limit));

    ck_assert_uint_eq(l.most, most);
    if (most != NONE)
        ck_assert_str_eq(l.file + strlen(root) + strlen("/sys/fs/cgroup/"),
                         file);
}

START_TEST(no_group_is_no_limit)
{
    memory_is(NONE, "");
    made_up_file(root, "proc/self/cgroup", "0::/\n");
    memory_is(NONE, "");
    ck_assert_uint_eq(processors(), NONE);
}
END_TEST

START_TEST(the_least_limit_up_the_tree_counts)
{
    made_up_file(root, "proc/self/cgroup", "1:cpu:/else\n0::/job/step\n");
    made_up_file(root, "sys/fs/cgroup/job/step/memory.max", "max\n");
    memory_is(NONE, "");
    made_up_file(root, "sys/fs/cgroup/job/memory.max", "1073741824\n");
    memory_is(1 << 30, "job/memory.max");
    made_up_file(root, "sys/fs/cgroup/job/step/memory.max", "2147483648\n");
    memory_is(1 << 30, "job/memory.max");
    made_up_file(root, "sys/fs/cgroup/memory.max", "4096\n");
    memory_is(4096, "memory.max");
}
END_TEST

START_TEST(what_slows_down_counts_as_what_kills)
{
    made_up_file(root, "proc/self/cgroup", "0::/job\n");
    made_up_file(root, "sys/fs/cgroup/job/memory.max", "1073741824\n");
    made_up_file(root, "sys/fs/cgroup/job/memory.high", "536870912\n");
    memory_is(1 << 29, "job/memory.high");
}
END_TEST

START_TEST(version_1_is_read)
{
    made_up_file(root, "proc/self/cgroup",
                 "4:memory:/a/b\n2:cpu,cpuacct:/a\n0::/\n");
    made_up_file(root, "sys/fs/cgroup/memory/a/b/memory.limit_in_bytes",
                 "9223372036854771712\n");
    made_up_file(root, "sys/fs/cgroup/memory/a/memory.limit_in_bytes",
                 "67108864\n");
    memory_is(64 << 20, "memory/a/memory.limit_in_bytes");
    made_up_file(root, "sys/fs/cgroup/cpu/a/cpu.cfs_quota_us", "-1\n");
    made_up_file(root, "sys/fs/cgroup/cpu/a/cpu.cfs_period_us", "100000\n");
    ck_assert_uint_eq(processors(), NONE);
    made_up_file(root, "sys/fs/cgroup/cpu/cpu.cfs_quota_us", "75000\n");
    made_up_file(root, "sys/fs/cgroup/cpu/cpu.cfs_period_us", "50000\n");
    ck_assert_uint_eq(processors(), 1500);
}
END_TEST

static void
leads_to_the_mount(const char *line)
{
    made_up_file(root, "proc/self/cgroup", line);
    made_up_file(root, "sys/fs/cgroup/memory.max", "8388608\n");
    memory_is(8 << 20, "memory.max");
}

/* As in a container with a namespace of groups. */
START_TEST(the_group_may_be_that_at_the_mount)
{
    leads_to_the_mount("0::/\n");
}
END_TEST

/* As in a container whose path is that of the host. */
START_TEST(a_path_that_is_not_there_leads_to_the_mount)
{
    leads_to_the_mount("0::/docker/0123/../4567\n");
}
END_TEST

START_TEST(version_2_may_lie_beside_version_1)
{
    made_up_file(root, "proc/self/cgroup", "1:name=systemd:/\n0::/job\n");
    made_up_file(root, "sys/fs/cgroup/unified/cgroup.procs", "");
    made_up_file(root, "sys/fs/cgroup/unified/job/memory.max", "8388608\n");
    memory_is(8 << 20, "unified/job/memory.max");
}
END_TEST

START_TEST(all_limits_up_the_tree_are_found_once)
{
    made_up_file(root, "proc/self/cgroup", "0::/a/b/c/d/e/f/g\n");
    made_up_file(root, "sys/fs/cgroup/a/b/c/d/e/f/g/memory.max", "900\n");
    made_up_file(root, "sys/fs/cgroup/a/b/c/d/e/f/g/memory.high", "800\n");
    ck_assert_int_eq(hearthi_cgroup_memory(limit), 1);
    made_up_file(root, "sys/fs/cgroup/a/b/c/d/e/f/memory.high", "1000\n");
    made_up_file(root, "sys/fs/cgroup/a/b/c/d/e/memory.max", "3000\n");
    made_up_file(root, "sys/fs/cgroup/a/b/c/d/memory.max", "1500\n");
    made_up_file(root, "sys/fs/cgroup/a/b/c/memory.max", "1600\n");
    made_up_file(root, "sys/fs/cgroup/a/b/memory.max", "1700\n");
    ck_assert_int_eq(hearthi_cgroup_memory(limit), HEARTHI_LEVELS);
    made_up_file(root, "sys/fs/cgroup/a/memory.max", "1800\n");
    ck_assert_int_eq(hearthi_cgroup_memory(limit), HEARTHI_LEVELS);
    memory_is(800, "a/b/c/d/e/f/g/memory.high");
    for (int i = 0; i < HEARTHI_LEVELS; i++)
        ck_assert_uint_ne(limit[i].most, 3000);
}
END_TEST

START_TEST(a_quota_has_a_period)
{
    made_up_file(root, "proc/self/cgroup", "0::/job\n");
    made_up_file(root, "sys/fs/cgroup/job/cpu.max", "max 100000\n");
    ck_assert_uint_eq(processors(), NONE);
    made_up_file(root, "sys/fs/cgroup/job/cpu.max", "100000 50000\n");
    ck_assert_uint_eq(processors(), 2000);
    made_up_file(root, "sys/fs/cgroup/cpu.max", "90000 100000\n");
    ck_assert_uint_eq(processors(), 900);
}
END_TEST

/* ---- several on one machine ---- */

enum { RANKS = 4 };

/* Four of eight processors and 8 GiB, none of which is bound or limited. */
static void
parts_make(struct hearthi_machine_part part[RANKS])
{
    memset(part, 0, RANKS * sizeof *part);
    for (int i = 0; i < RANKS; i++) {
        part[i].memory = UINT64_C(8) << 30;
        part[i].online = 8;
        memset(&part[i].bound, 0xff, sizeof part[i].bound);
        for (int k = 0; k < HEARTHI_LEVELS; k++)
            part[i].limit[0][k].most = part[i].limit[1][k].most = NONE;
    }
}

static void
limit_set(struct hearthi_machine_part *p, int kind, int level, uint64_t most,
          uint64_t group)
{
    p->limit[kind][level].most = most;
    p->limit[kind][level].group = group;
}

START_TEST(processors_are_those_of_all_together)
{
    struct hearthi_machine_part part[RANKS];

    parts_make(part);
    ck_assert_int_eq(hearthi_machine_cores(part, RANKS), 8);
    for (int i = 0; i < RANKS; i++) { /* a launcher that binds */
        CPU_ZERO(&part[i].bound);
        CPU_SET(i, &part[i].bound);
    }
    ck_assert_int_eq(hearthi_machine_cores(part, RANKS), 4);
    for (int i = 0; i < RANKS; i++) { /* taskset -c 1,2 mpirun */
        CPU_ZERO(&part[i].bound);
        CPU_SET(1, &part[i].bound);
        CPU_SET(2, &part[i].bound);
    }
    ck_assert_int_eq(hearthi_machine_cores(part, RANKS), 2);
}
END_TEST

START_TEST(a_quota_is_that_of_a_group)
{
    struct hearthi_machine_part part[RANKS];

    parts_make(part);
    for (int i = 0; i < RANKS; i++)
        limit_set(&part[i], HEARTHI_OF_PROCESSORS, 0, 2500, 1);
    ck_assert_int_eq(hearthi_machine_cores(part, RANKS), 2);
    for (int i = 0; i < RANKS; i++) /* a container each */
        limit_set(&part[i], HEARTHI_OF_PROCESSORS, 0, 2500, 1 + (uint64_t)i);
    ck_assert_int_eq(hearthi_machine_cores(part, RANKS), 8);
    ck_assert_int_eq(hearthi_machine_cores(part, 2), 5);
    for (int i = 0; i < RANKS; i++) /* of one pod */
        limit_set(&part[i], HEARTHI_OF_PROCESSORS, 1, 3000, 9);
    ck_assert_int_eq(hearthi_machine_cores(part, RANKS), 3);
    ck_assert_int_eq(hearthi_machine_cores(part, 3), 3);
    ck_assert_int_eq(hearthi_machine_cores(part, 1), 2);
    parts_make(part);
    limit_set(&part[0], HEARTHI_OF_PROCESSORS, 0, 10, 1);
    ck_assert_int_eq(hearthi_machine_cores(part, 2), 8);
    ck_assert_int_eq(hearthi_machine_cores(part, 1), 1);
}
END_TEST

START_TEST(memory_is_shared_by_those_of_a_group)
{
    const uint64_t              gib = 1 << 30;
    struct hearthi_machine_part part[RANKS];

    parts_make(part);
    ck_assert_uint_eq(hearthi_machine_memory(part), 8 * gib);
    ck_assert_uint_eq(hearthi_machine_share(part, RANKS, 0), 2 * gib);
    ck_assert_uint_eq(hearthi_machine_together(part, RANKS), 8 * gib);
    ck_assert_int_eq(hearthi_machine_sharers(part, RANKS, 0), RANKS);
    limit_set(&part[0], HEARTHI_OF_MEMORY, 0, 2 * gib, 7);
    limit_set(&part[1], HEARTHI_OF_MEMORY, 0, 2 * gib, 7);
    ck_assert_uint_eq(hearthi_machine_memory(part), 2 * gib);
    ck_assert_int_eq(hearthi_machine_sharers(part, RANKS, 1), 2);
    ck_assert_uint_eq(hearthi_machine_share(part, RANKS, 1), gib);
    ck_assert_uint_eq(hearthi_machine_share(part, RANKS, 2), 2 * gib);
    ck_assert_uint_eq(hearthi_machine_together(part, RANKS), 6 * gib);
    limit_set(&part[1], HEARTHI_OF_MEMORY, 0, 2 * gib, 8); /* one each */
    ck_assert_uint_eq(hearthi_machine_share(part, RANKS, 1), 2 * gib);
    for (int i = 0; i < RANKS; i++) /* below one that has less */
        limit_set(&part[i], HEARTHI_OF_MEMORY, 1, 3 * gib, 9);
    ck_assert_uint_eq(hearthi_machine_share(part, RANKS, 1), 3 * gib / RANKS);
    ck_assert_int_eq(hearthi_machine_sharers(part, RANKS, 1), RANKS);
}
END_TEST

int
main(void)
{
    Suite *s = suite_create("cgroup");
    TCase *trees = tcase_create("trees"), *parts = tcase_create("parts");

    tcase_add_checked_fixture(trees, setup, teardown);
    tcase_add_test(trees, no_group_is_no_limit);
    tcase_add_test(trees, the_least_limit_up_the_tree_counts);
    tcase_add_test(trees, what_slows_down_counts_as_what_kills);
    tcase_add_test(trees, version_1_is_read);
    tcase_add_test(trees, the_group_may_be_that_at_the_mount);
    tcase_add_test(trees, version_2_may_lie_beside_version_1);
    tcase_add_test(trees, all_limits_up_the_tree_are_found_once);
    tcase_add_test(trees, a_path_that_is_not_there_leads_to_the_mount);
    tcase_add_test(trees, a_quota_has_a_period);
    suite_add_tcase(s, trees);
    tcase_add_test(parts, processors_are_those_of_all_together);
    tcase_add_test(parts, a_quota_is_that_of_a_group);
    tcase_add_test(parts, memory_is_shared_by_those_of_a_group);
    suite_add_tcase(s, parts);
    return unit_main(s);
}
