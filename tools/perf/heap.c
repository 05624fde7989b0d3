/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Large memory at home that no other node has read, beside memory of malloc's
 * kind for which the kernel may use huge pages (madvise(2), MADV_HUGEPAGE):
 * what differs is how many entries the processor's translation buffer has for
 * it.
 */
#include "perf.h"

#include <stdint.h>
#include <stdlib.h>
#include <sys/mman.h>

enum { PASSES = 2, READS = 1 << 20, ARRAYS = 3, LINE = 64 };

/* What is read, so that no compiler leaves it out. */
static volatile uint64_t result;

/* Both memories, touched and with the same words. */
struct memories {
    size_t    bytes;
    uint64_t *of[2]; /* the heap's, the other */
};

static uint64_t *
huge_memory(size_t bytes)
{
    void *p = mmap(NULL, bytes, PROT_READ | PROT_WRITE,
                   MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);

    if (p == MAP_FAILED)
        abort();
    madvise(p, bytes, MADV_HUGEPAGE);
    return p;
}

static void
memories_new(const struct perf *p, struct memories *m)
{
    m->bytes = p->stream_bytes;
    m->of[0] = hearth_alloc(m->bytes, 1, hearth_on(PERF_ACTOR));
    m->of[1] = perf_acting(p) ? huge_memory(m->bytes) : NULL;
}

static void
memories_free(struct memories *m)
{
    if (m->of[1] != NULL)
        munmap(m->of[1], m->bytes);
    hearth_free(m->of[0]);
}

/* A generator of its own for each pass: splitmix64's step. */
static uint64_t
next(uint64_t *state)
{
    uint64_t z = *state += UINT64_C(0x9e3779b97f4a7c15);

    z = (z ^ (z >> 30)) * UINT64_C(0xbf58476d1ce4e5b9);
    z = (z ^ (z >> 27)) * UINT64_C(0x94d049bb133111eb);
    return z ^ (z >> 31);
}

/* Nanoseconds of a read. */
static double
random_pass(const uint64_t *word, size_t bytes, uint64_t salt)
{
    const size_t count = bytes / sizeof *word;
    double       start = perf_now();
    uint64_t     sum = 0, state = salt;

    for (int i = 0; i < READS; i++)
        sum += word[next(&state) % count];
    result = sum;
    return (perf_now() - start) * 1e3 / READS;
}

/* The first word of each line names the line that is next: one cycle through
 * all of them. */
static void
chain_make(uint64_t *word, const size_t *order, size_t lines)
{
    for (size_t i = 0; i < lines; i++)
        word[order[i] * (LINE / sizeof *word)] = order[(i + 1) % lines];
}

static double
chase_pass(const uint64_t *word, size_t bytes, uint64_t salt)
{
    const int reads = READS / 4;
    double    start = perf_now();
    uint64_t  at = salt % (bytes / LINE);

    for (int i = 0; i < reads; i++)
        at = word[at * (LINE / sizeof *word)];
    result = at;
    return (perf_now() - start) * 1e3 / reads;
}

/* STREAM's triad, in MB/s (McCalpin, 1995). */
static double
triad_pass(const uint64_t *word, size_t bytes, uint64_t salt)
{
    const size_t  count = bytes / ARRAYS / sizeof(double);
    double       *a = (double *)word;
    const double *b = a + count, *c = b + count, scale = (double)(salt % 7);
    double        start = perf_now();

    for (size_t i = 0; i < count; i++)
        a[i] = b[i] + scale * c[i];
    result = word[salt % count];
    return (double)bytes / (perf_now() - start);
}

static void
chains_make(const struct memories *m)
{
    size_t  lines = m->bytes / LINE;
    size_t *order = perf_shuffled(lines);

    for (int k = 0; k < 2; k++)
        chain_make(m->of[k], order, lines);
    free(order);
}

typedef double pass_fn(const uint64_t *word, size_t bytes, uint64_t salt);

/* By turns, as passes_alternate() of home.c: pass 0 only touches. */
static void
heap_round(struct perf *p, double *sample, pass_fn *pass,
           void (*make)(const struct memories *m))
{
    struct memories m;

    memories_new(p, &m);
    sample[0] = sample[1] = 0;
    if (perf_acting(p)) {
        make(&m);
        for (int i = 0; i < 2 * (PASSES + 1); i++) {
            int    k = (i + i / 2) % 2;
            double got = pass(m.of[k], m.bytes, p->salt + (unsigned)i / 2);

            if (i >= 2)
                sample[k] += got / PASSES;
        }
    }
    perf_meet(p);
    hearth_barrier();
    memories_free(&m);
}

static void
words_make(const struct memories *m)
{
    for (int k = 0; k < 2; k++)
        perf_fill(m->of[k], m->bytes / sizeof(uint64_t), 1);
}

static void
numbers_make(const struct memories *m)
{
    for (int k = 0; k < 2; k++)
        for (size_t i = 0; i < m->bytes / sizeof(double); i++)
            ((double *)m->of[k])[i] = 1;
}

static void
heap_random(struct perf *p, double *sample)
{
    heap_round(p, sample, random_pass, words_make);
}

static void
heap_chase(struct perf *p, double *sample)
{
    heap_round(p, sample, chase_pass, chains_make);
}

static void
heap_stream(struct perf *p, double *sample)
{
    heap_round(p, sample, triad_pass, numbers_make);
}

const struct perf_figure perf_heap_figures[] = {
    { .name = "heap_random",
      .unit = "ns",
      .what = "a random word of the own home, read",
      .against = "of memory with huge pages",
      .bound = 1.05,
      .need = PERF_ANY,
      .round = heap_random },
    { .name = "heap_chase",
      .unit = "ns",
      .what = "a chain through the own home, a step",
      .against = "through memory with huge pages",
      .bound = 1.05,
      .need = PERF_ANY,
      .round = heap_chase },
    { .name = "heap_stream",
      .unit = "MB/s",
      .what = "STREAM's triad in the own home",
      .against = "in memory with huge pages",
      .bound = 0.97,
      .sense = PERF_AT_LEAST,
      .need = PERF_ANY,
      .round = heap_stream },
    { .name = NULL }
};
