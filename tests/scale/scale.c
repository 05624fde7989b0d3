/* SPDX-License-Identifier: BSD-2-Clause
 *
 * scale [TIMES]
 *
 * What one of many ranks spends on a start, a barrier, a lock, a flag and an
 * allocation: messages, bytes, processor time, memory.  Counts are right with
 * any number of ranks on a core; times are not (law.py, doc/scale.md).
 * `collectives` are calls of MPI that all ranks make, each some messages of
 * MPI's own.  Of hearth_init `messages` are those from rank to rank through
 * MPI, too, which it makes to bring addresses round.
 *
 * One line for each: "scale ranks=8 nodes=8 transport=udp what=lock ..." with
 * the mean of all ranks and, as max_..., that of the busiest rank.
 */
#include <hearth/hearth.h>
#include <mpi.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "seen.h"
#include "base/stat.h"

enum { PAGE = 4096, RUNS = 100, MANY = 10000, LOCK = 0, FLAG = 0 };

enum { MESSAGES, BYTES, LOCAL, COLLECTIVES, CPU_US, ELAPSED_US, COUNTS };

static const char *const names[COUNTS] = { "messages", "bytes",
                                           "local",    "collectives",
                                           "cpu_us",   "elapsed_us" };

static int   me, ranks, times = 10;
static char *pages; /* 2 RUNS at home on each rank */

/* ---- what Hearth asks of MPI ---- */

static bool                 starting;
static double               sends, send_bytes, collectives;
static struct hearthi_tally begun; /* what is counted before all is 0 again */

SEEN int
MPI_Isend(const void *out, int n, MPI_Datatype type, int to, int tag,
          MPI_Comm comm, MPI_Request *request)
{
    int size;

    PMPI_Type_size(type, &size);
    sends++;
    send_bytes += (double)n * size;
    return PMPI_Isend(out, n, type, to, tag, comm, request);
}

/* The last call of hearth_init is one of these. */
SEEN int
MPI_Ibarrier(MPI_Comm comm, MPI_Request *request)
{
    collectives++;
    if (starting)
        begun = hearthi_tally;
    return PMPI_Ibarrier(comm, request);
}

#define COUNTED(name, parameters, arguments) \
    SEEN int name parameters                 \
    {                                        \
        collectives++;                       \
        return P##name arguments;            \
    }

COUNTED(MPI_Ibcast,
        (void *at, int n, MPI_Datatype type, int root, MPI_Comm comm,
         MPI_Request *request),
        (at, n, type, root, comm, request))
COUNTED(MPI_Iallreduce,
        (const void *out, void *in, int n, MPI_Datatype type, MPI_Op op,
         MPI_Comm comm, MPI_Request *request),
        (out, in, n, type, op, comm, request))
COUNTED(MPI_Comm_idup, (MPI_Comm comm, MPI_Comm *own, MPI_Request *request),
        (comm, own, request))
COUNTED(MPI_Comm_split, (MPI_Comm comm, int color, int key, MPI_Comm *part),
        (comm, color, key, part))
COUNTED(MPI_Comm_split_type,
        (MPI_Comm comm, int type, int key, MPI_Info info, MPI_Comm *part),
        (comm, type, key, info, part))
COUNTED(MPI_Barrier, (MPI_Comm comm), (comm))
COUNTED(MPI_Win_create,
        (void *base, MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm,
         MPI_Win *win),
        (base, size, unit, info, comm, win))
COUNTED(MPI_Win_allocate,
        (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
         MPI_Win *win),
        (size, unit, info, comm, base, win))
COUNTED(MPI_Win_allocate_shared,
        (MPI_Aint size, int unit, MPI_Info info, MPI_Comm comm, void *base,
         MPI_Win *win),
        (size, unit, info, comm, base, win))

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
                              (double)s.local_messages, collectives, cpu_us(),
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

/* A rank of the next node, another one for each: to write its pages is to tell
 * of them. */
static int
next_rank(void)
{
    return (me + ranks / hearth_nodes()) % ranks;
}

/* Write pages at home there, every one or with others between, and bring the
 * bytes home: what is left for the barrier is to say so. */
static void
pages_write(int n, int step, int value)
{
    char *next = pages + (size_t)next_rank() * 2 * RUNS * PAGE;

    for (int i = 0; i < n; i += step)
        next[(size_t)i * PAGE] = (char)value;
    if (n > 0)
        hearth_release(next, (size_t)n * PAGE);
}

static void
barriers(const char *what, int n, int step)
{
    enum { SETTLING = 4 }; /* until homes have told of their first copies */
    struct counts spent = { { 0 } };

    for (int k = -SETTLING; k < times; k++) {
        struct counts before;

        pages_write(n, step, k + 1);
        MPI_Barrier(MPI_COMM_WORLD);
        before = counts_now();
        hearth_barrier();
        if (k >= 0)
            counts_add(&spent, &before);
        MPI_Barrier(MPI_COMM_WORLD); /* before others fetch from here */
    }
    say(what, spent, times);
}

/* As many as that without memory for so many pages: a rank that has acquired
 * them by itself tells of them as if it had written them. */
static void
barriers_many(void)
{
    struct counts spent = { { 0 } };
    int           all = ranks > 16 ? 1 : 2;
    char         *many =
        hearth_alloc((size_t)ranks, (size_t)2 * MANY * PAGE, hearth_block());
    char *next = many + (size_t)next_rank() * 2 * MANY * PAGE;

    for (int k = 0; k < all; k++) {
        struct counts before;

        for (int i = 0; i < MANY; i++)
            hearth_acquire(next + (size_t)i * 2 * PAGE, 1);
        MPI_Barrier(MPI_COMM_WORLD);
        before = counts_now();
        hearth_barrier();
        counts_add(&spent, &before);
    }
    say("barrier_10000", spent, all);
    hearth_free(many);
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

/* All ranks want the one lock all the time. */
static void
crowd(void)
{
    struct counts spent = { { 0 } }, before;

    MPI_Barrier(MPI_COMM_WORLD);
    before = counts_now();
    for (int k = 0; k < times; k++) {
        hearth_lock(LOCK);
        hearth_unlock(LOCK);
    }
    counts_add(&spent, &before);
    MPI_Barrier(MPI_COMM_WORLD);
    say("crowd", spent, times);
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
    sends = send_bytes = 0;
    before = counts_now();
    starting = true;
    hearth_init(MPI_COMM_WORLD);
    starting = false;
    counts_add(&spent, &before);
    spent.of[MESSAGES] = (double)begun.counter.messages + sends;
    spent.of[BYTES] = (double)begun.counter.message_bytes + send_bytes;
    spent.of[LOCAL] = (double)begun.counter.local_messages;
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
    barriers("barrier", 0, 2);
    barriers("barrier_1", 2, 2);
    barriers("barrier_100", 2 * RUNS, 2);
    barriers("barrier_block", 2 * RUNS, 1);
    barriers_many();
    locks();
    crowd();
    flags();
    allocations();
    hearth_free(pages);
    hearth_finalize();
    if (me == 0)
        printf("done\n");
    MPI_Finalize();
    return 0;
}
