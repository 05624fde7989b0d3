/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Home pages are plain memory as long as no other node has read them: writing
 * and scanning them takes the time of malloc'ed memory.  Both are touched
 * before, passes over both alternate, and barriers between the passes give
 * the library its chance to protect something.
 */
#include "perf.h"

#include <stdlib.h>

enum { PASSES = 4 };

static volatile uint64_t result;

static double
memory_pass(uint64_t *words, size_t count, uint64_t salt)
{
    double   start = perf_now();
    uint64_t sum = 0;

    perf_fill(words, count, salt);
    for (size_t i = 0; i < count; i++)
        sum += words[i];
    result = sum;
    return perf_now() - start;
}

/* One pass over each, the order changing: on a busy machine whoever comes
 * first has more of its time slice left.  Pass 0 only touches. */
static void
passes_alternate(const struct perf *p, uint64_t *heap, uint64_t *plain,
                 size_t count, int pass, double *sample)
{
    for (int turn = 0; turn < 2; turn++) {
        int    k = (turn + pass) % 2;
        double us = memory_pass(k ? plain : heap, count, p->salt);

        if (pass > 0)
            sample[k] += us / PASSES / 1e3;
    }
}

static void
home_round(struct perf *p, double *sample, int home)
{
    size_t    count = p->stream_bytes / 4 / sizeof(uint64_t);
    uint64_t *heap = hearth_alloc(count, sizeof *heap, hearth_on(home));
    uint64_t *plain = malloc(count * sizeof *plain);

    if (!plain)
        abort();
    sample[0] = sample[1] = 0;
    for (int i = 0; i <= PASSES; i++) {
        if (perf_acting(p))
            passes_alternate(p, heap, plain, count, i, sample);
        perf_meet(p);
        hearth_barrier();
    }
    free(plain);
    hearth_free(heap);
}

static void
home_own(struct perf *p, double *sample)
{
    home_round(p, sample, PERF_ACTOR);
}

static void
home_mate(struct perf *p, double *sample)
{
    home_round(p, sample, p->mate);
}

const struct perf_figure perf_home_figures[] = {
    { .name = "home_own",
      .unit = "ms",
      .what = "own home pages, written and scanned",
      .against = "malloc'ed memory",
      .bound = 1.05,
      .need = PERF_ANY,
      .round = home_own },
    { .name = "home_mate",
      .unit = "ms",
      .what = "a node-mate's home pages, written and scanned",
      .against = "malloc'ed memory",
      .bound = 1.05,
      .need = PERF_MATE,
      .round = home_mate },
    { .name = NULL }
};
