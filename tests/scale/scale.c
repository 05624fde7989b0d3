/* SPDX-License-Identifier: BSD-2-Clause
 *
 * scale [TIMES]
 *
 * What one of many ranks spends on a start, a barrier, a lock, a flag and an
 * allocation: messages, bytes, processor time, memory.  Counts are right with
 * any number of ranks on a core; times are not (law.py, doc/scale.md).
 *
 * One line for each: "scale ranks=8 nodes=8 transport=udp what=lock ..." with
 * the mean of all ranks and, as max_..., that of the busiest rank.
 */
#include <hearth/hearth.h>
#include <mpi.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

enum { PAGE = 4096, RUNS = 100, LOCK = 0, FLAG = 0 };

enum { MESSAGES, BYTES, LOCAL, CPU_US, ELAPSED_US, COUNTS };

static const char *const names[COUNTS] = { "messages", "bytes", "local",
                                           "cpu_us", "elapsed_us" };

static int   me, ranks, times = 10;
static char *pages; /* 2 RUNS at home on each rank */

static double
cpu_us(void)
{
    struct rusage u;

    getrusage(RUSAGE_SELF, &u);
    return 1e6 * (double)(u.ru_utime.tv_sec + u.ru_stime.tv_sec) +
           (double)(u.ru_utime.tv_usec + u.ru_stime.tv_usec);
}

static double
resident_kb(void)
{
    long  all = 0, resident = 0;
    FILE *f = fopen("/proc/self/statm", "r");

    if (f == NULL || fscanf(f, "%ld %ld", &all, &resident) != 2)
        resident = 0;
    if (f != NULL)
        fclose(f);
    return (double)resident * (double)sysconf(_SC_PAGESIZE) / 1024;
}

struct counts {
    double of[COUNTS];
};

static struct counts
counts_now(void)
{
    hearth_stats s;

    memset(&s, 0, sizeof s);
    if (hearth_initialized())
        hearth_get_stats(&s);
    return (struct counts){ { (double)s.messages, (double)s.message_bytes,
                              (double)s.local_messages, cpu_us(),
                              1e6 * MPI_Wtime() } };
}

/* Spent since `before`, once more. */
static void
counts_add(struct counts *spent, const struct counts *before)
{
    struct counts now = counts_now();

    for (int i = 0; i < COUNTS; i++)
        spent->of[i] += now.of[i] - before->of[i];
}

/* What n of something have cost. */
static void
say(const char *what, struct counts spent, int n)
{
    struct counts sum, max;
    double        kb = resident_kb(), kb_sum;

    for (int i = 0; i < COUNTS; i++)
        spent.of[i] /= n;
    MPI_Reduce(spent.of, sum.of, COUNTS, MPI_DOUBLE, MPI_SUM, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(spent.of, max.of, COUNTS, MPI_DOUBLE, MPI_MAX, 0,
               MPI_COMM_WORLD);
    MPI_Reduce(&kb, &kb_sum, 1, MPI_DOUBLE, MPI_SUM, 0, MPI_COMM_WORLD);
    if (me != 0)
        return;
    printf("scale ranks=%d nodes=%d transport=%s what=%s resident_kb=%.0f",
           ranks, hearth_nodes(), hearth_option("transport"), what,
           kb_sum / ranks);
    for (int i = 0; i < COUNTS; i++)
        printf(" %s=%.2f max_%s=%.2f", names[i], sum.of[i] / ranks, names[i],
               max.of[i]);
    printf("\n");
}

/* Write runs of a page at home on the next rank, with others between, and
 * bring the bytes home: what is left for the barrier is to say so. */
static void
runs_write(int n, int value)
{
    char *next = pages + (size_t)((me + 1) % ranks) * 2 * RUNS * PAGE;

    for (int i = 0; i < n; i++)
        next[(size_t)i * 2 * PAGE] = (char)value;
    if (n > 0)
        hearth_release(next, (size_t)n * 2 * PAGE);
}

static void
barriers(const char *what, int runs)
{
    struct counts spent = { { 0 } };

    for (int k = 0; k < times; k++) {
        struct counts before;

        runs_write(runs, k + 1);
        MPI_Barrier(MPI_COMM_WORLD);
        before = counts_now();
        hearth_barrier();
        counts_add(&spent, &before);
        MPI_Barrier(MPI_COMM_WORLD); /* before others fetch from here */
    }
    say(what, spent, times);
}

/* Each rank has its turn with the one lock, and none waits for it. */
static void
locks(void)
{
    struct counts spent = { { 0 } };

    for (int k = 0; k < times * ranks; k++) {
        struct counts before = counts_now();

        if (k % ranks == me) {
            hearth_lock(LOCK);
            hearth_unlock(LOCK);
        }
        counts_add(&spent, &before);
        MPI_Barrier(MPI_COMM_WORLD);
    }
    say("lock", spent, times);
}

static void
flags(void)
{
    struct counts spent = { { 0 } };

    for (int k = 0; k < times; k++) {
        struct counts before = counts_now();

        if (me == 0)
            hearth_flag_set(FLAG);
        hearth_flag_wait(FLAG);
        counts_add(&spent, &before);
        MPI_Barrier(MPI_COMM_WORLD);
        hearth_barrier();
        if (me == 0)
            hearth_flag_reset(FLAG);
        hearth_barrier();
    }
    say("flag", spent, times);
}

static void
allocations(void)
{
    struct counts spent = { { 0 } };

    for (int k = 0; k < times; k++) {
        struct counts before = counts_now();

        hearth_free(hearth_alloc((size_t)ranks, PAGE, hearth_block()));
        counts_add(&spent, &before);
    }
    say("alloc", spent, times);
}

static void
start(void)
{
    struct counts spent = { { 0 } }, before;

    MPI_Barrier(MPI_COMM_WORLD);
    before = counts_now();
    hearth_init(MPI_COMM_WORLD);
    counts_add(&spent, &before);
    me = hearth_rank();
    ranks = hearth_size();
    say("init", spent, 1);
}

int
main(int argc, char **argv)
{
    int level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    if (argc > 1 && atoi(argv[1]) > 0)
        times = atoi(argv[1]);
    start();
    pages =
        hearth_alloc((size_t)ranks, (size_t)2 * RUNS * PAGE, hearth_block());
    barriers("barrier", 0);
    barriers("barrier_1", 1);
    barriers("barrier_100", RUNS);
    locks();
    flags();
    allocations();
    hearth_free(pages);
    hearth_finalize();
    if (me == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}
