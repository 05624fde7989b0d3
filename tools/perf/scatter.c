/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Writes that leave many short runs of changed bytes: words with others'
 * between them, and numbers whose bytes are partly what they were.  And copies
 * that lie scattered, more of them than the kernel has mappings for.
 */
#include "udp.h"

#include <stdlib.h>
#include <sys/mman.h>

#include "base/machine_part.h"

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
    perf_rest(p);
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

/* Figure: every second word of pages. */
static double
scattered_written(const struct perf *p)
{
    size_t  count = p->fault_pages * p->page / sizeof(double);
    double *words = hearth_alloc(count, sizeof *words, hearth_on(p->peer));
    double  took = written_and_released(p, words, count, 2, "write_scattered");

    hearth_free(words);
    return took / 1e3;
}

/* Raw: all of them by a Put each. */
static void
scattered_round(struct perf *p, double *sample)
{
    sample[0] = scattered_written(p);
    if (perf_acting(p))
        sample[1] = pages_put(p) / 1e3;
    perf_meet(p);
}

/* Raw: a message of bare UDP for each page, as fast as they go. */
static void
scattered_udp(struct perf *p, double *sample)
{
    sample[0] = scattered_written(p);
    if (perf_acting(p))
        sample[1] =
            perf_udp_stream(p, p->fault_pages * p->page, p->page) / 1e3;
    perf_rest(p);
    if (perf_acting(p))
        sample[2] = pages_put(p) / 1e3;
    perf_meet(p);
}

/* ---- many scattered copies ---- */

enum { SCATTERED = 200000, SCATTERED_QUICK = 20000, FEW = 4096 };

/* As many as the cache of any rank has room for. */
static size_t
scattered_count(const struct perf *p)
{
    struct hearthi_machine_part here;
    uint64_t most = p->quick ? SCATTERED_QUICK : SCATTERED, mine, room;

    hearthi_machine_part(&here);
    mine = hearthi_machine_memory(&here) / p->page / 8 / (uint64_t)p->size;
    MPI_Allreduce(&mine, &room, 1, MPI_UINT64_T, MPI_MIN, MPI_COMM_WORLD);
    return most < room * 3 / 4 ? most : room * 3 / 4;
}

/* The word of every second page. */
static size_t
scattered_at(const struct perf *p, size_t i)
{
    return 2 * i * p->page / sizeof(uint64_t);
}

static uint64_t *
scattered_open(const struct perf *p, size_t n)
{
    uint64_t *words =
        hearth_alloc(scattered_at(p, n), sizeof *words, hearth_on(p->peer));

    for (size_t i = 0; perf_is_peer(p) && i < n; i++)
        words[scattered_at(p, i)] = i + p->salt;
    hearth_barrier();
    return words;
}

/* Load a word of each of the first n pages of an order; microseconds. */
static double
scattered_read(const struct perf *p, const uint64_t *words,
               const size_t *order, size_t n)
{
    double start = perf_now();

    for (size_t i = 0; i < n; i++) {
        size_t at = scattered_at(p, order[i]);

        if (*(const volatile uint64_t *)(words + at) != order[i] + p->salt)
            perf_wrong("scattered_read", at * sizeof *words);
    }
    return perf_now() - start;
}

/* Figure: each of many scattered pages, once, in random order.  Raw: the first
 * few of them, which is a page fault each. */
static void
scattered_first_round(struct perf *p, double *sample)
{
    size_t    n = scattered_count(p), few = n < FEW ? n : FEW;
    size_t   *order = perf_shuffled(n);
    uint64_t *words = scattered_open(p, n);

    if (perf_acting(p)) {
        double first = scattered_read(p, words, order, few);
        double rest = scattered_read(p, words, order + few, n - few);

        sample[0] = (first + rest) / (double)n;
        sample[1] = first / (double)few;
    }
    perf_meet(p);
    hearth_free(words);
    free(order);
}

/* Of memory that was just read so: the processor's caches are as warm for the
 * one as for the other. */
static double
scattered_reread(const struct perf *p, const uint64_t *words,
                 const size_t *order, size_t n)
{
    scattered_read(p, words, order, n);
    return 1e3 * scattered_read(p, words, order, n) / (double)n;
}

static double
plain_reread(const struct perf *p, const size_t *order, size_t n)
{
    size_t    bytes = scattered_at(p, n) * sizeof(uint64_t);
    uint64_t *words = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                           MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    double    took;

    if (words == MAP_FAILED)
        abort();
    for (size_t i = 0; i < n; i++)
        words[scattered_at(p, i)] = i + p->salt;
    took = scattered_reread(p, words, order, n);
    munmap(words, bytes);
    return took;
}

/* Figure: the same pages once more.  Raw: memory of the program's own. */
static void
scattered_again_round(struct perf *p, double *sample)
{
    size_t    n = scattered_count(p);
    size_t   *order = perf_shuffled(n);
    uint64_t *words = scattered_open(p, n);

    if (perf_acting(p)) {
        scattered_read(p, words, order, n);
        sample[0] = scattered_reread(p, words, order, n);
        sample[1] = plain_reread(p, order, n);
    }
    perf_meet(p);
    hearth_free(words);
    free(order);
}

const struct perf_figure perf_scatter_figures[] = {
    { .name = "scattered_read",
      .unit = "us",
      .what = "read each of 200,000 scattered pages, once",
      .against = "the first 4096 of them",
      .bound = 1.3,
      .need = PERF_PEER,
      .round = scattered_first_round },
    { .name = "scattered_again",
      .unit = "ns",
      .what = "read them once more, while all are here",
      .against = "own memory",
      .bound = 1.05,
      .need = PERF_PEER,
      .round = scattered_again_round },
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
      .bound = 1.5,
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = scattered_round },
    { .name = "write_scattered",
      .unit = "ms",
      .what = "every second word of pages, and a release",
      .against = "a message of bare UDP for each page",
      .bound = 1.5,
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = scattered_udp,
      .extra = { "put" } },
    { .name = NULL }
};
