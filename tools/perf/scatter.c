/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes that leave many short runs of changed bytes: words with others'
 * between them, and numbers whose bytes are partly what they were.
 */
#include "perf.h"

enum { NUMBERS = 1 << 20 }; /* 8 MiB */

/* The pages are here; stores and release count.  The peer checks. */
static double
written_and_released(const struct perf *p, double *words, size_t count,
                     size_t step, const char *figure)
{
    double start, took = 0;
    size_t wrong = count;

    if (perf_acting(p)) {
        hearth_prefetch(words, count * sizeof *words);
        start = perf_now();
        for (size_t i = 0; i < count; i += step)
            words[i] = 1.0 / (double)(i + p->salt);
        hearth_release(words, count * sizeof *words);
        took = perf_now() - start;
    }
    perf_meet(p);
    hearth_barrier();
    for (size_t i = 0; perf_is_peer(p) && i < count; i++)
        if (words[i] != (i % step == 0 ? 1.0 / (double)(i + p->salt) : 0.0))
            wrong = i;
    if (wrong < count)
        perf_wrong(figure, wrong * sizeof *words);
    hearth_barrier();
    return took;
}

static double
numbers_written(const struct perf *p, size_t unit)
{
    double *numbers = hearth_alloc(NUMBERS * sizeof *numbers / unit, unit,
                                   hearth_on(p->peer));
    double  took =
        written_and_released(p, numbers, NUMBERS, 1, "write_untyped");

    hearth_free(numbers);
    return took;
}

/* Figure: an allocation of bytes.  Raw: of numbers. */
static void
untyped_round(struct perf *p, double *sample)
{
    sample[0] = numbers_written(p, 1) / 1e3;
    sample[1] = numbers_written(p, sizeof(double)) / 1e3;
}

static double
pages_put(const struct perf *p)
{
    double start = perf_now();

    for (size_t i = 0; i < p->fault_pages; i++) {
        size_t at = i * p->page;

        MPI_Put(p->raw.buffer + at, (int)p->page, MPI_BYTE, p->peer,
                (MPI_Aint)at, (int)p->page, MPI_BYTE, p->raw.create);
        if (i % PERF_OUTSTANDING == PERF_OUTSTANDING - 1)
            MPI_Win_flush(p->peer, p->raw.create);
    }
    MPI_Win_flush(p->peer, p->raw.create);
    return perf_now() - start;
}

/* Figure: every second word of pages.  Raw: all of them by a Put each. */
static void
scattered_round(struct perf *p, double *sample)
{
    size_t  count = p->fault_pages * p->page / sizeof(double);
    double *words = hearth_alloc(count, sizeof *words, hearth_on(p->peer));

    sample[0] =
        written_and_released(p, words, count, 2, "write_scattered") / 1e3;
    if (perf_acting(p))
        sample[1] = pages_put(p) / 1e3;
    perf_meet(p);
    hearth_free(words);
}

const struct perf_figure perf_scatter_figures[] = {
    { .name = "write_untyped",
      .unit = "ms",
      .what = "8 MiB of numbers in an allocation of bytes, and a release",
      .against = "in an allocation of numbers",
      .bound = 2,
      .need = PERF_PEER,
      .round = untyped_round },
    { .name = "write_scattered",
      .unit = "ms",
      .what = "every second word of pages, and a release",
      .against = "MPI_Put of each page",
      .bound = 2,
      .need = PERF_PEER,
      .round = scattered_round },
    { .name = NULL }
};
