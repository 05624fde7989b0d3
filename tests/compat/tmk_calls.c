/* SPDX-License-Identifier: BSD-2-Clause
 *
 * tmk_calls [CASE] -- what the calls of Tmk.h mean; and with a case, one thing
 * that Tmk.h does not allow.  ways.tap looks at how it ends.
 */
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <unistd.h>

#include "Tmk.h"

struct big {
    int  version;
    char filler[20000];
    int  again;
};

static int       *counter, *board, *last;
static struct big big;
static int        wrong;

#define expect(what)                                                  \
    do {                                                              \
        if (!(what)) {                                                \
            printf("WRONG on process %u, line %d: %s\n", Tmk_proc_id, \
                   __LINE__, #what);                                  \
            wrong = 1;                                                \
        }                                                             \
    } while (0)

/* By a lock, without a barrier in between. */
static void
a_value_comes_with_a_lock(void)
{
    int seen = 0;

    if (Tmk_proc_id == 0) {
        Tmk_lock_acquire(5);
        last = Tmk_malloc(sizeof *last);
        *last = 41;
        Tmk_distribute(&last, sizeof last);
        counter[1] = 1;
        Tmk_lock_release(5);
    }
    while (!seen) {
        Tmk_lock_acquire(5);
        seen = counter[1];
        expect(!seen || (last != NULL && *last == 41));
        Tmk_lock_release(5);
    }
    Tmk_barrier(3);
}

/* Each process gives it in its turn. */
static void
the_last_value_counts(void)
{
    for (unsigned i = 0; i < 3 * Tmk_nprocs; i++) {
        if (i % Tmk_nprocs == Tmk_proc_id) {
            expect(big.version == (int)i && big.again == (int)i);
            big.version = big.again = (int)i + 1;
            Tmk_distribute(&big, sizeof big);
        }
        Tmk_barrier(i);
        expect(big.version == (int)i + 1 && big.again == (int)i + 1);
        Tmk_barrier(i);
    }
}

/* Whichever comes last counts for all, also for who gave another before. */
static void
the_last_value_of_many_counts(void)
{
    static int own;
    int       *seen = board + 40;

    own = 10 + (int)Tmk_proc_id;
    Tmk_distribute(&own, sizeof own);
    Tmk_barrier(12);
    seen[Tmk_proc_id] = own;
    Tmk_barrier(12);
    for (unsigned i = 0; i < Tmk_nprocs; i++)
        expect(seen[i] == own && own >= 10);
    Tmk_barrier(12);
}

/* Come back with the lock held, when a word is not 0. */
static void
seen(unsigned lock, const int *word)
{
    Tmk_lock_acquire(lock);
    while (*word == 0) {
        Tmk_lock_release(lock);
        Tmk_lock_acquire(lock);
    }
}

static void
wait_for(unsigned lock, int *here, const int *word)
{
    *here = 1;
    while (*word == 0)
        Tmk_lock_cond_wait(lock, 3);
    Tmk_lock_release(lock);
}

static void
wake(unsigned lock, int *word)
{
    *word = 1;
    Tmk_lock_cond_signal(lock, 3);
    Tmk_lock_release(lock);
}

/* Two locks have each a condition 3.  Process 0, which has waited longer for
 * that of lock 6, is not woken in place of the one who waits for lock 7's. */
static void
conditions_belong_to_their_locks(void)
{
    if (Tmk_nprocs < 3)
        return;
    if (Tmk_proc_id == 0) {
        Tmk_lock_acquire(6);
        wait_for(6, &board[20], &board[21]);
    } else if (Tmk_proc_id == 1) {
        seen(6, &board[20]);
        Tmk_lock_release(6);
        Tmk_lock_acquire(7);
        wait_for(7, &board[22], &board[23]);
    } else if (Tmk_proc_id == 2) {
        seen(7, &board[22]);
        wake(7, &board[23]);
        Tmk_lock_acquire(6);
        wake(6, &board[21]);
    }
    Tmk_barrier(4);
}

/* Each wakes the even one that has waited longest, and all odd ones. */
static void
conditions_of_a_lock(void)
{
    Tmk_lock_acquire(8);
    if (Tmk_proc_id == 0)
        board[8] = 1;
    while (board[8] == 0)
        Tmk_lock_cond_wait(8, Tmk_proc_id % 2);
    board[9]++;
    Tmk_lock_cond_signal(8, 0);
    Tmk_lock_cond_broadcast(8, 1);
    Tmk_lock_release(8);
    Tmk_barrier(5);
    expect(board[9] == (int)Tmk_nprocs);
}

/* Large objects lie side by side, are free for each other, and what is freed
 * is used again. */
static void
large_objects(void)
{
    enum { LARGE = 300000 };
    static char *p[3], *q;
    unsigned     last = Tmk_nprocs - 1;

    if (Tmk_proc_id == last) {
        for (int i = 0; i < 3; i++) {
            p[i] = Tmk_malloc(LARGE);
            memset(p[i], 'a' + i, LARGE);
        }
        Tmk_distribute(p, sizeof p);
    }
    Tmk_barrier(7);
    for (int i = 0; i < 3; i++)
        expect(p[i][0] == 'a' + i && p[i][LARGE - 1] == 'a' + i);
    Tmk_barrier(8);
    if (Tmk_proc_id == 0) {
        Tmk_free(p[1]);
        Tmk_free(p[0]);
        q = Tmk_malloc(2 * LARGE);
        expect(q == p[0]);
        memset(q, 'q', 2 * LARGE);
        Tmk_distribute(&q, sizeof q);
    }
    Tmk_barrier(7);
    expect(q[0] == 'q' && q[2 * LARGE - 1] == 'q' && p[2][0] == 'c');
    Tmk_barrier(8);
    if (Tmk_proc_id == last) {
        Tmk_free(q);
        Tmk_free(p[2]);
    }
}

/* However many there are, they lie together and not where small ones are. */
static void
many_large_objects(void)
{
    enum { MANY = 4200, LARGE = 65536 };
    static char *p[MANY];

    Tmk_barrier(10); /* others may allocate in between otherwise */
    for (int i = 0; i < MANY && Tmk_proc_id == 0; i++)
        p[i] = Tmk_malloc(LARGE);
    Tmk_barrier(11);
    if (Tmk_proc_id != 0)
        return;
    for (int i = 1; i < MANY; i++)
        expect(p[i] == p[0] + (size_t)i * LARGE);
    for (int i = 0; i < MANY; i++)
        Tmk_free(p[i]);
}

/* Process by process fills its part of shared[0], plus a value. */
static void
fill(Tmk_sched_arg_t arg)
{
    int *at = arg->shared[0];

    at[Tmk_proc_id] = arg->byvalue[0].int_by_value + (int)Tmk_proc_id;
    Tmk_barrier(9);
    for (unsigned i = 0; i < Tmk_nprocs; i++)
        expect(at[i] == arg->byvalue[0].int_by_value + (int)i);
}

static void
nothing(Tmk_sched_arg_t arg)
{
    (void)arg;
    Tmk_lock_acquire(10);
    counter[3]++;
    Tmk_lock_release(10);
}

/* The last process says what all do; the second fork waits for the first one
 * by itself. */
static void
functions_are_forked(void)
{
    unsigned             manager = Tmk_nprocs - 1;
    struct Tmk_sched_arg arg = {
        1, 1, { &board[30] }, { { .int_by_value = 7 } }
    };

    expect(Tmk_sched_start(manager) == (Tmk_proc_id == manager));
    if (Tmk_proc_id == manager) {
        Tmk_sched_fork(fill, &arg);
        arg.byvalue[0].int_by_value = 70;
        Tmk_sched_fork(fill, &arg);
        expect(Tmk_sched_start(manager) == 1);
        expect(board[30] == 70);
        Tmk_sched_fork(nothing, NULL);
        Tmk_sched_exit();
    }
    Tmk_barrier(9);
    expect(counter[3] == (int)Tmk_nprocs);
}

/* Zero, and apart from what is allocated otherwise. */
static void
memory_stays(void)
{
    char *p, *q;

    expect(Tmk_page_size >= 4096);
    p = memset(Tmk_malloc(3000), 'x', 3000);
    Tmk_free(p);
    p = Tmk_sbrk(3000);
    q = Tmk_sbrk(Tmk_page_size * 20);
    for (unsigned i = 0; i < 3000; i++)
        expect(p[i] == 0 && q[i] == 0);
    Tmk_barrier(9);
}

static void
allocation_by_all(void)
{
    int **p = NULL;

    for (int i = 0; i < 50; i++) {
        Tmk_lock_acquire(TMK_NLOCKS - 1);
        p = Tmk_malloc(100);
        memset(p, (int)Tmk_proc_id, 100);
        if (counter[2]++ % 3 == 0)
            Tmk_free(p);
        Tmk_lock_release(TMK_NLOCKS - 1);
    }
    Tmk_barrier(6);
    expect(counter[2] == 50 * (int)Tmk_nprocs);
    Tmk_free(NULL);
}

/* Its end is not the process's, whose handlers it has. */
static void
a_child_of_fork_ends_alone(void)
{
    int   status = 0;
    pid_t child;

    fflush(NULL);
    child = fork();
    if (child == 0)
        exit(7);
    expect(waitpid(child, &status, 0) == child && WEXITSTATUS(status) == 7);
}

static void
calls(void)
{
    a_child_of_fork_ends_alone();
    a_value_comes_with_a_lock();
    the_last_value_counts();
    the_last_value_of_many_counts();
    conditions_belong_to_their_locks();
    conditions_of_a_lock();
    allocation_by_all();
    large_objects();
    many_large_objects();
    functions_are_forked();
    memory_stays();
    Tmk_lock_acquire(1);
    counter[0] += wrong ? 1 : 0;
    Tmk_lock_release(1);
    Tmk_barrier(TMK_NBARRIERS - 1);
    if (Tmk_proc_id == 0)
        Tmk_err("%s\n", counter[0] ? "WRONG" : "right");
}

static void
bad(const char *name)
{
    int local = 0;

    if (strcmp(name, "lock") == 0)
        Tmk_lock_acquire(TMK_NLOCKS);
    if (strcmp(name, "lock_negative") == 0)
        Tmk_lock_release((unsigned)-1);
    if (strcmp(name, "lock_twice") == 0) {
        Tmk_lock_acquire(Tmk_proc_id);
        Tmk_lock_acquire(Tmk_proc_id);
    }
    if (strcmp(name, "lock_not_held") == 0)
        Tmk_lock_release(3);
    if (strcmp(name, "barrier") == 0)
        Tmk_barrier(TMK_NBARRIERS);
    if (strcmp(name, "wait_not_held") == 0)
        Tmk_lock_cond_wait(3, 0);
    if (strcmp(name, "conditions") == 0 && Tmk_proc_id == 0)
        for (unsigned i = 0; i < 1025; i++)
            Tmk_lock_cond_signal(i, i);
    if (strcmp(name, "distribute_local") == 0)
        Tmk_distribute(&local, sizeof local);
    if (strcmp(name, "distribute_shared") == 0)
        Tmk_distribute(counter, sizeof *counter);
    if (strcmp(name, "distribute_nothing") == 0)
        Tmk_distribute(&counter, 0);
    if (strcmp(name, "malloc_0") == 0)
        Tmk_malloc(0);
    if (strcmp(name, "malloc_all") == 0)
        Tmk_malloc(SIZE_MAX);
    if (strcmp(name, "free_inside") == 0)
        Tmk_free(counter + 4);
    if (strcmp(name, "free_large") == 0)
        Tmk_free((char *)Tmk_malloc(100000) + 65536);
    if (strcmp(name, "many_large") == 0) {
        for (int i = 0; i < 70 && Tmk_proc_id == 0; i++)
            Tmk_malloc(65536);
        Tmk_barrier(1);
        Tmk_malloc(65536);
    }
    if (strcmp(name, "errexit") == 0 && Tmk_proc_id == 0)
        Tmk_errexit("out of %s at %d", "cheese", 5);
    if (strcmp(name, "sched_process") == 0)
        Tmk_sched_start(Tmk_nprocs);
    if (strcmp(name, "sbrk_0") == 0)
        Tmk_sbrk(0);
    if (strcmp(name, "startup_twice") == 0)
        Tmk_startup(0, NULL);
    if (strcmp(name, "status") == 0)
        exit(5);
    if (strcmp(name, "tmk_status") == 0)
        Tmk_exit(5);
    Tmk_barrier(0);
}

static void
after(void)
{
    Tmk_barrier(0);
}

int
main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";

    if (strcmp(name, "before") == 0)
        Tmk_malloc(1);
    setenv("HEARTH_MALLOC", "320m", 0); /* for many_large_objects() */
    Tmk_startup(argc, argv);
    if (Tmk_proc_id == Tmk_nprocs - 1) {
        counter = Tmk_malloc(1000);
        board = counter + 100;
        memset(counter, 0, 1000);
        Tmk_distribute(&counter, sizeof counter);
        Tmk_distribute(&board, sizeof board);
    }
    Tmk_barrier(0);
    if (argc > 1)
        bad(name);
    else
        calls();
    if (strcmp(name, "after") == 0)
        atexit(after);
    Tmk_exit(0);
}
