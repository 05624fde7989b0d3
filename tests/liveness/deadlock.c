/* SPDX-License-Identifier: BSD-2-Clause
 *
 * deadlock CASE -- ranks that wait for each other, and ranks that only seem
 * to.  deadlock.tap runs each case and looks at what is said and how the job
 * ends.  Each case makes its schedule by barriers of MPI; a case that comes
 * back goes on to a barrier and hearth_finalize(), and the program ends with
 * 0.
 */
#include <hearth/hearth.h>
#include <mpi.h>
#include <pthread.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

/* LONG is several times what the script sets HEARTH_DEADLOCK to. */
enum { LOCK = 5, FLAG = 3, COND = 2, RWLOCK = 4, LONG = 2500000 };

static int me, last, size;

/* ---- ranks that wait for ever ---- */

/* Rank i has lock i and wants the next one: of two or more. */
static void
locks_in_a_ring(void)
{
    hearth_lock(LOCK + me);
    MPI_Barrier(MPI_COMM_WORLD);
    hearth_lock(LOCK + (me + 1) % size);
}

/* The others have come to a barrier. */
static void
two_locks(void)
{
    if (me < 2)
        hearth_lock(LOCK + me);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me < 2)
        hearth_lock(LOCK + 1 - me);
}

static void
two_addresses(void)
{
    char *p = hearth_alloc(2, 64, hearth_block());
    int   lock[2] = { hearth_lock_of(p), hearth_lock_of(p + 64) };

    if (me < 2)
        hearth_lock(lock[me]);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me < 2)
        hearth_lock(lock[1 - me]);
}

/* A lock that its rank has taken so often that it stays there. */
static void
two_that_stay(void)
{
    for (int i = 0; me < 2 && i < 50; i++) {
        hearth_lock(LOCK + me);
        hearth_unlock(LOCK + me);
    }
    two_locks();
}

static void
flag_unset(void)
{
    if (me == last)
        hearth_flag_wait(FLAG);
}

/* A rank comes to a barrier with a lock that another one wants first. */
static void
lock_in_barrier(void)
{
    if (me == 0)
        hearth_lock(LOCK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == last)
        hearth_lock(LOCK);
}

static void
lock_in_alloc(void)
{
    if (me == 0)
        hearth_lock(LOCK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == last)
        hearth_lock(LOCK);
    hearth_alloc(1000, 8, hearth_block());
}

static void
flag_and_finalize(void)
{
    if (me == last)
        hearth_flag_wait(FLAG);
    hearth_finalize();
}

static void
condition_unsignalled(void)
{
    hearth_lock(LOCK);
    hearth_cond_wait(COND, LOCK);
}

static void
word_unchanged(void)
{
    int64_t *word = hearth_alloc(1, sizeof *word, hearth_on(0));

    if (me == last)
        hearth_wait_until(word, HEARTH_NE, 0);
}

static void
rwlocks(void)
{
    if (me == 0)
        hearth_rdlock(RWLOCK);
    if (me == last)
        hearth_wrlock(RWLOCK + 1);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        hearth_rdlock(RWLOCK + 1);
    if (me == last)
        hearth_wrlock(RWLOCK);
}

/* The last rank has the lock and waits for a message of rank 0, which wants
 * the lock first. */
static void
lock_and_message(void)
{
    int x = 0;

    if (me == last)
        hearth_lock(LOCK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        hearth_lock(LOCK);
    if (me == last)
        MPI_Recv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
}

static void
lock_and_request(void)
{
    MPI_Request request;
    int         x = 0;

    if (me == last)
        hearth_lock(LOCK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        hearth_lock(LOCK);
    if (me != last)
        return;
    MPI_Irecv(&x, 1, MPI_INT, 0, 0, MPI_COMM_WORLD, &request);
    MPI_Wait(&request, MPI_STATUS_IGNORE);
}

static void
lock_in_mpi_barrier(void)
{
    if (me == last)
        hearth_lock(LOCK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        hearth_lock(LOCK);
    MPI_Barrier(MPI_COMM_WORLD);
}

/* Two threads of rank 0. */
static pthread_barrier_t both;

static void *
other_way(void *unused)
{
    hearth_lock(LOCK + 1);
    pthread_barrier_wait(&both);
    hearth_lock(LOCK);
    return unused;
}

static void
two_threads(void)
{
    pthread_t other;

    if (me != 0)
        return;
    pthread_barrier_init(&both, NULL, 2);
    pthread_create(&other, NULL, other_way, NULL);
    hearth_lock(LOCK);
    pthread_barrier_wait(&both);
    hearth_lock(LOCK + 1);
}

static void *
one_way(void *unused)
{
    hearth_lock(LOCK);
    pthread_barrier_wait(&both);
    hearth_lock(LOCK + 1);
    return unused;
}

/* The first thread of each rank waits for their end. */
static void
two_joined(void)
{
    pthread_t thread[2];

    if (me == 0) {
        pthread_barrier_init(&both, NULL, 2);
        pthread_create(&thread[0], NULL, one_way, NULL);
        pthread_create(&thread[1], NULL, other_way, NULL);
        pthread_join(thread[0], NULL);
    }
}

/* ---- ranks that only seem to ---- */

static void
sleeps_inside(void)
{
    if (me == last)
        hearth_lock(LOCK);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == last)
        usleep(LONG);
    else
        hearth_lock(LOCK);
    hearth_unlock(LOCK);
}

static void
computes_by_atomics(void)
{
    int64_t *word = hearth_alloc(1, sizeof *word, hearth_on(0));
    double   end = MPI_Wtime() + LONG / 1e6;

    MPI_Barrier(MPI_COMM_WORLD);
    if (me != last)
        hearth_flag_wait(FLAG);
    while (me == last && MPI_Wtime() < end)
        hearth_fetch_add(word, 1);
    hearth_flag_set(FLAG);
}

static void
tries_again(void)
{
    double end = MPI_Wtime() + LONG / 1e6;

    if (me == 0)
        hearth_lock(LOCK);
    MPI_Barrier(MPI_COMM_WORLD);
    while (me == last && MPI_Wtime() < end)
        hearth_trylock(LOCK);
    if (me == last)
        hearth_flag_set(FLAG);
    hearth_flag_wait(FLAG);
    if (me == 0)
        hearth_unlock(LOCK);
}

/* Another thread, which has never called Hearth before. */
static void *
flag_late(void *unused)
{
    usleep(LONG);
    hearth_flag_set(FLAG);
    return unused;
}

static void
another_thread(void)
{
    pthread_t other;

    if (me == last)
        pthread_create(&other, NULL, flag_late, NULL);
    hearth_flag_wait(FLAG);
    if (me == last)
        pthread_join(other, NULL);
}

/* And the first thread of that rank only waits for its end. */
static void
joins_another(void)
{
    pthread_t other;

    MPI_Barrier(MPI_COMM_WORLD);
    if (me != last) {
        hearth_flag_wait(FLAG);
        return;
    }
    pthread_create(&other, NULL, flag_late, NULL);
    pthread_join(other, NULL);
}

/* It is in the C library all the time, with little of the program's on its
 * stack. */
static void
reads_input(void)
{
    FILE *input = NULL;

    MPI_Barrier(MPI_COMM_WORLD);
    if (me == last)
        input = popen("sleep 2.5; echo done", "r");
    if (input != NULL) {
        while (getc(input) != EOF)
            ;
        pclose(input);
        hearth_flag_set(FLAG);
    }
    hearth_flag_wait(FLAG);
}

/* A message comes from a thread of another rank. */
static void *
message_late(void *unused)
{
    int x = 1;

    usleep(LONG);
    MPI_Send(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
    return unused;
}

static void
message_comes(void)
{
    pthread_t other;
    int       x;

    MPI_Barrier(MPI_COMM_WORLD);
    if (me == last)
        pthread_create(&other, NULL, message_late, NULL);
    if (me == 0) {
        MPI_Recv(&x, 1, MPI_INT, last, 7, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
        hearth_flag_set(FLAG);
    }
    hearth_flag_wait(FLAG);
    if (me == last)
        pthread_join(other, NULL);
}

/* All ranks are in the same call of MPI's, or of Hearth's, but one. */
static void
late_for_all(void)
{
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == last)
        usleep(LONG);
    MPI_Barrier(MPI_COMM_WORLD);
    if (me == 0)
        usleep(LONG);
    hearth_barrier();
}

/* A message comes from a rank of MPI's that is none of the job's: the program
 * has begun without it. */
static void
outsider_sends(void)
{
    int x = 1;

    if (size == 0) {
        usleep(LONG);
        MPI_Send(&x, 1, MPI_INT, 0, 7, MPI_COMM_WORLD);
        return;
    }
    if (me == 0) {
        MPI_Recv(&x, 1, MPI_INT, MPI_ANY_SOURCE, 7, MPI_COMM_WORLD,
                 MPI_STATUS_IGNORE);
        hearth_flag_set(FLAG);
    }
    hearth_flag_wait(FLAG);
}

/* ---- the program ---- */

static const struct {
    const char *name;
    void (*work)(void);
} cases[] = {
#define CASE(name)  \
    {               \
#name, name \
    }
    CASE(locks_in_a_ring),
    CASE(two_locks),
    CASE(two_addresses),
    CASE(two_that_stay),
    CASE(flag_unset),
    CASE(lock_in_barrier),
    CASE(lock_in_alloc),
    CASE(flag_and_finalize),
    CASE(condition_unsignalled),
    CASE(word_unchanged),
    CASE(rwlocks),
    CASE(lock_and_message),
    CASE(lock_and_request),
    CASE(lock_in_mpi_barrier),
    CASE(two_threads),
    CASE(two_joined),
    CASE(sleeps_inside),
    CASE(computes_by_atomics),
    CASE(tries_again),
    CASE(another_thread),
    CASE(joins_another),
    CASE(reads_input),
    CASE(message_comes),
    CASE(late_for_all),
    CASE(outsider_sends),
};

static void
work(const char *name)
{
    for (size_t i = 0; i < sizeof cases / sizeof *cases; i++)
        if (strcmp(name, cases[i].name) == 0) {
            cases[i].work();
            return;
        }
    fprintf(stderr, "deadlock: no case %s\n", name);
    exit(2);
}

/* All ranks, or all but the last. */
static MPI_Comm
job_make(bool whole)
{
    MPI_Comm comm;
    int      rank, ranks;

    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &ranks);
    MPI_Comm_split(MPI_COMM_WORLD,
                   !whole && rank == ranks - 1 ? MPI_UNDEFINED : 0, rank,
                   &comm);
    return comm;
}

int
main(int argc, char **argv)
{
    const char *name = argc > 1 ? argv[1] : "";
    MPI_Comm    comm;
    int         level;

    MPI_Init_thread(&argc, &argv, MPI_THREAD_MULTIPLE, &level);
    comm = job_make(strcmp(name, "outsider_sends") != 0);
    if (comm == MPI_COMM_NULL) {
        work(name);
        MPI_Finalize();
        return 0;
    }
    hearth_init(comm);
    me = hearth_rank();
    size = hearth_size();
    last = size - 1;
    work(name);
    hearth_barrier();
    hearth_finalize();
    MPI_Comm_free(&comm);
    MPI_Finalize();
    return 0;
}
