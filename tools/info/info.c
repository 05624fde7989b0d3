/* SPDX-License-Identifier: BSD-2-Clause
 *
 * hearth-info: what is here, what can be set, and whether one-sided
 * communication works as this program was started.
 */
#include "config.h"

#include <mpi.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include "base/mpi_launcher.h"
#include "base/option.h"
#include "base/report.h"
#include "base/stat.h"
#include "info.h"
#include "space/userfault.h"

enum { BAD_USAGE = 2, PROBE_SECONDS = 50 };

enum command {
    DO_SHOW,
    DO_PROBE,
    DO_TRY,
    DO_HELP,
    DO_LIMITS,
    DO_MAN,
    DO_VERSION
};

struct request {
    enum command command;
    int          level; /* thread level to ask for */
    char       **more;  /* for the launcher */
};

static const struct level {
    const char *word, *name;
    int         value;
} levels[] = {
    { "single", "MPI_THREAD_SINGLE", MPI_THREAD_SINGLE },
    { "funneled", "MPI_THREAD_FUNNELED", MPI_THREAD_FUNNELED },
    { "serialized", "MPI_THREAD_SERIALIZED", MPI_THREAD_SERIALIZED },
    { "multiple", "MPI_THREAD_MULTIPLE", MPI_THREAD_MULTIPLE },
};

#define N_LEVELS (sizeof levels / sizeof *levels)

static const char help_text[] =
    "Usage: hearth-info [--threads LEVEL]\n"
    "       mpirun -n 2 hearth-info [--threads LEVEL]\n"
    "       hearth-info --try [words for the launcher ...]\n"
    "       hearth-info --limits | --man | --help | --version\n"
    "\n"
    "Shows the version, the MPI library, the options with their meaning, the\n"
    "counters, the fabrics of this machine and what to pass to mpirun.  On "
    "two\n"
    "or more ranks it also probes whether one-sided communication works and\n"
    "whether it needs a helper thread.\n"
    "\n"
    "  --threads LEVEL  thread level to ask MPI for: single, funneled,\n"
    "                   serialized or multiple (the default)\n"
    "  --probe          the probe alone, in one line\n"
    "  --try            start the launcher with each known recipe, two "
    "ranks,\n"
    "                   and say what the probe finds; MPIEXEC may name\n"
    "                   another launcher, as srun --mpi=pmix\n"
    "  --limits         how many there may be of what, what happens beyond,\n"
    "                   and the tests that show it\n"
    "  --man            hearth-env(7), for man\n";

static const char man_file[] =
    ".SH STATISTICS FILE\n"
    "What HEARTH_STATS=json:FILE writes is one object.  Its members\n"
    ".BR version \", \" mpi \", \" ranks \", \" nodes \", \" transport ,\n"
    ".BR consistency \" and \" options\n"
    "say what ran and with which values of the variables above;\n"
    ".B seconds\n"
    "is the longest section of a rank,\n"
    ".B sum\n"
    "has the counters, summed over ranks, and\n"
    ".B rank\n"
    "is an array with an object for each:\n"
    ".BR rank \", \" node \", \" host \", \" seconds \", its \" counters ,\n"
    ".B messages\n"
    "(udp: for each operation how many were sent, their bytes, and how many\n"
    "of them were sent again),\n"
    ".B refused\n"
    "(udp: datagrams by the reason why they were dropped) and\n"
    ".BR distributions :\n"
    "for each the buckets that are not empty, as pairs of the least value of\n"
    "the bucket and of the number of values in it.  Members may be added.\n";

static void
man_print(void)
{
    printf(".TH HEARTH-ENV 7 \"\" \"hearth " HEARTH_VERSION
           "\" \"hearth manual\"\n"
           ".SH NAME\nhearth-env \\- environment variables of libhearth\n"
           ".SH DESCRIPTION\n"
           "Rank 0 reads these variables in\n.BR hearth_init (3)\n"
           "and tells the others, so it is enough that rank 0 has them.\n"
           "A size is a number of bytes with an optional suffix k, m, g or\n"
           "t (powers of 1024).  A value that is not accepted ends the job;\n"
           "a name that starts with HEARTH_ and is not listed here gives a\n"
           "warning.\n"
           ".SH ENVIRONMENT\n");
    hearthi_options_describe(stdout, HEARTHI_ROFF);
    printf(".SH COUNTERS\n"
           "Kept by each rank, copied out by\n.BR hearth_get_stats (3),\n"
           "and reported as HEARTH_STATS says.\n");
    for (int i = 0; i < HEARTHI_STAT_COUNT; i++) {
        printf(".TP\n.B %s\n", hearthi_stat_name((enum hearthi_stat)i));
        hearthi_roff_text(stdout, hearthi_stat_help((enum hearthi_stat)i));
    }
    printf(".SH DISTRIBUTIONS\n"
           "Kept by each rank in buckets of powers of two.\n");
    for (int i = 0; i < HEARTHI_DISTRIBUTIONS; i++) {
        enum hearthi_distribution d = (enum hearthi_distribution)i;

        printf(".TP\n.B %s\n", hearthi_distribution_name(d));
        hearthi_roff_text(stdout, hearthi_distribution_help(d));
    }
    fputs(man_file, stdout);
    info_limits_man();
    printf(".SH SEE ALSO\n"
           ".BR hearth_stats_start (3),\n.BR hearth.h (3),\n"
           ".BR hearth-beside (7)\n");
}

struct hearthi_mpi_library
info_library(void)
{
    char text[HEARTHI_MPI_TEXT];
    int  len;

    MPI_Get_library_version(text, &len);
    return hearthi_mpi_library_parse(text);
}

/* The launcher of another MPI gives as many worlds of one rank: one of them
 * has something to say. */
static bool
wrong_launcher(void)
{
    const struct hearthi_mpi_launcher *l =
        hearthi_mpi_launcher_find(info_library().kind);
    int ranks, count = hearthi_mpi_launcher_others(l);

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (ranks > 1 || count == 0)
        return false;
    if (hearthi_mpi_launcher_is_first(l))
        printf("WRONG LAUNCHER: it started %d processes (%s), and each is "
               "alone in MPI_COMM_WORLD: %s\n",
               count, l->count, hearthi_mpi_launcher_remedy(l));
    return true;
}

static const char *
level_name(int value)
{
    for (size_t i = 0; i < N_LEVELS; i++) {
        if (levels[i].value == value)
            return levels[i].name;
    }
    return "unknown";
}

static void
library_print(int asked, int level, int ranks, int machines)
{
    char text[HEARTHI_MPI_TEXT];
    int  len, major, minor;

    MPI_Get_library_version(text, &len);
    text[strcspn(text, "\n")] = '\0';
    text[strcspn(text, "\t")] = ' '; /* MPICH: "MPICH Version:\t4.0.2" */
    MPI_Get_version(&major, &minor);
    printf("hearth %s\n", HEARTH_VERSION);
    printf("  MPI library           %s\n", text);
    printf("  built with            %s\n", HEARTHI_MPI_BUILT);
    printf("  MPI standard          %d.%d\n", major, minor);
    printf("  thread level          %s", level_name(level));
    if (level != asked)
        printf(" (asked for %s)", level_name(asked));
    printf("\n  ranks                 %d on %d machine%s\n", ranks, machines,
           machines == 1 ? "" : "s");
}

/* Copies that may lie scattered where each takes two mappings, and an eighth
 * stays free. */
static long
scattered_most(void)
{
    FILE *f = fopen("/proc/sys/vm/max_map_count", "r");
    long  n = 0;

    if (f != NULL && fscanf(f, "%ld", &n) != 1)
        n = 0;
    if (f != NULL)
        fclose(f);
    return n / 16 * 7;
}

/* What HEARTH_PROTECT comes to on this machine. */
static void
protection_print(void)
{
    const char *why = "HEARTH_PROTECT says so";

    if (hearthi_opt.protect != HEARTHI_PROTECT_MPROTECT) {
        why = hearthi_userfault_open();
        hearthi_userfault_close();
    }
    printf("  cached copies         ");
    if (why == NULL)
        printf("protected by %suserfaultfd: as many as HEARTH_CACHE holds may "
               "lie scattered\n",
               hearthi_opt.protect == HEARTHI_PROTECT_USERFAULTFD
                   ? ""
                   : "mprotect, and where scattered by ");
    else if (hearthi_opt.protect == HEARTHI_PROTECT_USERFAULTFD)
        printf("HEARTH_PROTECT=userfaultfd does not work here: %s\n", why);
    else
        printf("protected by mprotect (%s): about %ld may lie scattered "
               "(vm.max_map_count)\n",
               why, scattered_most());
}

static void
tables_print(void)
{
    printf("\nOptions: environment variables, value now\n");
    hearthi_options_describe(stdout, HEARTHI_TEXT);
    printf("\nCounters: hearth_get_stats(3); HEARTH_STATS reports them at the "
           "end\n");
    for (int i = 0; i < HEARTHI_STAT_COUNT; i++)
        printf("  %-15s %s\n", hearthi_stat_name((enum hearthi_stat)i),
               hearthi_stat_help((enum hearthi_stat)i));
}

static void
memory_print(void)
{
    struct statvfs shm;

    printf(
        "\nHome memory: used where it is touched, and hearth_alloc() counts "
        "none\n"
        "  rank alone on a node  memory of its own; a machine or control "
        "group that runs out\n"
        "                        kills it without a word (see the system's "
        "log)\n");
    if (statvfs("/dev/shm", &shm) == 0)
        printf("  ranks of one node     /dev/shm, %zu of %zu MiB left; who "
               "finds none says so\n",
               (size_t)(shm.f_bavail * shm.f_frsize) >> 20,
               (size_t)(shm.f_blocks * shm.f_frsize) >> 20);
}

static void
others_print(void)
{
    printf("\nBeside other software: hearth-beside(7)\n"
           "  gdb                   handle SIGSEGV SIGBUS nostop noprint "
           "pass\n"
           "  valgrind              HEARTH_HEAP=1g\n"
           "  dlopen, ctypes        LD_PRELOAD=libhearth.so\n");
}

static void
all_print(const struct request *q, int level, const struct info_probe *p)
{
    int ranks, here, machines, first, rank;
    struct hearthi_machine_part *part = info_parts_gather(&here);

    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    machines = info_machines(&first, &here);
    if (rank != 0) {
        free(part);
        return;
    }
    library_print(q->level, level, ranks, machines);
    protection_print();
    tables_print();
    memory_print();
    info_machine_print(part, here);
    free(part);
    info_fabrics_print();
    if (ranks > 1)
        info_probe_print(p);
    else
        printf("\nOne-sided communication\n"
               "  not probed, with one rank; start it as: %s -n 2 "
               "hearth-info\n",
               HEARTH_MPIEXEC);
    info_recipes_print(here, ranks > 1 ? p : NULL);
    others_print();
}

static void
job_abort(void)
{
    MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
}

/* The part that needs MPI. */
static int
run(int argc, char **argv, const struct request *q)
{
    struct info_probe p = { .works = false };
    int               level, rank, ranks;

    MPI_Init_thread(&argc, &argv, q->level, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    if (wrong_launcher()) {
        MPI_Finalize();
        return EXIT_FAILURE;
    }
    hearthi_abort_hook = job_abort;
    if (rank == 0)
        hearthi_options_from_env();
    alarm(PROBE_SECONDS); /* a probe that hangs ends by the signal */
    if (ranks > 1)
        info_probe_run(level, &p);
    alarm(0);
    if (q->command == DO_SHOW)
        all_print(q, level, &p);
    else if (rank == 0 && ranks > 1)
        info_probe_line(&p);
    else if (rank == 0)
        printf("probe: fails: one rank; the launcher is not this MPI's, or "
               "was told to start one\n");
    fflush(stdout);
    MPI_Finalize();
    return q->command == DO_SHOW || p.works ? EXIT_SUCCESS : EXIT_FAILURE;
}

static int
usage(const char *wrong)
{
    fprintf(stderr,
            "hearth-info: %s is not understood; see hearth-info "
            "--help\n",
            wrong);
    return BAD_USAGE;
}

static bool
level_parse(const char *word, int *level)
{
    for (size_t i = 0; word != NULL && i < N_LEVELS; i++) {
        if (strcmp(word, levels[i].word) == 0) {
            *level = levels[i].value;
            return true;
        }
    }
    return false;
}

static bool
command_parse(const char *word, enum command *command)
{
    static const char *const words[] = {
        [DO_PROBE] = "--probe", [DO_TRY] = "--try",
        [DO_HELP] = "--help",   [DO_LIMITS] = "--limits",
        [DO_MAN] = "--man",     [DO_VERSION] = "--version",
    };

    for (size_t i = DO_PROBE; i < sizeof words / sizeof *words; i++) {
        if (strcmp(word, words[i]) == 0) {
            *command = (enum command)i;
            return true;
        }
    }
    return false;
}

/* NULL, or the word that is wrong. */
static const char *
arguments_parse(char **argv, struct request *q)
{
    for (argv++; *argv != NULL; argv++) {
        if (strcmp(*argv, "--threads") == 0) {
            if (!level_parse(argv[1], &q->level))
                return argv[1] == NULL ? "--threads without a level" : argv[1];
            argv++;
        } else if (q->command != DO_SHOW ||
                   !command_parse(*argv, &q->command)) {
            return *argv;
        } else if (q->command == DO_TRY) {
            q->more = argv + 1;
            return NULL;
        }
    }
    return NULL;
}

int
main(int argc, char **argv)
{
    struct request q = { DO_SHOW, MPI_THREAD_MULTIPLE, NULL };
    const char    *wrong = arguments_parse(argv, &q);

    if (wrong != NULL)
        return usage(wrong);
    switch (q.command) {
    case DO_HELP: fputs(help_text, stdout); break;
    case DO_LIMITS: info_limits_print(); break;
    case DO_MAN: man_print(); break;
    case DO_VERSION: printf("hearth-info %s\n", HEARTH_VERSION); break;
    case DO_TRY: return info_recipes_try(argv[0], q.more);
    case DO_SHOW:
    case DO_PROBE: return run(argc, argv, &q);
    }
    return ferror(stdout) ? EXIT_FAILURE : EXIT_SUCCESS;
}
