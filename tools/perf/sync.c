/* SPDX-License-Identifier: BSD-2-Clause */
/* Barriers and atomics. */
#include "perf.h"
#include "udp.h"

#include <stdlib.h>
#include <sys/mman.h>

static double
barriers_time(const struct perf *p)
{
    double start;

    perf_meet(p);
    hearth_barrier();
    start = perf_now();
    for (size_t i = 0; i < p->turns; i++)
        hearth_barrier();
    return (perf_now() - start) / (double)p->turns;
}

static double
allgathers_time(const struct perf *p)
{
    char  *all = calloc((size_t)p->size, 64);
    char   mine[64] = { 0 };
    double start;

    perf_meet(p);
    MPI_Allgather(mine, 64, MPI_BYTE, all, 64, MPI_BYTE, p->raw.comm);
    start = perf_now();
    for (size_t i = 0; i < p->turns; i++)
        MPI_Allgather(mine, 64, MPI_BYTE, all, 64, MPI_BYTE, p->raw.comm);
    start = (perf_now() - start) / (double)p->turns;
    free(all);
    return start;
}

static void
barrier_clean(struct perf *p, double *sample)
{
    sample[0] = barriers_time(p);
    sample[1] = allgathers_time(p);
}

/* Raw: an empty message there and one back, which is what two ranks need to
 * know of each other. */
static void
barrier_clean_udp(struct perf *p, double *sample)
{
    sample[0] = barriers_time(p);
    perf_rest(p);
    if (perf_acting(p))
        sample[1] = perf_udp_empty(p, p->turns) / (double)p->turns;
    perf_rest(p);
    sample[2] = allgathers_time(p);
}

/* Load one word of every page of the rank after this one. */
static void
neighbour_read(const struct perf *p, const uint64_t *words)
{
    size_t step = p->page / sizeof *words;
    size_t each = p->held_pages * step;
    size_t from = (size_t)((p->rank + 1) % p->size) * each;

    for (size_t at = from; at < from + each; at += step)
        if (*(const volatile uint64_t *)(words + at) != at + 1)
            perf_wrong("barrier_16384", at * sizeof *words);
}

/*
 * Every rank holds clean copies of its neighbour's pages: read twice, because
 * the copies of the first reading are provisional.  Raw: the same barrier in
 * the same round, the mean of before any page was read and after all copies
 * are gone.
 */
static void
barrier_holding(struct perf *p, double *sample)
{
    size_t    step = p->page / sizeof(uint64_t);
    size_t    each = p->held_pages * step;
    uint64_t *words =
        hearth_alloc(each * (size_t)p->size, sizeof *words, hearth_block());
    double before;

    for (size_t i = 0; i < p->held_pages; i++) {
        size_t at = (size_t)p->rank * each + i * step;

        words[at] = at + 1;
    }
    hearth_barrier();
    before = barriers_time(p);
    for (int again = 0; again < 2; again++) {
        neighbour_read(p, words);
        hearth_barrier();
    }
    sample[0] = barriers_time(p);
    neighbour_read(p, words);
    perf_meet(p);
    hearth_free(words);
    sample[1] = (before + barriers_time(p)) / 2;
}

/* ---- a barrier behind scattered pages ---- */

enum { SPREAD = 10000, SPREAD_QUICK = 2000, SETTLED = 6 };

/* Every second page of the actor's memory. */
struct spread {
    uint64_t *words;
    size_t    n;    /* of these */
    size_t    step; /* words from one to the next */
};

static struct spread
spread_open(const struct perf *p)
{
    struct spread s = { .n = p->quick ? SPREAD_QUICK : SPREAD,
                        .step = 2 * p->page / sizeof(uint64_t) };

    s.words =
        hearth_alloc(s.n * s.step, sizeof *s.words, hearth_on(PERF_ACTOR));
    for (size_t i = 0; perf_acting(p) && i < 2 * s.n; i++)
        s.words[i * s.step / 2] = p->salt;
    hearth_barrier();
    return s;
}

static void
spread_write(const struct spread *s, uint64_t value)
{
    for (size_t i = 0; i < s->n; i++)
        s->words[i * s->step] = value;
}

static void
spread_check(const struct spread *s, uint64_t value)
{
    for (size_t i = 0; i < s->n; i++)
        if (((const volatile uint64_t *)s->words)[i * s->step] != value)
            perf_wrong("barrier_scattered", i * s->step * sizeof value);
}

/* The peer reads them until its copies are such that stay; `all`: those
 * between, too. */
static void
spread_take(const struct perf *p, const struct spread *s, uint64_t value,
            bool all)
{
    struct spread between = *s;

    between.words += s->step / 2;
    for (int again = 0; again < SETTLED; again++) {
        if (perf_is_peer(p))
            spread_check(s, value);
        if (perf_is_peer(p) && all)
            spread_check(&between, p->salt);
        perf_meet(p);
        hearth_barrier();
    }
}

/* The time of a barrier here and at the peer, a page. */
struct both {
    double here, there;
};

static struct both
spread_barrier(const struct perf *p, const struct spread *s)
{
    struct both took;
    double      start;

    perf_meet(p);
    start = perf_now();
    hearth_barrier();
    took.here = took.there = (perf_now() - start) / (double)s->n;
    if (perf_is_peer(p))
        MPI_Send(&took.here, 1, MPI_DOUBLE, PERF_ACTOR, 0, p->raw.comm);
    if (perf_acting(p))
        MPI_Recv(&took.there, 1, MPI_DOUBLE, p->peer, 0, p->raw.comm,
                 MPI_STATUS_IGNORE);
    return took;
}

/* By hand: one mprotect() over pages every second of which is writable, and
 * one madvise() over pages every second of which is there. */
static double
hulls_by_hand(const struct perf *p, size_t n)
{
    size_t bytes = 2 * n * p->page;
    char  *at = perf_memory(bytes);
    double start, took;

    for (size_t i = 0; i < bytes; i += 2 * p->page)
        at[i] = 1;
    for (size_t i = p->page; i < bytes; i += 2 * p->page)
        mprotect(at + i, p->page, PROT_READ);
    start = perf_now();
    mprotect(at, bytes, PROT_READ);
    madvise(at, bytes, MADV_DONTNEED);
    took = perf_now() - start;
    perf_memory_free(at, bytes);
    return took / (double)n;
}

/* Stores of one rank, and the barrier behind them. */
static struct both
spread_stored(const struct perf *p, const struct spread *s, int rank,
              uint64_t value)
{
    if (p->rank == rank)
        spread_write(s, value);
    return spread_barrier(p, s);
}

/*
 * Figure: a barrier behind stores of the home to pages of which another node
 * has copies, and none of those between, as the other node sees it; `home` and
 * `reader` are its parts.  `writer`: what the other takes when it has stored
 * to its copies, and has those between, too.  `armed`: what the home takes
 * then. The other stores before each time that the home does, for pages that
 * the home alone stores to become unshared (coherence/migrate_request.c).
 */
static void
barrier_scattered(struct perf *p, double *sample)
{
    struct spread s = spread_open(p);
    struct both   took;

    spread_take(p, &s, p->salt, false);
    spread_stored(p, &s, p->peer, p->salt + 1);
    spread_take(p, &s, p->salt + 1, false);
    took = spread_stored(p, &s, PERF_ACTOR, p->salt + 2);
    sample[0] = took.there;
    sample[2] = took.here;
    sample[3] = took.there - took.here;
    spread_take(p, &s, p->salt + 2, true);
    sample[5] = spread_stored(p, &s, p->peer, p->salt + 3).there;
    spread_take(p, &s, p->salt + 3, true);
    sample[4] = spread_stored(p, &s, PERF_ACTOR, p->salt + 4).here;
    if (perf_acting(p))
        sample[1] = hulls_by_hand(p, s.n);
    if (perf_is_peer(p))
        spread_check(&s, p->salt + 4);
    perf_meet(p);
    hearth_free(s.words);
}

/* hearth_fetch_add on a word whose home is the peer. */
static double
adds_time(int64_t *word, size_t from, size_t turns)
{
    double start = perf_now();

    for (size_t i = from; i < from + turns; i++)
        if (hearth_fetch_add(word, 1) != (int64_t)i)
            perf_wrong("fetch_add", i);
    return perf_now() - start;
}

/* Raw: one MPI_Fetch_and_op and flush. */
static void
word_add(struct perf *p, double *sample)
{
    int64_t *word = hearth_alloc(1, sizeof *word, hearth_on(p->peer));

    perf_meet(p);
    if (perf_acting(p)) {
        double n = (double)p->turns;

        sample[0] = adds_time(word, 0, p->turns) / n;
        sample[2] = perf_raw_atomics(p, p->raw.allocate, p->turns) / n;
        sample[1] = perf_raw_atomics(p, p->raw.create, p->turns) / n;
    }
    perf_meet(p);
    hearth_free(word);
}

/* Raw: an empty message there and one back. */
static void
word_add_udp(struct perf *p, double *sample)
{
    int64_t *word = hearth_alloc(1, sizeof *word, hearth_on(p->peer));
    double   n = (double)p->turns;

    perf_rest(p);
    for (size_t i = 0; perf_acting(p) && i < p->turns; i += PERF_UDP_CHUNK) {
        sample[0] += adds_time(word, i, PERF_UDP_CHUNK) / n;
        sample[1] += perf_udp_empty(p, PERF_UDP_CHUNK) / n;
    }
    perf_rest(p);
    if (perf_acting(p))
        sample[2] = perf_raw_atomics(p, p->raw.create, p->turns) / n;
    perf_meet(p);
    hearth_free(word);
}

const struct perf_figure perf_sync_figures[] = {
    { .name = "barrier_clean",
      .unit = "us",
      .what = "barrier, nothing dirty",
      .against = "MPI_Allgather of 64 bytes",
      .bound = 1.5,
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = barrier_clean },
    { .name = "barrier_clean",
      .unit = "us",
      .what = "barrier, nothing dirty",
      .against = "empty message there and back over bare UDP",
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = barrier_clean_udp,
      .extra = { "raw_mpi" } },
    { .name = "barrier_16384",
      .unit = "us",
      .what = "the same, each rank holding 16384 clean copies",
      .against = "barrier, nothing dirty",
      .bound = 1.1,
      .need = PERF_PEER,
      .round = barrier_holding },
    { .name = "barrier_scattered",
      .unit = "us",
      .what = "barrier behind stores to each second page, a page",
      .against = "one mprotect and one madvise for all",
      .need = PERF_PEER,
      .round = barrier_scattered,
      .extra = { "home", "reader", "armed", "writer" } },
    { .name = "fetch_add",
      .unit = "us",
      .what = "hearth_fetch_add on a remote word",
      .against = "MPI_Fetch_and_op and flush",
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = word_add,
      .extra = { "raw_allocate" } },
    { .name = "fetch_add",
      .unit = "us",
      .what = "hearth_fetch_add on a remote word",
      .against = "empty message there and back over bare UDP",
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = word_add_udp,
      .extra = { "raw_mpi" } },
    { .name = NULL }
};
