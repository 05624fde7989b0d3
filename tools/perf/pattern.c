/* SPDX-License-Identifier: BSD-2-Clause */
/* Faults in patterns that are not one row forwards, by the page.  Raw: a
 * message for each. */
#include "perf.h"

#include <stdlib.h>

enum { ROWS = 32 };

/* The i-th of n pages. */
typedef size_t order_fn(size_t i, size_t n);

static size_t
backwards(size_t i, size_t n)
{
    return n - 1 - i;
}

static size_t
every_second(size_t i, size_t n)
{
    return i < n / 2 ? 2 * i : 2 * (i - n / 2) + 1;
}

static size_t
in_rows(size_t i, size_t n)
{
    return i % ROWS * (n / ROWS) + i / ROWS;
}

static size_t *
order_make(const struct perf *p, order_fn *at)
{
    size_t *order = malloc(p->fault_pages * sizeof *order);

    if (order == NULL)
        abort();
    for (size_t i = 0; i < p->fault_pages; i++)
        order[i] = at(i, p->fault_pages);
    return order;
}

static void
pages_touch(const struct perf *p, uint64_t *words, const size_t *order,
            size_t n, bool write)
{
    size_t per_page = p->page / sizeof *words;

    for (size_t i = 0; i < n; i++) {
        size_t             at = order[i] * per_page;
        volatile uint64_t *word = words + at;

        if (write)
            *word = i + p->salt;
        else if (*word != ((at + 1) << 20) + p->salt)
            perf_wrong("pattern", at * sizeof *words);
    }
}

/* Figure: one word of the first `share` of the pages in an order, which were
 * never here; with the barrier, if they are written. */
static void
pattern_round(struct perf *p, double *sample, order_fn *at, size_t share,
              bool write)
{
    size_t    count = p->fault_pages * p->page / sizeof(uint64_t);
    size_t    n = p->fault_pages / share;
    size_t   *order = order_make(p, at);
    uint64_t *words = hearth_alloc(count, sizeof *words, hearth_on(p->peer));
    double    start;

    if (perf_is_peer(p))
        perf_fill(words, count, p->salt);
    hearth_barrier();
    start = perf_now();
    if (perf_acting(p))
        pages_touch(p, words, order, n, write);
    if (write)
        hearth_barrier();
    sample[0] = (perf_now() - start) / (double)n;
    perf_meet(p);
    if (perf_acting(p)) {
        double all = (double)p->fault_pages;

        sample[2] = perf_empty_faults(p, order, PERF_FIRST) / all;
        sample[3] = (write ? perf_raw_puts(p, p->raw.create) : 0) / all +
                    perf_raw_gets(p, p->raw.create, order) / all;
        sample[1] = sample[2] + sample[3];
    }
    perf_meet(p);
    hearth_free(words);
    free(order);
}

static void
read_backwards(struct perf *p, double *sample)
{
    pattern_round(p, sample, backwards, 1, false);
}

static void
read_seconds(struct perf *p, double *sample)
{
    pattern_round(p, sample, every_second, 2, false);
}

static void
write_rows(struct perf *p, double *sample)
{
    pattern_round(p, sample, in_rows, 1, true);
}

const struct perf_figure perf_pattern_figures[] = {
    { .name = "read_backwards",
      .unit = "us",
      .what = "one word of each page, from the last to the first",
      .against = "empty fault + MPI_Get of a page and flush",
      .need = PERF_PEER,
      .round = read_backwards,
      .extra = { "empty", "gets" } },
    { .name = "read_seconds",
      .unit = "us",
      .what = "one word of each second page",
      .against = "empty fault + MPI_Get of a page and flush",
      .need = PERF_PEER,
      .round = read_seconds,
      .extra = { "empty", "gets" } },
    { .name = "write_rows",
      .unit = "us",
      .what = "one word of each page of 32 rows that take turns, barrier",
      .against = "empty fault + MPI_Get of a page + MPI_Put of a word",
      .need = PERF_PEER,
      .round = write_rows,
      .extra = { "empty", "get_put" } },
    { .name = NULL }
};
