/* SPDX-License-Identifier: BSD-2-Clause */
/* What the library's threads cost a program that does not use it. */
#define _GNU_SOURCE
#include "perf.h"

#include <time.h>

static const time_t NAP = 2; /* seconds */
static const long   NAP_QUICK = 500000000;

static double
clock_us(clockid_t clock)
{
    struct timespec t;

    clock_gettime(clock, &t);
    return (double)t.tv_sec * 1e6 + (double)t.tv_nsec * 1e-3;
}

/* Time that cores spent on this process, but for this thread. */
static double
others_us(void)
{
    return clock_us(CLOCK_PROCESS_CPUTIME_ID) -
           clock_us(CLOCK_THREAD_CPUTIME_ID);
}

/* Figure: the threads of the rank where they take most, MPI's own included,
 * while every rank sleeps outside Hearth and MPI. */
static void
idle_round(struct perf *p, double *sample)
{
    struct timespec nap = { .tv_sec = p->quick ? 0 : NAP,
                            .tv_nsec = p->quick ? NAP_QUICK : 0 };
    double          start, spent, percent;

    perf_rest(p);
    start = perf_now();
    spent = others_us();
    nanosleep(&nap, NULL);
    percent = 100 * (others_us() - spent) / (perf_now() - start);
    if (percent < 0) /* the two clocks are not read at once */
        percent = 0;
    perf_rest(p);
    MPI_Reduce(&percent, sample, 1, MPI_DOUBLE, MPI_MAX, PERF_ACTOR,
               p->raw.comm);
    sample[1] = 100;
}

const struct perf_figure perf_idle_figures[] = {
    { .name = "idle_service",
      .unit = "%",
      .what = "threads of a rank that sleeps",
      .against = "a core",
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = idle_round },
    { .name = "idle_service",
      .unit = "%",
      .what = "threads of a rank that sleeps",
      .against = "a core",
      .bound = 0.001,
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = idle_round },
    { .name = NULL }
};
