/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * N queens: in how many ways can n queens stand on a board of n x n without
 * one attacking another?
 *
 * Source: the benchmark of the papers on JIAJIA and Mocha; the search by bit
 * masks after Martin Richards, Backtracking Algorithms in MCPL using Bit
 * Patterns and Recursion, 1997.  Of two boards that mirror each other one is
 * searched.
 *
 * Sharing: a pool of tasks.  A task is a placement of the first three queens;
 * the pool is a shared counter under lock 0, from which a rank takes --tasks
 * numbers a grab, and what it found it adds to a shared sum under lock 1, in
 * the end.  All of the sharing is one page that follows the locks.
 *
 * Limit: the lock, when there are many ranks or few tasks a grab; the last
 * tasks of the pool, when there are many a grab.  (In Mocha's paper the lock
 * stops the speedup at 32 nodes.)
 */
#include <config.h>

#include <inttypes.h>
#include <stdlib.h>

#include <hearth/hearth.h>

#include "common.h"

static long size, grab;

static const struct app_option options[] = {
    APP_NUMBER('n', "size", &size, 17, 13, 1, 31, "queens and board size"),
    APP_NUMBER('t', "tasks", &grab, 8, 8, 1, 1 << 20, "tasks per grab"),
};

/* The On-Line Encyclopedia of Integer Sequences, A000170, from n = 1 on;
 * n = 27 by Preusser and Engelhardt (Putting Queens in Carry Chains, No 27,
 * 2017). */
/* clang-format off */
static const uint64_t known[] = {
    1, 0, 0, 2, 10, 4, 40, 92, 352, 724, 2680, 14200, 73712, 365596, 2279184,
    14772512, 95815104, 666090624, 4968057848, 39029188884, 314666222712,
    2691008701644, 24233937684440, 227514171973736, 2207893435808352,
    22317699616364044, 234907967154122528,
};
/* clang-format on */

/* The columns that the queens placed so far occupy or attack in the next
 * row: straight on, and along the two diagonals. */
struct task {
    uint32_t straight, left, right;
};

struct pool {
    struct task *task;
    int64_t      count, room;
};

static uint32_t
board_columns(void)
{
    return ((uint32_t)1 << size) - 1;
}

static struct task
queen_place(struct task t, uint32_t queen)
{
    struct task next = { t.straight | queen, (t.left | queen) << 1,
                         (t.right | queen) >> 1 };

    return next;
}

/*
 * The kernel: in how many ways can the rest of the queens be placed?  Plain
 * numbers, because a small struct goes through memory at each call; and the
 * last queen needs no call.
 */
static uint64_t
rest_count(uint32_t straight, uint32_t left, uint32_t right, uint32_t columns)
{
    uint32_t open = columns & ~(straight | left | right);
    uint32_t missing = columns & ~straight;
    uint64_t count = 0;

    if ((missing & (missing - 1)) == 0)
        return missing == 0 || open != 0;
    for (; open != 0; open &= open - 1) {
        uint32_t queen = open & -open;

        count += rest_count(straight | queen, (left | queen) << 1,
                            (right | queen) >> 1, columns);
    }
    return count;
}

static int64_t
task_solve(const struct task *t)
{
    return (int64_t)rest_count(t->straight, t->left, t->right,
                               board_columns());
}

static void
pool_add(const struct app_run *run, struct pool *p, struct task t)
{
    if (p->count == p->room) {
        p->room = p->room * 2 + 64;
        p->task = realloc(p->task, (size_t)p->room * sizeof *p->task);
        if (p->task == NULL)
            app_fail(run, "no private memory for %" PRId64 " tasks", p->room);
    }
    p->task[p->count++] = t;
}

/* Add all ways to place `rows` more queens, the next one within `half`. */
static void
pool_fill(const struct app_run *run, struct pool *p, struct task t, int rows,
          uint32_t half)
{
    const uint32_t columns = board_columns();

    if (rows == 0 || t.straight == columns) {
        pool_add(run, p, t);
        return;
    }
    for (uint32_t open = half & ~(t.straight | t.left | t.right); open != 0;
         open &= open - 1)
        pool_fill(run, p, queen_place(t, open & -open), rows - 1, columns);
}

/*
 * Half of the board's solutions as tasks, the same on every rank: those with
 * the first queen in the left half and, on an odd board, with the first queen
 * in the middle and the second in the left half.  The mirror images are the
 * other half (not on a board of one).
 */
static struct pool
pool_make(const struct app_run *run)
{
    struct pool    p = { NULL, 0, 0 };
    struct task    none = { 0, 0, 0 };
    const uint32_t left = ((uint32_t)1 << size / 2) - 1;

    if (size == 1)
        return p;
    pool_fill(run, &p, none, 3, left);
    if (size % 2 == 1)
        pool_fill(run, &p, queen_place(none, left + 1), 2, left);
    return p;
}

static uint64_t
solutions(uint64_t found)
{
    return size == 1 ? 1 : 2 * found;
}

static void
count_report(struct app_run *run, uint64_t found)
{
    uint64_t count = solutions(found);

    if (run->verify && run->rank == 0)
        app_verdict(run, count == known[size - 1],
                    "found %" PRIu64 " solutions, there are %" PRIu64, count,
                    known[size - 1]);
    app_field(run, "solutions=%" PRIu64, count);
}

static void
nqueens_run(struct app_run *run)
{
    enum { NEXT, FOUND, WORDS };
    struct pool pool = pool_make(run);
    int64_t    *shared = app_alloc(run, WORDS, sizeof *shared, hearth_on(0));
    int64_t     from, found = 0;

    app_start(run);
    do {
        hearth_lock(0);
        from = shared[NEXT];
        shared[NEXT] = from + grab;
        hearth_unlock(0);
        for (int64_t i = from; i < from + grab && i < pool.count; i++)
            found += task_solve(&pool.task[i]);
        app_progress(run, "task", (long)from, (long)pool.count);
    } while (from + grab < pool.count);
    hearth_lock(1);
    shared[FOUND] += found;
    hearth_unlock(1);
    app_stop(run);

    count_report(run, (uint64_t)shared[FOUND]);
    app_barrier(run);
    hearth_free(shared);
    free(pool.task);
}

/*
 * The plain MPI version: rank 0 hands the tasks out, and works too, answering
 * between two tasks.  The others ask for the next grab before they work on
 * this one, so nobody waits.
 */
enum tag { ASK, GRANT };

struct dealer {
    int64_t next;   /* first task that nobody has */
    int     asking; /* ranks that were not told yet that no task is left */
};

static int64_t
dealer_take(struct dealer *d)
{
    int64_t from = d->next;

    d->next += grab;
    return from;
}

/* Answer who has asked; with wait, until all others know the end. */
static void
dealer_answer(struct dealer *d, int64_t count, bool wait)
{
    while (d->asking > 0) {
        MPI_Status status;
        int        asked = 1;
        int64_t    from;

        if (wait)
            MPI_Probe(MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &status);
        else
            MPI_Iprobe(MPI_ANY_SOURCE, ASK, MPI_COMM_WORLD, &asked, &status);
        if (!asked)
            return;
        MPI_Recv(NULL, 0, MPI_BYTE, status.MPI_SOURCE, ASK, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        from = dealer_take(d);
        if (from >= count)
            d->asking--;
        MPI_Send(&from, 1, MPI_INT64_T, status.MPI_SOURCE, GRANT,
                 MPI_COMM_WORLD);
    }
}

static int64_t
dealer_work(struct app_run *run, const struct pool *pool)
{
    struct dealer d = { 0, run->ranks - 1 };
    int64_t       from, found = 0;

    while ((from = dealer_take(&d)) < pool->count) {
        for (int64_t i = from; i < from + grab && i < pool->count; i++) {
            dealer_answer(&d, pool->count, false);
            found += task_solve(&pool->task[i]);
        }
        app_progress(run, "task", (long)from, (long)pool->count);
    }
    dealer_answer(&d, pool->count, true);
    return found;
}

static void
grant_ask(int64_t *grant, MPI_Request *request)
{
    MPI_Irecv(grant, 1, MPI_INT64_T, 0, GRANT, MPI_COMM_WORLD, request);
    MPI_Send(NULL, 0, MPI_BYTE, 0, ASK, MPI_COMM_WORLD);
}

static int64_t
other_work(const struct pool *pool)
{
    MPI_Request request;
    int64_t     grant, from, found = 0;

    grant_ask(&grant, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
    while ((from = grant) < pool->count) {
        grant_ask(&grant, &request);
        for (int64_t i = from; i < from + grab && i < pool->count; i++)
            found += task_solve(&pool->task[i]);
        MPI_Wait(&request, MPI_STATUS_IGNORE);
    }
    return found;
}

static void
nqueens_run_mpi(struct app_run *run)
{
    struct pool pool = pool_make(run);
    int64_t     mine, found = 0;

    app_start(run);
    mine = run->rank == 0 ? dealer_work(run, &pool) : other_work(&pool);
    MPI_Reduce(&mine, &found, 1, MPI_INT64_T, MPI_SUM, 0, MPI_COMM_WORLD);
    app_stop(run);
    count_report(run, (uint64_t)found);
    free(pool.task);
}

static const char *
nqueens_check(const struct app_run *run)
{
    if (run->verify && size > (long)(sizeof known / sizeof known[0]))
        return "--verify knows the counts up to --size 27";
    return NULL;
}

int
main(int argc, char **argv)
{
    static const struct app app = {
        .name = "nqueens",
        .about = "Count the placements of n queens on an n x n board.",
        .options = options,
        .option_count = sizeof options / sizeof options[0],
        .check = nqueens_check,
        .run = nqueens_run,
        .run_mpi = nqueens_run_mpi,
    };

    return app_main(&app, argc, argv);
}
