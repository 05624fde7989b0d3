/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a machine, a container or a shell allows, as far as Hearth or the MPI
 * library under it meets it: each is tried, or read where the kernel says it.
 * doc/containers.md has the remedies in full.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "info.h"

enum { LINE = INFO_LINE };

static void
row(const char *name, const char *text)
{
    printf("  %-21s %s\n", name, text);
}

/* ---- calls ---- */

/* A child reads its parent, which is none of its own: as ranks do, and as
 * kernel.yama.ptrace_scope forbids. */
static int
parent_read(void)
{
    static char  word;
    struct iovec here = { &word, 1 }, there = { &word, 1 };
    int          status;
    pid_t        parent = getpid(), child = fork();

    if (child == 0)
        _exit(process_vm_readv(parent, &here, 1, &there, 1, 0) == 1 ? 0
                                                                    : errno);
    if (child < 0 || waitpid(child, &status, 0) != child || !WIFEXITED(status))
        return EAGAIN;
    return WEXITSTATUS(status);
}

static void
reading_print(void)
{
    char     text[LINE];
    uint64_t scope = 0;
    int      error = parent_read();

    if (error == 0) {
        row("memory of other ranks", "process_vm_readv is allowed");
        return;
    }
    info_number_read("/proc/sys/kernel/yama/ptrace_scope", &scope);
    snprintf(text, sizeof text,
             "process_vm_readv is denied (%s%s): MPI copies twice; with Open "
             "MPI pass --mca btl_vader_single_copy_mechanism emulated, or "
             "give a container the capability SYS_PTRACE",
             strerror(error),
             scope > 0 ? "; kernel.yama.ptrace_scope is not 0" : "");
    row("MEMORY OF OTHER RANKS", text);
}

static void
memfile_print(void)
{
    char text[LINE];
    int  fd = memfd_create("hearth-info", MFD_CLOEXEC);

    if (fd >= 0) {
        close(fd);
        row("memory without a file", "memfd_create is allowed");
        return;
    }
    snprintf(text, sizeof text,
             "memfd_create is denied (%s), and hearth_init() ends: let the "
             "container's seccomp profile admit it",
             strerror(errno));
    row("MEMORY WITHOUT A FILE", text);
}

static void
filters_print(void)
{
    char text[LINE], mode[LINE];

    if (!info_line_find("/proc/self/status", "Seccomp:", mode))
        return;
    snprintf(text, sizeof text, "%s",
             strtol(mode, NULL, 10) == 0
                 ? "no seccomp filter"
                 : "a seccomp filter is here, as in most containers");
    row("system calls", text);
}

/* Those that Hearth, MPI or a fabric has a use for. */
static void
capabilities_print(void)
{
    static const struct {
        int         bit;
        const char *name;
    } of_use[] = { { 14, "IPC_LOCK" },
                   { 19, "SYS_PTRACE" },
                   { 21, "SYS_ADMIN" },
                   { 23, "SYS_NICE" } };
    char     text[LINE], list[LINE] = "";
    uint64_t have;

    if (!info_line_find("/proc/self/status", "CapEff:", text))
        return;
    have = strtoull(text, NULL, 16);
    for (size_t i = 0; i < sizeof of_use / sizeof *of_use; i++)
        if ((have >> of_use[i].bit & 1) != 0)
            snprintf(list + strlen(list), sizeof list - strlen(list), " %s",
                     of_use[i].name);
    row("capabilities", list[0] == '\0' ? "none that matters, and none is "
                                          "needed"
                                        : list + 1);
}

/* ---- control groups ---- */

static uint64_t
memory_here(void)
{
    return (uint64_t)sysconf(_SC_PHYS_PAGES) * (uint64_t)sysconf(_SC_PAGESIZE);
}

static void
group_memory_print(void)
{
    char     text[LINE];
    uint64_t most, all = memory_here();

    if ((!info_group_least("", "memory.max", &most) &&
         !info_group_least("memory", "memory.limit_in_bytes", &most)) ||
        most >= all) {
        snprintf(text, sizeof text, "%" PRIu64 " MiB, all of the machine",
                 all >> 20);
        row("memory", text);
        return;
    }
    snprintf(text, sizeof text,
             "the control group has %" PRIu64 " of the machine's %" PRIu64
             " MiB, /dev/shm and page cache among it; who touches more is "
             "killed without a word",
             most >> 20, all >> 20);
    row("MEMORY", text);
}

/* Of version 2, in cpu.max, "MICROSECONDS PERIOD"; info_number_read() stops at
 * the first, and nearly all groups have the period that the kernel gives them.
 */
static double
group_processors(void)
{
    uint64_t quota, period = 100000;

    if (info_group_least("", "cpu.max", &quota))
        return (double)quota / (double)period;
    if (!info_group_least("cpu", "cpu.cfs_quota_us", &quota))
        return 0;
    info_group_least("cpu", "cpu.cfs_period_us", &period);
    return (double)quota / (double)period;
}

static void
processors_print(void)
{
    cpu_set_t mine;
    char      text[LINE];
    long      online = sysconf(_SC_NPROCESSORS_ONLN);
    double    quota = group_processors();
    int n = sched_getaffinity(0, sizeof mine, &mine) == 0 ? CPU_COUNT(&mine)
                                                          : (int)online;

    snprintf(text, sizeof text, "%d of %ld%s", n, online,
             n < online ? ", by affinity: a launcher that binds, taskset or "
                          "a cpuset"
                        : "");
    if (quota > 0 && quota < n)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "; the control group has the time of %.1f, and ranks that "
                 "poll use it up: no more ranks than that",
                 quota);
    row(quota > 0 && quota < n ? "PROCESSORS" : "processors", text);
}

static void
threads_print(void)
{
    char          text[LINE] = "";
    uint64_t      most;
    struct rlimit user;
    /* root is not bound by the second */
    bool by_user = geteuid() != 0 && getrlimit(RLIMIT_NPROC, &user) == 0 &&
                   user.rlim_cur != RLIM_INFINITY;

    if (info_group_least("", "pids.max", &most) ||
        info_group_least("pids", "pids.max", &most))
        snprintf(text, sizeof text, "%" PRIu64 " in the control group (pids)",
                 most);
    if (by_user)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "%s%" PRIu64 " of this user (ulimit -u)",
                 text[0] == '\0' ? "" : ", ", (uint64_t)user.rlim_cur);
    row("processes, threads", text[0] == '\0' ? "no limit" : text);
}

/* ---- limits of a shell ---- */

static void
ulimits_print(void)
{
    static const struct {
        int         what;
        const char *name, *beyond;
        uint64_t    enough;
    } limits[] = {
        { RLIMIT_AS, "-v",
          "addresses for heap, home memory and arenas of all ranks", 0 },
        { RLIMIT_FSIZE, "-f", "memory files have no disk, and count", 0 },
        { RLIMIT_NOFILE, "-n", "sockets of MPI and of gateways", 1024 },
        { RLIMIT_MEMLOCK, "-l", "memory that a fabric registers", 0 },
        { RLIMIT_DATA, "-d", "private memory of each rank", 0 },
    };
    char          text[LINE];
    struct rlimit most;
    bool          any = false;

    for (size_t i = 0; i < sizeof limits / sizeof *limits; i++) {
        if (getrlimit((__rlimit_resource_t)limits[i].what, &most) != 0 ||
            most.rlim_cur == RLIM_INFINITY ||
            (limits[i].enough > 0 && most.rlim_cur >= limits[i].enough))
            continue;
        any = true;
        snprintf(
            text, sizeof text, "ulimit %s is %" PRIu64 "%s: %s",
            limits[i].name,
            limits[i].what == RLIMIT_NOFILE ? (uint64_t)most.rlim_cur
                                            : (uint64_t)most.rlim_cur >> 10,
            limits[i].what == RLIMIT_NOFILE ? "" : " KiB", limits[i].beyond);
        row("LIMIT", text);
    }
    if (!any)
        row("limits of the shell", "none that matters");
}

static void
overcommit_print(void)
{
    uint64_t how = 0;

    if (info_number_read("/proc/sys/vm/overcommit_memory", &how) && how == 2)
        row("OVERCOMMIT", "vm.overcommit_memory is 2: addresses count as "
                          "memory: lower HEARTH_HEAP, HEARTH_HOME and "
                          "HEARTH_MALLOC to what the program uses");
}

static void
shm_print(void)
{
    struct statvfs shm;
    char           text[LINE];

    if (statvfs("/dev/shm", &shm) != 0 || access("/dev/shm", W_OK) != 0) {
        snprintf(text, sizeof text,
                 "%s: ranks of one node share no memory: mount a tmpfs there",
                 strerror(errno));
        row("/DEV/SHM", text);
    } else if ((uint64_t)shm.f_blocks * shm.f_frsize <= (uint64_t)64 << 20) {
        snprintf(text, sizeof text,
                 "%" PRIu64 " MiB, as Docker and Kubernetes give it: all home "
                 "memory of ranks that share a node lies there; --shm-size, "
                 "an emptyDir of medium Memory, or HEARTH_NODE_SIZE=1",
                 (uint64_t)shm.f_blocks * shm.f_frsize >> 20);
        row("/DEV/SHM", text);
    }
}

void
info_machine_print(void)
{
    printf("\nWhat is allowed here; what is in capitals costs something "
           "(doc/containers.md)\n");
    reading_print();
    memfile_print();
    filters_print();
    capabilities_print();
    shm_print();
    group_memory_print();
    processors_print();
    threads_print();
    ulimits_print();
    overcommit_print();
}
