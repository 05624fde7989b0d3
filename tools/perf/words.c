/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Words of another rank: adds whose results are not asked for, one word of
 * each of many pages, and a word that is waited for; beside MPI's windows.
 */
#include "perf.h"

#include <stdlib.h>

enum {
    TABLE_WORDS = 1 << 16,
    BINS = 128,
    ADDS_OF_TURN = 32,
    PLACES = 4096,
    PLACES_QUICK = 512
};

/* The same words every time. */
static size_t
next_word(uint32_t *random, size_t words)
{
    *random = *random * 1664525U + 1013904223U;
    return (*random >> 8) % words;
}

static size_t
adds_count(const struct perf *p)
{
    return p->turns * ADDS_OF_TURN;
}

static double
adds_time(const struct perf *p, int64_t *table, size_t words)
{
    uint32_t random = p->salt;
    double   start = perf_now();

    for (size_t i = 0; i < adds_count(p); i++)
        hearth_add(table + next_word(&random, words), 1);
    hearth_atomic_flush();
    return perf_now() - start;
}

/* As many by MPI_Accumulate, flushed in batches. */
static double
raw_adds_time(const struct perf *p, size_t words)
{
    static const int64_t one = 1;
    uint32_t             random = p->salt;
    double               start = perf_now();

    for (size_t i = 0; i < adds_count(p); i++) {
        size_t at = next_word(&random, words) * sizeof one;

        MPI_Accumulate(&one, 1, MPI_INT64_T, p->peer, (MPI_Aint)at, 1,
                       MPI_INT64_T, MPI_SUM, p->raw.allocate);
        if (i % PERF_OUTSTANDING == PERF_OUTSTANDING - 1)
            MPI_Win_flush(p->peer, p->raw.allocate);
    }
    MPI_Win_flush(p->peer, p->raw.allocate);
    return perf_now() - start;
}

/* The peer looks whether all have come. */
static void
adds_check(const struct perf *p, const int64_t *table, size_t words)
{
    int64_t sum = 0;

    hearth_barrier();
    for (size_t i = 0; perf_is_peer(p) && i < words; i++)
        sum += table[i];
    if (perf_is_peer(p) && sum != (int64_t)adds_count(p))
        perf_wrong(p->figure->name, (size_t)sum);
    hearth_barrier();
}

/* The peer is inside MPI meanwhile, so that its window is served. */
static void
adds_round(struct perf *p, double *sample)
{
    size_t   most = p->raw.allocated / sizeof(int64_t);
    size_t   words = p->figure->bytes / sizeof(int64_t);
    int64_t *table = hearth_alloc(words, sizeof *table, hearth_on(p->peer));

    perf_meet(p);
    if (perf_acting(p)) {
        sample[0] = adds_time(p, table, words) / (double)adds_count(p);
        sample[1] = raw_adds_time(p, words < most ? words : most) /
                    (double)adds_count(p);
    }
    perf_meet(p);
    adds_check(p, table, words);
    hearth_free(table);
}

/* ---- one word of each of many pages ---- */

static double
words_fetch_time(const struct perf *p, const int64_t *pages,
                 const size_t *order, size_t n)
{
    const void **place = malloc(n * sizeof *place);
    size_t      *bytes = malloc(n * sizeof *bytes);
    double       start;
    int64_t      sum = 0;

    for (size_t i = 0; i < n; i++) {
        place[i] = (const char *)pages + order[i] * p->page;
        bytes[i] = sizeof *pages;
    }
    start = perf_now();
    hearth_prefetchv(place, bytes, n);
    for (size_t i = 0; i < n; i++)
        sum += *(const volatile int64_t *)place[i];
    start = perf_now() - start;
    if (sum != (int64_t)n)
        perf_wrong("prefetchv", (size_t)sum);
    free(place);
    free(bytes);
    return start;
}

static double
raw_words_time(const struct perf *p, const size_t *order, size_t n)
{
    size_t pages = p->raw.bytes / p->page;
    double start = perf_now();

    for (size_t i = 0; i < n; i++) {
        MPI_Get(p->raw.buffer + i * sizeof(int64_t), sizeof(int64_t), MPI_BYTE,
                p->peer, (MPI_Aint)(order[i] % pages * p->page),
                sizeof(int64_t), MPI_BYTE, p->raw.create);
        if (i % PERF_OUTSTANDING == PERF_OUTSTANDING - 1)
            MPI_Win_flush(p->peer, p->raw.create);
    }
    MPI_Win_flush(p->peer, p->raw.create);
    return perf_now() - start;
}

static void
prefetchv_round(struct perf *p, double *sample)
{
    size_t   n = p->quick ? PLACES_QUICK : PLACES;
    size_t   words = p->page / sizeof(int64_t);
    int64_t *pages =
        hearth_alloc(n * words, sizeof *pages, hearth_on(p->peer));
    size_t *order = perf_shuffled(n);

    for (size_t i = 0; perf_is_peer(p) && i < n; i++)
        pages[i * words] = 1;
    hearth_barrier();
    perf_meet(p);
    if (perf_acting(p)) {
        sample[0] = words_fetch_time(p, pages, order, n) / (double)n;
        sample[1] = raw_words_time(p, order, n) / (double)n;
    }
    perf_meet(p);
    free(order);
    hearth_free(pages);
}

/* ---- a word that is waited for ---- */

/* Two words, one at home at each of the two: a number goes round. */
static double
waits_time(const struct perf *p, int64_t *word[2], size_t turns)
{
    int64_t *own = word[perf_is_peer(p)], *other = word[!perf_is_peer(p)];
    double   start = perf_now();

    for (size_t i = 1; i <= turns; i++) {
        if (perf_is_peer(p))
            hearth_wait_until(own, HEARTH_GE, (int64_t)i);
        hearth_fetch_add(other, 1);
        if (perf_acting(p))
            hearth_wait_until(own, HEARTH_GE, (int64_t)i);
    }
    return perf_now() - start;
}

static void
wait_round(struct perf *p, double *sample)
{
    size_t   turns = p->turns / 10;
    int64_t *word[2];

    word[0] = hearth_alloc(1, sizeof(int64_t), hearth_on(PERF_ACTOR));
    word[1] = hearth_alloc(1, sizeof(int64_t), hearth_on(p->peer));
    perf_meet(p);
    if (perf_taking_part(p))
        sample[0] = waits_time(p, word, turns) / (double)turns;
    perf_meet(p);
    sample[1] =
        perf_raw_bounce(p, sizeof(int64_t), turns, NULL) / (double)turns;
    hearth_free(word[1]);
    hearth_free(word[0]);
}

#define ADDS(NAME, WORDS, WHAT)                                           \
    {                                                                     \
        .name = NAME, .unit = "us", .what = WHAT,                         \
        .against = "MPI_Accumulate, flushed each 128", .need = PERF_PEER, \
        .bytes = (WORDS) * sizeof(int64_t), .round = adds_round           \
    }

const struct perf_figure perf_word_figures[] = {
    ADDS("gups", TABLE_WORDS, "hearth_add to random words of another rank"),
    ADDS("histogram", BINS, "hearth_add to 128 words of another rank"),
    { .name = "prefetchv",
      .unit = "us",
      .what = "hearth_prefetchv and a load, of one word of each page",
      .against = "MPI_Get of the word, flushed each 128",
      .need = PERF_PEER,
      .round = prefetchv_round },
    { .name = "wait",
      .unit = "us",
      .what = "hearth_fetch_add and hearth_wait_until, there and back",
      .against = "MPI_Send and MPI_Recv of a word",
      .need = PERF_PEER,
      .round = wait_round },
    { .name = NULL }
};
