/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What a machine, a container or a shell allows, as far as Hearth or the MPI
 * library under it meets it: each is tried, or read where the kernel says it.
 * doc/containers.md has the remedies in full.
 */
#include "config.h"

#include <errno.h>
#include <inttypes.h>
#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/resource.h>
#include <sys/statvfs.h>
#include <sys/uio.h>
#include <sys/wait.h>
#include <unistd.h>

#include "base/cgroup.h"
#include "base/descriptor.h"
#include "base/min.h"
#include "base/option.h"
#include "info.h"

enum { LINE = 2 * HEARTHI_LINE + 256 };

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
    hearthi_file_number("/proc/sys/kernel/yama/ptrace_scope", &scope);
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

    if (!hearthi_file_line("/proc/self/status", "Seccomp:", mode))
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

    if (!hearthi_file_line("/proc/self/status", "CapEff:", text))
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

struct hearthi_machine_part *
info_parts_gather(int *ranks)
{
    struct hearthi_machine_part mine, *all;
    MPI_Comm                    machine;
    int                         rank;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, rank,
                        MPI_INFO_NULL, &machine);
    MPI_Comm_size(machine, ranks);
    all = calloc((size_t)*ranks, sizeof *all);
    if (all == NULL)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    hearthi_machine_part(&mine);
    MPI_Gather(&mine, sizeof mine, MPI_BYTE, all, sizeof mine, MPI_BYTE, 0,
               machine);
    MPI_Comm_free(&machine);
    return all;
}

static struct hearthi_cgroup_limit
memory_least(void)
{
    struct hearthi_cgroup_limit l[HEARTHI_LEVELS];

    return hearthi_cgroup_least(l, hearthi_cgroup_memory(l));
}

static void
group_memory_print(const struct hearthi_machine_part *mine)
{
    struct hearthi_cgroup_limit l = memory_least();
    char                        text[LINE];

    if (l.most >= mine->memory) {
        snprintf(text, sizeof text, "%" PRIu64 " MiB, all of the machine",
                 mine->memory >> 20);
        row("memory", text);
        return;
    }
    snprintf(text, sizeof text,
             "the control group has %" PRIu64 " of the machine's %" PRIu64
             " MiB (%s), /dev/shm and page cache among it; who touches more "
             "is %s",
             l.most >> 20, mine->memory >> 20, l.file,
             strstr(l.file, "memory.high") != NULL ? "slowed down"
                                                   : "killed without a word");
    row("MEMORY", text);
}

/* What HEARTH_CACHE comes to, and by which limit. */
static void
cache_print(const struct hearthi_machine_part *all, int ranks)
{
    size_t share = hearthi_machine_share(all, ranks, 0);
    bool   machine = share == all->memory / (size_t)ranks;
    int    sharers = hearthi_machine_sharers(all, ranks, 0);
    char   text[LINE];

    if (hearthi_opt.cache != 0)
        snprintf(text, sizeof text, "%zu MiB of copies for each rank",
                 hearthi_opt.cache >> 20);
    else
        snprintf(text, sizeof text,
                 "auto is %zu MiB of copies for rank 0: an eighth of what %s "
                 "has, for %d rank%s",
                 share / 8 >> 20,
                 machine ? "the machine" : "its control group", sharers,
                 sharers == 1 ? "" : "s together");
    row("HEARTH_CACHE", text);
}

static void
processors_print(const struct hearthi_machine_part *mine)
{
    struct hearthi_cgroup_limit all[HEARTHI_LEVELS];
    struct hearthi_cgroup_limit l =
        hearthi_cgroup_least(all, hearthi_cgroup_processors(all));
    char text[LINE];
    int  n = CPU_COUNT(&mine->bound) < mine->online ? CPU_COUNT(&mine->bound)
                                                    : mine->online;
    bool few = l.most < (uint64_t)n * 1000;

    snprintf(text, sizeof text, "%d of %d%s", n, mine->online,
             n < mine->online ? ", by affinity: a launcher that binds, "
                                "taskset or a cpuset"
                              : "");
    if (few)
        snprintf(text + strlen(text), sizeof text - strlen(text),
                 "; the control group has the time of %.1f (%s), and ranks "
                 "that poll use it up: no more ranks than that",
                 (double)l.most / 1000, l.file);
    row(few ? "PROCESSORS" : "processors", text);
}

/* As hearthi_crowded() has it. */
static void
waits_print(const struct hearthi_machine_part *all, int ranks)
{
    char text[LINE];
    int  cores = hearthi_machine_cores(all, ranks);

    snprintf(text, sizeof text, "%d rank%s here ha%s %d processor%s: %s",
             ranks, ranks == 1 ? "" : "s", ranks == 1 ? "s" : "ve", cores,
             cores == 1 ? "" : "s",
             ranks > cores ? "who waits gives its processor away"
                           : "who waits spins for a while");
    row(ranks > cores ? "WAITS" : "waits", text);
}

static void
threads_print(void)
{
    char          text[LINE] = "";
    struct rlimit user;
    uint64_t      most = hearthi_min(hearthi_cgroup_number("", "pids.max"),
                                     hearthi_cgroup_number("pids", "pids.max"));
    /* root is not bound by the second */
    bool by_user = geteuid() != 0 && getrlimit(RLIMIT_NPROC, &user) == 0 &&
                   user.rlim_cur != RLIM_INFINITY;

    if (most != UINT64_MAX)
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

    if (hearthi_file_number("/proc/sys/vm/overcommit_memory", &how) &&
        how == 2)
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
info_machine_print(const struct hearthi_machine_part *all, int ranks)
{
    printf("\nWhat is allowed here; what is in capitals costs something "
           "(doc/containers.md)\n");
    reading_print();
    memfile_print();
    filters_print();
    capabilities_print();
    shm_print();
    group_memory_print(all);
    cache_print(all, ranks);
    processors_print(all);
    waits_print(all, ranks);
    threads_print();
    ulimits_print();
    overcommit_print();
}
