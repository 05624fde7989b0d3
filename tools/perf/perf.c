/* SPDX-License-Identifier: BSD-2-Clause */
/* hearth-perf: the library's figures beside what they cost by hand. */
#define _GNU_SOURCE
#include "perf.h"
#include "udp.h"

#include <errno.h>
#include <getopt.h>
#include <stdarg.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/machine_part.h"

enum {
    TABLES = 18,
    ROUNDS = 9,
    ROUNDS_QUICK = 3,
    ROUNDS_MOST = 1000,
    LINK_MOST = 10000000, /* Mbit/s */
    OPTION_LINK = 256,
    STATUS_USAGE = 2
};

static const struct perf_figure *const tables[TABLES] = {
    perf_fault_figures,   perf_busy_figures,    perf_stream_figures,
    perf_store_figures,   perf_sync_figures,    perf_lock_figures,
    perf_home_figures,    perf_trip_figures,    perf_model_figures,
    perf_scatter_figures, perf_pattern_figures, perf_beside_figures,
    perf_malloc_figures,  perf_idle_figures,    perf_far_figures,
    perf_atomic_figures,  perf_word_figures,    perf_heap_figures,
};

struct request {
    int    rounds; /* 0: the default */
    int    link;   /* Mbit/s, 0: unknown */
    bool   quick;
    bool   pin;
    bool   help;
    bool   list;
    char **names; /* figures asked for; none: all */
    int    count;
};

static const char help_text[] =
    "Usage: HEARTH_NODE_SIZE=1 mpirun -n 2 hearth-perf [OPTION]... "
    "[FIGURE]...\n"
    "Measure Hearth beside plain MPI, or with HEARTH_TRANSPORT=udp beside "
    "bare\n"
    "UDP, on the same machines in the same run.\n"
    "\n"
    "  -r, --rounds=N   rounds of each figure, medians are printed (9)\n"
    "  -q, --quick      small sizes and 3 rounds, some seconds in all\n"
    "  -p, --pin        keep all threads of a rank on one core, for udp\n"
    "      --link=MBIT  rate of the network, for seq_scan to be held against\n"
    "  -l, --list       list the figures\n"
    "  -h, --help       this text\n"
    "\n"
    "stdout has a line of key=value fields for each figure, stderr a table.\n"
    "A bound is at most for times and at least for bandwidths (MB/s).\n";

static bool
usage(int rank, const char *format, ...)
{
    va_list args;

    if (rank != 0)
        return false;
    va_start(args, format);
    fprintf(stderr, "hearth-perf: ");
    vfprintf(stderr, format, args);
    fprintf(stderr, "; try --help\n");
    va_end(args);
    return false;
}

static bool
figure_fits(const struct perf *p, const struct perf_figure *f)
{
    return f->over == PERF_OVER_ANY || f->over == p->transport ||
           (f->over == PERF_OVER_LINK && p->link > 0);
}

/* The first row of that name that fits; without p the first. */
static const struct perf_figure *
figure_find(const struct perf *p, const char *name)
{
    for (int t = 0; t < TABLES; t++)
        for (const struct perf_figure *f = tables[t]; f->name; f++)
            if (strcmp(f->name, name) == 0 && (!p || figure_fits(p, f)))
                return f;
    return NULL;
}

static bool
number_parse(const char *text, int most, int *number)
{
    char *end;
    long  value;

    errno = 0;
    value = strtol(text, &end, 10);
    if (errno || end == text || *end || value < 1 || value > most)
        return false;
    *number = (int)value;
    return true;
}

static const struct option long_options[] = {
    { "rounds", required_argument, NULL, 'r' },
    { "quick", no_argument, NULL, 'q' },
    { "pin", no_argument, NULL, 'p' },
    { "link", required_argument, NULL, OPTION_LINK },
    { "list", no_argument, NULL, 'l' },
    { "help", no_argument, NULL, 'h' },
    { NULL, 0, NULL, 0 },
};

/* False after one line from rank 0 if the arguments are wrong. */
static bool
request_parse(struct request *r, int argc, char **argv, int rank)
{
    static const char letters[] = ":r:qplh";
    int               c;

    opterr = 0;
    while ((c = getopt_long(argc, argv, letters, long_options, NULL)) != -1) {
        switch (c) {
        case 'r':
            if (!number_parse(optarg, ROUNDS_MOST, &r->rounds))
                return usage(rank, "%s is not a number of rounds (1 to %d)",
                             optarg, ROUNDS_MOST);
            break;
        case OPTION_LINK:
            if (!number_parse(optarg, LINK_MOST, &r->link))
                return usage(rank, "%s is not a rate in Mbit/s (1 to %d)",
                             optarg, LINK_MOST);
            break;
        case 'q': r->quick = true; break;
        case 'p': r->pin = true; break;
        case 'l': r->list = true; break;
        case 'h': r->help = true; break;
        case ':': return usage(rank, "%s wants a value", argv[optind - 1]);
        default: return usage(rank, "no such option: %s", argv[optind - 1]);
        }
    }
    r->names = argv + optind;
    r->count = argc - optind;
    for (int i = 0; i < r->count; i++)
        if (!figure_find(NULL, r->names[i]))
            return usage(rank, "no such figure: %s", r->names[i]);
    return true;
}

static bool
figure_wanted(const struct request *r, const struct perf_figure *f)
{
    for (int i = 0; i < r->count; i++)
        if (strcmp(r->names[i], f->name) == 0)
            return true;
    return r->count == 0;
}

/* NULL, or why the figure cannot be measured with these ranks. */
static const char *
figure_obstacle(const struct perf *p, const struct perf_figure *f)
{
    bool several = f->need >= PERF_CLUSTERS;

    if (several != (hearth_clusters() > 1))
        return several ? "needs several clusters: HEARTH_CLUSTERS"
                       : "is of one cluster";
    if (f->need == PERF_CLUSTERS_PEER &&
        (p->peer < 0 || hearth_cluster_of(p->peer) != 0))
        return "needs two nodes in the first cluster";
    if (f->need == PERF_PEER && p->peer < 0)
        return "needs two nodes: HEARTH_NODE_SIZE=1 mpirun -n 2";
    if (f->need == PERF_MATE && p->mate < 0)
        return "needs two ranks on one node: HEARTH_NODE_SIZE=2";
    return NULL;
}

static void
figure_run(struct perf *p, const struct perf_figure *f, int rounds)
{
    double(*samples)[PERF_SAMPLE];
    double *column;
    double  median[PERF_SAMPLE];

    samples = calloc((size_t)rounds + 1, sizeof *samples);
    column = calloc((size_t)rounds, sizeof *column);
    if (!samples || !column)
        abort();
    for (int i = 0; i <= rounds; i++) { /* round 0 is told apart */
        p->salt += 2;
        p->figure = f;
        f->round(p, samples[i]);
    }
    for (int k = 0; k < PERF_SAMPLE; k++) {
        for (int i = 0; i < rounds; i++)
            column[i] = samples[i + 1][k];
        median[k] = perf_median(column, rounds);
    }
    if (perf_acting(p))
        perf_report(f, median, samples[0][0], rounds);
    free(samples);
    free(column);
}

static void
ranks_find(struct perf *p)
{
    p->rank = hearth_rank();
    p->size = hearth_size();
    p->peer = p->mate = -1;
    for (int r = p->size - 1; r > 0; r--) {
        if (hearth_node_of(r) != hearth_node_of(PERF_ACTOR))
            p->peer = r;
        else
            p->mate = r;
    }
    p->crowded = p->size > hearthi_machine_cores_alone();
}

static void
perf_open(struct perf *p, const struct request *r)
{
    bool udp = strcmp(hearth_option("transport"), "udp") == 0;

    *p = (struct perf){
        .quick = r->quick,
        .page = (size_t)sysconf(_SC_PAGESIZE),
        .fault_pages = r->quick ? 512 : 4096,
        .stream_bytes = (size_t)(r->quick ? 16 : 256) << 20,
        .held_pages = 16384,
        .turns = r->quick ? 200 : 2000,
        .pin = r->pin,
        .link = r->link / 8.0,
        .transport = udp ? PERF_OVER_UDP : PERF_OVER_MPI,
    };
    ranks_find(p);
    sched_getaffinity(0, sizeof p->cores, &p->cores);
    hearth_cluster_comm(&p->raw.comm);
    if (hearth_clusters() == 1) {
        perf_raw_open(p);
        perf_udp_open(p);
    }
    if (r->pin)
        perf_pin(p);
}

static void
figures_run(const struct request *r)
{
    struct perf p;
    int         rounds = r->quick ? ROUNDS_QUICK : ROUNDS;

    if (r->rounds > 0)
        rounds = r->rounds;
    perf_open(&p, r);
    if (perf_acting(&p))
        perf_report_begin(&p, rounds);
    for (int t = 0; t < TABLES; t++) {
        for (const struct perf_figure *f = tables[t]; f->name; f++) {
            const char *obstacle = figure_obstacle(&p, f);

            if (!figure_wanted(r, f) || f != figure_find(&p, f->name))
                continue;
            if (!obstacle)
                figure_run(&p, f, rounds);
            else if (perf_acting(&p))
                perf_report_skip(f, obstacle);
        }
    }
    if (hearth_clusters() == 1) {
        perf_udp_close(&p);
        perf_raw_close(&p);
    }
    MPI_Comm_free(&p.raw.comm);
}

int
main(int argc, char **argv)
{
    struct request r = { 0 };
    int            rank;
    int            level;
    bool           good;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    good = request_parse(&r, argc, argv, rank);
    if (good && r.help && rank == 0) {
        fputs(help_text, stdout);
    } else if (good && r.list && rank == 0) {
        perf_report_list(stdout, tables, TABLES);
    } else if (good && !r.help && !r.list) {
        hearth_init(MPI_COMM_WORLD);
        figures_run(&r);
        hearth_finalize();
    }
    MPI_Finalize();
    return good ? EXIT_SUCCESS : STATUS_USAGE;
}
