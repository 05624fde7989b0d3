/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Read faults while the home computes outside MPI.  The raw counterpart is
 * the same fault with the home inside MPI, so the ratio says what the helper
 * thread is worth here.
 */
#include "perf.h"

#include <stdlib.h>

/* Computing time of the home, and the actor's part of it.  Without a helper
 * the first fault lasts until the home calls MPI again: the figure is then
 * about BUSY, and the job goes on. */
static const double BUSY = 60e3;
static const double LEAD = 2e3;
static const double GAP = 300;

static volatile double result;

static void
compute(double us)
{
    double end = perf_now() + us;
    double x = 1;

    while (perf_now() < end)
        for (int i = 0; i < 200; i++)
            x = x * 1.0000001 + 1e-9;
    result = x;
}

/* Load a word of the pages order[0..count-1] until the time is over; the time
 * by fault, without the gaps. */
static double
faults_time(const struct perf *p, const uint64_t *words, const size_t *order,
            size_t count, double gap)
{
    double begin = perf_now();
    double spent = 0;
    size_t i;

    for (i = 0; i < count && perf_now() - begin < BUSY - 3 * LEAD; i++) {
        size_t at = order[i] * p->page / sizeof *words;
        double start;

        if (gap > 0)
            compute(gap);
        start = perf_now();
        if (*(const volatile uint64_t *)(words + at) !=
            ((at + 1) << 20) + p->salt)
            perf_wrong("read_fault_busy_home", at * sizeof *words);
        spent += perf_now() - start;
    }
    return spent / (double)i;
}

/* Half of the pages are read with the home inside MPI, then the other half
 * with the home computing.  All have been read and dropped before. */
static void
busy_round(struct perf *p, double *sample, double gap, size_t limit)
{
    size_t    count = p->fault_pages * p->page / sizeof(uint64_t);
    size_t    half = p->fault_pages / 2 < limit ? p->fault_pages / 2 : limit;
    size_t   *order = perf_shuffled(p->fault_pages);
    uint64_t *words = hearth_alloc(count, sizeof *words, hearth_on(p->peer));

    if (perf_is_peer(p))
        perf_fill(words, count, p->salt);
    hearth_barrier();
    if (perf_acting(p))
        faults_time(p, words, order, p->fault_pages, 0);
    perf_meet(p);
    hearth_barrier();
    if (perf_acting(p))
        sample[1] = faults_time(p, words, order, half, gap);
    perf_meet(p);
    if (perf_is_peer(p))
        compute(BUSY);
    if (perf_acting(p)) {
        compute(LEAD);
        sample[0] = faults_time(p, words, order + half, half, gap);
    }
    perf_meet(p);
    hearth_barrier();
    hearth_free(words);
    free(order);
}

static void
busy_stream(struct perf *p, double *sample)
{
    busy_round(p, sample, 0, p->fault_pages);
}

static void
busy_sparse(struct perf *p, double *sample)
{
    busy_round(p, sample, GAP, 100);
}

const struct perf_figure perf_busy_figures[] = {
    { .name = "read_fault_busy_home",
      .unit = "us",
      .what = "read fault, the home computes outside MPI",
      .against = "the same, the home inside MPI",
      .bound = 5,
      .need = PERF_PEER,
      .round = busy_stream },
    { .name = "read_fault_busy_sparse",
      .unit = "us",
      .what = "the same, 300 us between faults",
      .against = "the same, the home inside MPI",
      .need = PERF_PEER,
      .round = busy_sparse },
    { .name = NULL }
};
