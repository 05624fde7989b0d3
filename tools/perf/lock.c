/* SPDX-License-Identifier: BSD-2-Clause */
/* Locks. */
#include "perf.h"
#include "udp.h"

#include <pthread.h>

/* Locks that the peer manages, beside the first, which others use. */
enum { LOCKS = 128 };

static int
lock_of(const struct perf *p, size_t i)
{
    return p->size * (int)(2 + i % LOCKS) + p->peer;
}

/* Locks that do not stay: each is taken once, after the peer had it. */
static double
locks_time(const struct perf *p, size_t from, size_t turns)
{
    double start = perf_now();

    for (size_t i = from; i < from + turns; i++) {
        hearth_lock(lock_of(p, i));
        hearth_unlock(lock_of(p, i));
    }
    return perf_now() - start;
}

static size_t
locks_prepare(const struct perf *p)
{
    if (perf_is_peer(p))
        locks_time(p, 0, LOCKS);
    perf_meet(p);
    return p->turns < LOCKS ? p->turns : LOCKS;
}

/* Four MPI_Fetch_and_op, each flushed, on a window of each kind. */
static void
lock_raw(struct perf *p, double *each)
{
    double n = (double)p->turns;

    each[0] = perf_raw_atomics(p, p->raw.allocate, 4 * p->turns) / n;
    each[1] = perf_raw_atomics(p, p->raw.create, 4 * p->turns) / n;
}

/* Figure: a lock whose manager is the peer, which waits inside MPI and does
 * not want it.  Raw: the window of the kind that is cheaper here (extras: each
 * kind). */
static void
lock_alone(struct perf *p, double *sample)
{
    size_t turns;

    perf_meet(p);
    turns = locks_prepare(p);
    if (perf_acting(p)) {
        sample[0] = locks_time(p, 0, turns) / (double)turns;
        lock_raw(p, sample + 2);
        sample[1] = sample[2] < sample[3] ? sample[2] : sample[3];
    }
    perf_meet(p);
}

/* Figure: the peer is asleep.  Raw: two empty messages there, each with one
 * back; both sides take turns, as in fault.c. */
static void
lock_alone_udp(struct perf *p, double *sample)
{
    size_t turns = locks_prepare(p) / PERF_UDP_CHUNK * PERF_UDP_CHUNK;
    double n = (double)turns;

    perf_rest(p);
    for (size_t i = 0; perf_acting(p) && i < turns; i += PERF_UDP_CHUNK) {
        sample[0] += locks_time(p, i, PERF_UDP_CHUNK) / n;
        sample[1] += perf_udp_empty(p, 2 * PERF_UDP_CHUNK) / n;
    }
    perf_rest(p);
    if (perf_acting(p))
        lock_raw(p, sample + 2);
    perf_meet(p);
}

/* Figure: a lock that stays, with `word` stored to inside if that is not NULL.
 * Raw: the same with a mutex and a word of this process. */
static void
lock_stays(const struct perf *p, volatile int64_t *word, double *sample)
{
    enum { MORE = 100 };
    static pthread_mutex_t mutex = PTHREAD_MUTEX_INITIALIZER;
    volatile int64_t       own = 0;
    double                 n = (double)p->turns * MORE, start = 0;

    perf_meet(p);
    for (size_t i = 0; perf_acting(p) && i < p->turns * MORE + MORE; i++) {
        if (i == MORE)
            start = perf_now();
        hearth_lock(p->peer);
        if (word != NULL)
            ++*word;
        hearth_unlock(p->peer);
    }
    if (perf_acting(p)) {
        sample[0] = (perf_now() - start) / n;
        start = perf_now();
        for (size_t i = 0; i < p->turns * MORE; i++) {
            pthread_mutex_lock(&mutex);
            own++;
            pthread_mutex_unlock(&mutex);
        }
        sample[1] = (perf_now() - start) / n;
    }
    perf_meet(p);
}

static void
lock_again(struct perf *p, double *sample)
{
    lock_stays(p, NULL, sample);
}

static void
lock_store(struct perf *p, double *sample)
{
    int64_t *word = hearth_alloc(1, sizeof *word, hearth_on(p->peer));

    lock_stays(p, word, sample);
    hearth_free(word);
}

static void
spend(double time)
{
    double start = perf_now();

    while (perf_now() - start < time)
        ;
}

/* Both ranks take the same lock in turn, each for so many microseconds that
 * the other comes to wait meanwhile, and count a word up if there is one; what
 * a turn takes beyond that. */
static double
handover_time(const struct perf *p, double held, volatile int64_t *word)
{
    int    lock = p->size + p->peer;
    double start;

    perf_meet(p);
    start = perf_now();
    if (perf_acting(p) || perf_is_peer(p))
        for (size_t i = 0; i < p->turns; i++) {
            hearth_lock(lock);
            if (word != NULL)
                (*word)++;
            spend(held);
            hearth_unlock(lock);
        }
    perf_meet(p);
    return (perf_now() - start) / (2.0 * (double)p->turns) - held;
}

/* An empty message there and back. */
static double
empty_time(const struct perf *p)
{
    int    other = perf_acting(p) ? p->peer : PERF_ACTOR;
    bool   here = perf_acting(p) || perf_is_peer(p);
    double start;

    perf_meet(p);
    start = perf_now();
    for (size_t i = 0; here && i < p->turns; i++) {
        if (perf_acting(p))
            MPI_Send(NULL, 0, MPI_BYTE, other, 1, p->raw.comm);
        MPI_Recv(NULL, 0, MPI_BYTE, other, 1, p->raw.comm, MPI_STATUS_IGNORE);
        if (perf_is_peer(p))
            MPI_Send(NULL, 0, MPI_BYTE, other, 1, p->raw.comm);
    }
    perf_meet(p);
    return (perf_now() - start) / (double)p->turns;
}

/* The word is at home on the peer, or nowhere. */
static void
handed(struct perf *p, volatile int64_t *word, double *sample)
{
    sample[1] = empty_time(p);
    sample[0] = handover_time(p, 20, word);
}

static void
handed_udp(struct perf *p, volatile int64_t *word, double *sample)
{
    sample[2] = empty_time(p);
    perf_rest(p);
    if (perf_acting(p))
        sample[1] = perf_udp_empty(p, p->turns) / (double)p->turns;
    perf_rest(p);
    sample[0] = handover_time(p, 200, word);
}

static void
lock_handed(struct perf *p, double *sample)
{
    handed(p, NULL, sample);
}

static void
lock_handed_udp(struct perf *p, double *sample)
{
    handed_udp(p, NULL, sample);
}

static void
counter_check(const struct perf *p, int64_t *word)
{
    hearth_barrier();
    if (perf_acting(p) && *word != 2 * (int64_t)p->turns)
        perf_wrong("lock_counter", (size_t)*word);
    perf_meet(p);
    hearth_free(word);
}

static void
counter_handed(struct perf *p, double *sample)
{
    int64_t *word = hearth_alloc(1, sizeof *word, hearth_on(p->peer));

    handed(p, word, sample);
    counter_check(p, word);
}

static void
counter_handed_udp(struct perf *p, double *sample)
{
    int64_t *word = hearth_alloc(1, sizeof *word, hearth_on(p->peer));

    handed_udp(p, word, sample);
    counter_check(p, word);
}

const struct perf_figure perf_lock_figures[] = {
    { .name = "lock_unlock",
      .unit = "us",
      .what = "lock and unlock, uncontended, manager remote",
      .against = "4 MPI_Fetch_and_op, each flushed",
      .bound = 1.5,
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = lock_alone,
      .extra = { "raw_allocate", "raw_create" } },
    { .name = "lock_unlock",
      .unit = "us",
      .what = "lock and unlock, uncontended, manager remote and asleep",
      .against = "2 empty messages there and back over bare UDP",
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = lock_alone_udp,
      .extra = { "raw_mpi_allocate", "raw_mpi_create" } },
    { .name = "lock_again",
      .unit = "us",
      .what = "lock and unlock by the last holder, manager remote",
      .against = "pthread_mutex_lock and pthread_mutex_unlock",
      .bound = 3,
      .need = PERF_PEER,
      .round = lock_again },
    { .name = "lock_store",
      .unit = "us",
      .what = "the same with a store to a remote page inside",
      .against = "the same with a word of the process",
      .need = PERF_PEER,
      .round = lock_store },
    { .name = "lock_handover",
      .unit = "us",
      .what = "from unlock to the return of the other rank's lock",
      .against = "empty message there and back",
      .bound = 1.5,
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = lock_handed },
    { .name = "lock_handover",
      .unit = "us",
      .what = "from unlock to the return of the other rank's lock",
      .against = "empty message there and back over bare UDP",
      .bound = 1.5,
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = lock_handed_udp,
      .extra = { "raw_mpi" } },
    { .name = "lock_counter",
      .unit = "us",
      .what = "the same of a word that both count up, at home on one of them",
      .against = "empty message there and back",
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = counter_handed },
    { .name = "lock_counter",
      .unit = "us",
      .what = "the same of a word that both count up, at home on one of them",
      .against = "empty message there and back over bare UDP",
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = counter_handed_udp,
      .extra = { "raw_mpi" } },
    { .name = NULL }
};
