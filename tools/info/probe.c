/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The probe: does passive one-sided communication work between two ranks, and
 * does it need the target to call MPI?  The standard lets an MPI library
 * complete a Get only when its target calls MPI next, and over TCP most do.
 */
#include "info.h"

#include <mpi.h>
#include <pthread.h>
#include <sched.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>
#include <unistd.h>

enum { PAGE = 4096, TAG_DONE = 1, ROUNDS = 101 };

static const double compute_s = 0.2;

struct probe {
    MPI_Comm comm;
    MPI_Win  win;
    char    *memory, buffer[PAGE];
    int      rank;
};

static double
now(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
compute(double seconds)
{
    for (double end = now() + seconds; now() < end;)
        ;
}

/* A barrier that drives progress (MPI_Barrier need not) and leaves the core
 * to others in between. */
static void
barrier(MPI_Comm comm)
{
    MPI_Request request;
    int         done = 0;

    MPI_Ibarrier(comm, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
}

static double
operation_time(struct probe *pr, int target, int operation)
{
    const int64_t one = 1;
    int64_t       before;
    double        start = now();

    if (operation == INFO_GET)
        MPI_Get(pr->buffer, PAGE, MPI_BYTE, target, 0, PAGE, MPI_BYTE,
                pr->win);
    else
        MPI_Fetch_and_op(&one, &before, MPI_INT64_T, target, 0, MPI_SUM,
                         pr->win);
    MPI_Win_flush(target, pr->win);
    return 1e6 * (now() - start);
}

static int
double_order(const void *a, const void *b)
{
    double x = *(const double *)a, y = *(const double *)b;

    return (x > y) - (x < y);
}

/* Median of some operations, as many as fit into half the computing time; the
 * first one is never left out. */
static double
operation_median(struct probe *pr, int target, int operation)
{
    double us[ROUNDS], end = now() + compute_s / 2;
    int    n = 0;

    do
        us[n++] = operation_time(pr, target, operation);
    while (n < ROUNDS && now() < end);
    qsort(us, (size_t)n, sizeof *us, double_order);
    return us[n / 2];
}

/* MPI_Test and not MPI_Iprobe: with UCX, Open MPI 4.1.4's Iprobe looks into
 * its own queue and drives one-sided operations only now and then. */
static void *
helper_main(void *arg)
{
    struct probe *pr = arg;
    MPI_Request   request;
    int           done = 0;

    MPI_Irecv(NULL, 0, MPI_BYTE, pr->rank, TAG_DONE, pr->comm, &request);
    while (!done) {
        MPI_Test(&request, &done, MPI_STATUS_IGNORE);
        sched_yield();
    }
    return NULL;
}

static void
compute_with_helper(struct probe *pr)
{
    pthread_t thread;

    if (pthread_create(&thread, NULL, helper_main, pr) != 0)
        return;
    compute(compute_s);
    MPI_Send(NULL, 0, MPI_BYTE, pr->rank, TAG_DONE, pr->comm);
    pthread_join(thread, NULL);
}

enum target_does { WAIT_IN_MPI, COMPUTE, COMPUTE_HELPED };

/* Time one operation of the origin in one state of the target. */
static double
measure(struct probe *pr, const struct info_probe *p, int operation,
        enum target_does what)
{
    double us = 0;

    barrier(pr->comm);
    if (pr->rank == p->target && what == COMPUTE)
        compute(compute_s);
    if (pr->rank == p->target && what == COMPUTE_HELPED)
        compute_with_helper(pr);
    if (pr->rank == p->origin) {
        if (what != WAIT_IN_MPI)
            usleep(20000); /* until the target has left its barrier */
        us = what == COMPUTE ? operation_time(pr, p->target, operation)
                             : operation_median(pr, p->target, operation);
    }
    barrier(pr->comm);
    return us;
}

static void
measure_all(struct probe *pr, struct info_probe *p)
{
    for (int op = 0; op < INFO_OPERATIONS; op++) {
        p->inside_us[op] = measure(pr, p, op, WAIT_IN_MPI);
        p->computing_us[op] = measure(pr, p, op, COMPUTE);
        if (p->multiple)
            p->helped_us[op] = measure(pr, p, op, COMPUTE_HELPED);
    }
}

/* Has the call succeeded on every rank? */
static bool
all_succeed(struct probe *pr, struct info_probe *p, const char *call, int code)
{
    int mine = code == MPI_SUCCESS, all, len;

    MPI_Allreduce(&mine, &all, 1, MPI_INT, MPI_MIN, pr->comm);
    if (all)
        return true;
    p->failed = call;
    if (code != MPI_SUCCESS)
        MPI_Error_string(code, p->why, &len);
    else
        snprintf(p->why, sizeof p->why, "it failed on another rank");
    return false;
}

/* What ranks of one machine share: a choice of modules for windows may have
 * none for that. */
static bool
memory_share(struct probe *pr, struct info_probe *p)
{
    MPI_Comm machine;
    MPI_Win  win = MPI_WIN_NULL;
    void    *memory;
    int      ranks, code = MPI_SUCCESS;

    MPI_Comm_split_type(pr->comm, MPI_COMM_TYPE_SHARED, pr->rank,
                        MPI_INFO_NULL, &machine);
    MPI_Comm_set_errhandler(machine, MPI_ERRORS_RETURN);
    MPI_Comm_size(machine, &ranks);
    if (ranks > 1)
        code = MPI_Win_allocate_shared(PAGE, 1, MPI_INFO_NULL, machine,
                                       &memory, &win);
    if (code == MPI_SUCCESS && win != MPI_WIN_NULL)
        MPI_Win_free(&win);
    MPI_Comm_free(&machine);
    return all_succeed(pr, p, "MPI_Win_allocate_shared", code);
}

/* Each rank has a window, or no rank goes on. */
static bool
window_open(struct probe *pr, struct info_probe *p)
{
    int code, found = 0, *model;

    code =
        MPI_Win_create(pr->memory, PAGE, 1, MPI_INFO_NULL, pr->comm, &pr->win);
    if (!all_succeed(pr, p, "MPI_Win_create", code))
        return false;
    MPI_Win_get_attr(pr->win, MPI_WIN_MODEL, &model, &found);
    p->unified = found && *model == MPI_WIN_UNIFIED;
    return true;
}

int
info_machines(int *first, int *ranks)
{
    MPI_Comm machine;
    int      at, one, count;

    MPI_Comm_rank(MPI_COMM_WORLD, first);
    MPI_Comm_split_type(MPI_COMM_WORLD, MPI_COMM_TYPE_SHARED, *first,
                        MPI_INFO_NULL, &machine);
    MPI_Comm_rank(machine, &at);
    MPI_Comm_size(machine, ranks);
    one = at == 0;
    MPI_Allreduce(&one, &count, 1, MPI_INT, MPI_SUM, MPI_COMM_WORLD);
    MPI_Bcast(first, 1, MPI_INT, 0, machine);
    MPI_Comm_free(&machine);
    return count;
}

/* The target is the first rank on another machine than rank 0, or rank 1. */
static void
ranks_choose(struct info_probe *p)
{
    int rank, size, machine, here, first;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    info_machines(&machine, &here);
    if (machine == 0)
        rank = size;
    MPI_Allreduce(&rank, &first, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
    p->origin = 0;
    p->same_machine = first == size;
    p->target = p->same_machine ? 1 : first;
}

void
info_probe_run(int thread_level, struct info_probe *p)
{
    struct probe pr = { .win = MPI_WIN_NULL };

    memset(p, 0, sizeof *p);
    ranks_choose(p);
    p->multiple = thread_level == MPI_THREAD_MULTIPLE;
    MPI_Comm_dup(MPI_COMM_WORLD, &pr.comm);
    MPI_Comm_set_errhandler(pr.comm, MPI_ERRORS_RETURN);
    MPI_Comm_rank(pr.comm, &pr.rank);
    if (posix_memalign((void **)&pr.memory, PAGE, PAGE) != 0)
        MPI_Abort(MPI_COMM_WORLD, EXIT_FAILURE);
    memset(pr.memory, 0, PAGE);
    p->works = memory_share(&pr, p) && window_open(&pr, p);
    if (p->works) {
        MPI_Win_lock_all(0, pr.win);
        measure_all(&pr, p);
        MPI_Win_unlock_all(pr.win);
        MPI_Win_free(&pr.win);
    }
    free(pr.memory);
    MPI_Comm_free(&pr.comm);
}

bool
info_probe_waits(const struct info_probe *p, int operation)
{
    return p->computing_us[operation] > 1e6 * compute_s / 2;
}
