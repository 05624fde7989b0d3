/* SPDX-License-Identifier: BSD-2-Clause */
/* Atomic steps beside each other, and beside a lock. */
#include "perf.h"

/* The two take turns, so that a noisy machine hits both. */
enum { PERF_CHUNK = 50 };

/* A remote word is swapped for the number that comes next, or one is added. */
static double
swaps_time(int64_t *word, size_t from, size_t turns)
{
    double start = perf_now();

    for (size_t i = from; i < from + turns; i++)
        if (hearth_compare_swap(word, (int64_t)i, (int64_t)i + 1) !=
            (int64_t)i)
            perf_wrong("compare_swap", i);
    return perf_now() - start;
}

static double
adds_time(int64_t *word, size_t turns)
{
    double start = perf_now();

    for (size_t i = 0; i < turns; i++)
        hearth_fetch_add(word, 1);
    return perf_now() - start;
}

static void
word_swap(struct perf *p, double *sample)
{
    int64_t *word = hearth_alloc(2, sizeof *word, hearth_on(p->peer));

    perf_rest(p);
    for (size_t i = 0; perf_acting(p) && i < p->turns; i += PERF_CHUNK) {
        sample[1] += adds_time(word + 1, PERF_CHUNK) / (double)p->turns;
        sample[0] += swaps_time(word, i, PERF_CHUNK) / (double)p->turns;
    }
    perf_meet(p);
    hearth_free(word);
}

/* All ranks count one word up; a step of one rank, in microseconds. */
static double
count_time(const struct perf *p, int64_t *word, int lock)
{
    size_t turns = p->turns / 10;
    double start;

    hearth_barrier();
    start = perf_now();
    for (size_t i = 0; i < turns; i++)
        if (lock < 0) {
            hearth_fetch_add(word, 1);
        } else {
            hearth_lock(lock);
            ++*(volatile int64_t *)word;
            hearth_unlock(lock);
        }
    hearth_barrier();
    start = perf_now() - start;
    if (perf_acting(p) && *word != (int64_t)(turns * (size_t)p->size))
        perf_wrong("counter", 0);
    hearth_barrier();
    return start / (double)turns;
}

static void
counter(struct perf *p, double *sample)
{
    int64_t *word = hearth_alloc(1024, sizeof *word, hearth_cyclic(1));

    sample[0] = count_time(p, word, -1);
    sample[1] = count_time(p, word + 512, p->size);
    hearth_free(word);
}

/* ---- two ranks that spin ---- */

/* Of a word that counts turns, which are the two ranks' in turn. */
static int64_t
hearth_step(const struct perf *p, int64_t *word, int64_t next)
{
    (void)p;
    return next == 0 ? hearth_fetch_add(word, 0) : hearth_swap(word, next);
}

static int64_t
raw_step(const struct perf *p, int64_t *word, int64_t next)
{
    int64_t was;

    (void)word;
    MPI_Fetch_and_op(&next, &was, MPI_INT64_T, p->peer, 0,
                     next == 0 ? MPI_NO_OP : MPI_REPLACE, p->raw.create);
    MPI_Win_flush(p->peer, p->raw.create);
    return was;
}

/* Actor and peer, from `first` on.  A program that spins gives its core away,
 * to whoever else has work there. */
static double
spin_time(const struct perf *p, int64_t *word, int64_t first,
          int64_t (*step)(const struct perf *, int64_t *, int64_t))
{
    int64_t turns = (int64_t)p->turns / 10;
    double  start = perf_now();

    for (int64_t k = perf_acting(p) ? 0 : 1; k < turns; k += 2) {
        while (step(p, word, 0) != first + k)
            sched_yield();
        if (step(p, word, first + k + 1) != first + k)
            perf_wrong("spin_turn", (size_t)k);
    }
    while (perf_acting(p) && step(p, word, 0) != first + turns)
        sched_yield();
    return (perf_now() - start) / (double)turns;
}

static void
spin(struct perf *p, double *sample)
{
    int64_t *word = hearth_alloc(1, sizeof *word, hearth_on(p->peer));
    int64_t  first = 1;

    if (perf_is_peer(p)) {
        raw_step(p, NULL, first);
        *word = first;
    }
    hearth_barrier();
    if (perf_taking_part(p))
        sample[0] = spin_time(p, word, first, hearth_step);
    perf_rest(p);
    if (perf_taking_part(p))
        sample[1] = spin_time(p, NULL, first, raw_step);
    perf_meet(p);
    hearth_free(word);
}

const struct perf_figure perf_atomic_figures[] = {
    { .name = "compare_swap",
      .unit = "us",
      .what = "hearth_compare_swap on a remote word",
      .against = "hearth_fetch_add",
      .bound = 1.2,
      .need = PERF_PEER,
      .round = word_swap },
    { .name = "counter",
      .unit = "us",
      .what = "a word that all ranks count up by hearth_fetch_add",
      .against = "the same under a lock",
      .bound = 0.333,
      .round = counter },
    { .name = "spin_turn",
      .unit = "us",
      .what =
          "a turn of two ranks that wait for a word by hearth_fetch_add of "
          "0 and sched_yield, and swap it",
      .against = "the same by MPI_Fetch_and_op and flush",
      .bound = 2,
      .need = PERF_PEER,
      .round = spin },
    { .name = NULL }
};
