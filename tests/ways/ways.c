/* SPDX-License-Identifier: BSD-2-Clause
 *
 * ways OPERATION
 *
 * One operation between two ranks, each a node of its own, in a build with
 * -finstrument-functions: which functions each thread enters meanwhile.  Rank
 * 1 asks and rank 0 answers: it is the home of the page, or holds the lock
 * that rank 1 waits for, and is its manager.  A line for each thread and
 * function: "way RANK THREAD ADDRESS", where thread 0 is the one that calls,
 * and the address is that of the function less that of main().  ways.py runs
 * this, and makes a list of it.
 */
#include <hearth/hearth.h>
#include <mpi.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <time.h>

enum { PAGE = 4096, PAGES = 2048, WARM = 8, LOCK = 0, STEP_MS = 20 };
enum { LATE = 3 }; /* exit status: a rank had no core in time, try again */

struct way {
    const char *name;
    void (*prepare)(int i); /* both ranks, before */
    void (*ask)(int i);     /* rank 1 */
    void (*answer)(int i);  /* rank 0, when rank 1 has begun */
};

static int            me;
static volatile char *pages; /* all of them at home on rank 0 */

/* ---- what is entered ---- */

#define UNCOUNTED __attribute__((no_instrument_function))

enum { ENTRIES = 1 << 14, THREADS = 16 };

static atomic_bool       counts;
static _Atomic uintptr_t entered[THREADS][ENTRIES]; /* hashed */
static atomic_int        threads;
static _Thread_local int thread = -1;

UNCOUNTED void __cyg_profile_func_enter(void *function, void *from);
UNCOUNTED void __cyg_profile_func_exit(void *function, void *from);

/* In signal handlers, too.  A table that is full would be seen: no program
 * has so many functions. */
void
__cyg_profile_func_enter(void *function, void *from)
{
    uintptr_t f = (uintptr_t)function, was;

    (void)from;
    if (!atomic_load_explicit(&counts, memory_order_relaxed))
        return;
    if (thread < 0)
        thread = atomic_fetch_add(&threads, 1) % THREADS;
    for (uintptr_t i = f >> 2;; i++) {
        was = 0;
        if (atomic_compare_exchange_strong(&entered[thread][i % ENTRIES], &was,
                                           f) ||
            was == f)
            return;
    }
}

void
__cyg_profile_func_exit(void *function, void *from)
{
    (void)function;
    (void)from;
}

UNCOUNTED int main(int argc, char **argv);

static void
entered_print(void)
{
    for (int t = 0; t < THREADS; t++)
        for (int i = 0; i < ENTRIES; i++)
            if (entered[t][i] != 0)
                printf("way %d %d %lld\n", me, t,
                       (long long)(entered[t][i] - (uintptr_t)main));
}

static double
seconds(void)
{
    struct timespec t;

    clock_gettime(CLOCK_MONOTONIC, &t);
    return (double)t.tv_sec + 1e-9 * (double)t.tv_nsec;
}

static void
steps_sleep(int n)
{
    nanosleep(&(struct timespec){ 0, n * STEP_MS * 1000000L }, NULL);
}

/* ---- the operations ---- */

static void
nothing(int i)
{
    (void)i;
}

/* In no group with another, and in no sequence of equal distances. */
static volatile char *
page_at(int i)
{
    return pages + (size_t)(i * i * 16) * PAGE;
}

static void
page_load(int i)
{
    (void)*page_at(i);
}

static void
copy_have(int i)
{
    if (me == 1)
        page_load(i);
}

/* The first store to a copy. */
static void
page_store(int i)
{
    ++*page_at(i);
}

/* So many runs that they go as one message. */
static void
copy_write(int i)
{
    copy_have(i);
    for (int at = 0; me == 1 && at < PAGE; at += 64)
        page_at(i)[at]++;
}

static void
page_release(int i)
{
    (void)i;
    hearth_release(NULL, 0);
}

static void
lock_wait(int i)
{
    (void)i;
    hearth_lock(LOCK);
}

static void
lock_hold(int i)
{
    (void)i;
    if (me == 0)
        hearth_lock(LOCK);
}

static void
lock_pass(int i)
{
    (void)i;
    hearth_unlock(LOCK);
}

static const struct way ways[] = {
    { "fault", nothing, page_load, nothing },
    { "store", copy_have, page_store, nothing },
    { "diff", copy_write, page_release, nothing },
    { "lock", lock_hold, lock_wait, lock_pass },
};

static const struct way *
way_find(const char *name)
{
    for (size_t i = 0; i < sizeof ways / sizeof *ways; i++)
        if (strcmp(ways[i].name, name) == 0)
            return &ways[i];
    return NULL;
}

/* ---- one of them ---- */

/* When a rank began to count, and to do its part, and had done it. */
struct times {
    double counts, begin, end;
};

/* Did rank 1 begin while rank 0 counted, and before it did its part; and end
 * before rank 0 ceased to count? */
static bool
are_in_order(const struct times *answer, const struct times *ask)
{
    return answer->counts < ask->begin && ask->begin < answer->begin &&
           ask->end < answer->end;
}

/* The threads of Hearth that the barrier has woken are asleep before the
 * operation begins.  False if the two ranks did not do their parts in the
 * order that is wanted. */
static bool
way_go(const struct way *w, int i, bool counted)
{
    struct times mine, other;

    w->prepare(i);
    PMPI_Barrier(MPI_COMM_WORLD);
    steps_sleep(2 + me);
    mine.counts = seconds();
    atomic_store(&counts, counted);
    steps_sleep(me == 0 ? 2 : 0);
    mine.begin = seconds();
    if (me == 0)
        w->answer(i);
    else
        w->ask(i);
    steps_sleep(me == 0 ? 1 : 0);
    mine.end = seconds();
    atomic_store(&counts, false);
    PMPI_Sendrecv(&mine, sizeof mine, MPI_BYTE, 1 - me, 0, &other,
                  sizeof other, MPI_BYTE, 1 - me, 0, MPI_COMM_WORLD,
                  MPI_STATUS_IGNORE);
    if (me == 1 && w->ask == lock_wait)
        hearth_unlock(LOCK);
    PMPI_Barrier(MPI_COMM_WORLD);
    return me == 0 ? are_in_order(&mine, &other) : are_in_order(&other, &mine);
}

static bool
measure(const struct way *w)
{
    pages = hearth_alloc(PAGES, PAGE, hearth_on(0));
    for (int i = 0; i < WARM; i++)
        way_go(w, i, false);
    thread = atomic_fetch_add(&threads, 1);
    return way_go(w, WARM, true);
}

int
main(int argc, char **argv)
{
    const struct way *w = argc == 2 ? way_find(argv[1]) : NULL;
    int               size, level;
    bool              good;

    if (w == NULL) {
        fprintf(stderr, "ways: use: ways fault|store|diff|lock\n");
        return 2;
    }
    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    PMPI_Comm_rank(MPI_COMM_WORLD, &me);
    PMPI_Comm_size(MPI_COMM_WORLD, &size);
    hearth_init(MPI_COMM_WORLD);
    if (size != 2 || hearth_nodes() != 2) {
        fprintf(stderr, "ways: %d ranks on %d nodes: must be 2 on 2\n", size,
                hearth_nodes());
        return 2;
    }
    good = measure(w);
    hearth_finalize();
    MPI_Finalize();
    entered_print();
    return good ? 0 : LATE;
}
