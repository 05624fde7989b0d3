/* SPDX-License-Identifier: BSD-2-Clause */
/* Page faults, one by one, with the home inside MPI; over udp, and beside bare
 * UDP, with the home asleep. */
#include "perf.h"
#include "udp.h"

#include <stdlib.h>

static size_t
word_of(const struct perf *p, size_t page)
{
    return page * p->page / sizeof(uint64_t);
}

/* Pages of the peer, filled by it and known to everybody. */
static uint64_t *
pages_open(const struct perf *p, int home)
{
    size_t    count = word_of(p, p->fault_pages);
    uint64_t *words = hearth_alloc(count, sizeof *words, hearth_on(home));

    if (p->rank == home)
        perf_fill(words, count, p->salt);
    hearth_barrier();
    return words;
}

struct span {
    size_t from, to;
};

/* Load one word of these pages; ends the job if a word is wrong. */
static double
span_read(const struct perf *p, const uint64_t *words, const size_t *order,
          struct span s, const char *figure)
{
    double start = perf_now();

    for (size_t i = s.from; i < s.to; i++) {
        size_t at = word_of(p, order ? order[i] : i);

        if (*(const volatile uint64_t *)(words + at) !=
            ((at + 1) << 20) + p->salt)
            perf_wrong(figure, at * sizeof *words);
    }
    return perf_now() - start;
}

/* And of all. */
static double
pages_read(const struct perf *p, const uint64_t *words, const size_t *order,
           const char *figure)
{
    struct span all = { 0, p->fault_pages };

    return span_read(p, words, order, all, figure);
}

/*
 * Figure: a load of one word of each page in random order.  Raw: the empty
 * fault with the first touch of a page, in this order, plus MPI_Get and flush
 * of each page, in this order, from MPI_Win_create memory.  Extras: the parts,
 * the empty fault on memory touched before, and the same with
 * MPI_Win_allocate memory.
 */
static void
read_beside_mpi(struct perf *p, double *sample, const uint64_t *words,
                const size_t *order)
{
    double n = (double)p->fault_pages;

    if (!perf_acting(p))
        return;
    sample[0] = pages_read(p, words, order, "random_read_fault") / n;
    sample[2] = perf_empty_faults(p, order, PERF_FIRST) / n;
    sample[3] = perf_empty_faults(p, order, PERF_AGAIN) / n;
    sample[4] = perf_raw_gets(p, p->raw.create, order) / n;
    sample[5] = perf_raw_gets(p, p->raw.allocate, order) / n;
    sample[1] = sample[2] + sample[4];
    sample[6] = sample[2] + sample[5];
}

/* Raw: the same empty fault, plus a round trip of the same datagrams over bare
 * UDP.  Both sides take turns, because a trip takes several times as long when
 * the kernel happens to wake the peer's thread on a core that slept.  Extras:
 * the parts, and what counts for mpi. */
static void
read_beside_udp(struct perf *p, double *sample, const uint64_t *words,
                const size_t *order)
{
    double      n = (double)p->fault_pages;
    struct span s = { 0, 0 };

    perf_rest(p);
    for (; perf_acting(p) && s.from < p->fault_pages; s.from = s.to) {
        s.to = s.from + PERF_UDP_CHUNK;
        if (s.to > p->fault_pages)
            s.to = p->fault_pages;
        sample[0] += span_read(p, words, order, s, "random_read_fault") / n;
        sample[4] += perf_udp_page(p, s.to - s.from) / n;
    }
    perf_rest(p);
    if (perf_acting(p)) {
        sample[2] = perf_empty_faults(p, order, PERF_FIRST) / n;
        sample[3] = perf_empty_faults(p, order, PERF_AGAIN) / n;
        sample[5] = perf_raw_gets(p, p->raw.create, order) / n;
        sample[1] = sample[2] + sample[4];
        sample[6] = sample[2] + sample[5];
    }
}

typedef void read_measure(struct perf *p, double *sample,
                          const uint64_t *words, const size_t *order);

/* How often the pages were read before.  COLD: nobody but the home has ever
 * touched them.  Else, after each time, the copy was dropped, a first one in
 * any case and others since the home wrote them; so that the last barrier of
 * those that were used OFTEN brings them (HEARTH_PREDICT). */
enum { COLD, ONCE, OFTEN = 4 };

static void
read_round(struct perf *p, double *sample, int before, read_measure *measure)
{
    size_t   *order = perf_shuffled(p->fault_pages);
    uint64_t *words = pages_open(p, p->peer);

    for (int again = 0; again < before; again++) {
        if (perf_acting(p))
            pages_read(p, words, order, "random_read_fault");
        perf_meet(p);
        hearth_barrier();
        if (perf_is_peer(p))
            perf_fill(words, word_of(p, p->fault_pages), p->salt);
        hearth_barrier();
    }
    measure(p, sample, words, order);
    perf_meet(p);
    hearth_free(words);
    free(order);
}

static void
read_random(struct perf *p, double *sample)
{
    read_round(p, sample, ONCE, read_beside_mpi);
}

static void
read_random_udp(struct perf *p, double *sample)
{
    read_round(p, sample, ONCE, read_beside_udp);
}

static void
read_cold(struct perf *p, double *sample)
{
    read_round(p, sample, COLD, read_beside_mpi);
}

static void
read_cold_udp(struct perf *p, double *sample)
{
    read_round(p, sample, COLD, read_beside_udp);
}

/* Figure: the same of pages that were brought in advance, but for the first,
 * with which their fetch ends.  Raw: the empty fault. */
static void
read_here(struct perf *p, double *sample, const uint64_t *words,
          const size_t *order)
{
    double      n = (double)(p->fault_pages - 1);
    struct span first = { 0, 1 }, others = { 1, p->fault_pages };

    if (!perf_acting(p))
        return;
    span_read(p, words, order, first, "predicted_fault");
    sample[0] = span_read(p, words, order, others, "predicted_fault") / n;
    sample[1] = perf_empty_faults(p, order, PERF_AGAIN) / (n + 1);
}

static void
read_predicted(struct perf *p, double *sample)
{
    read_round(p, sample, OFTEN, read_here);
}

/*
 * Figure: a store of one word to each of some pages just scanned, in order,
 * then a barrier, by the page.  The allocation is fresh, so that the rank has
 * never written these pages and nothing can be opened ahead of the fault.
 * Raw: the empty fault in the same order, a copy of 4 KiB, and one MPI_Put of
 * 8 bytes, flushed every 128, for each page; and the MPI_Allgather of 64 bytes
 * that stands for a barrier.
 */
static void
write_scanned(struct perf *p, double *sample)
{
    uint64_t *words = pages_open(p, p->peer);
    double    n = (double)p->fault_pages;
    double    start = 0;

    if (perf_acting(p)) {
        pages_read(p, words, NULL, "write_fault");
        start = perf_now();
        for (size_t i = 0; i < p->fault_pages; i++)
            words[word_of(p, i) + 1] = i + p->salt;
        sample[2] = (perf_now() - start) / n;
    }
    hearth_barrier();
    sample[0] = (perf_now() - start) / n;
    for (size_t i = 0; perf_is_peer(p) && i < p->fault_pages; i++)
        if (words[word_of(p, i) + 1] != i + p->salt)
            perf_wrong("write_fault", i * p->page + sizeof *words);
    perf_meet(p);
    if (perf_acting(p)) {
        sample[3] = perf_empty_faults(p, NULL, PERF_FIRST) / n;
        sample[4] = perf_empty_faults(p, NULL, PERF_AGAIN) / n;
        sample[5] = perf_raw_twins(p) / n;
        sample[6] = perf_raw_puts(p, p->raw.create) / n;
        sample[7] = perf_raw_puts(p, p->raw.allocate) / n;
        sample[1] = sample[3] + sample[5] + sample[6];
    }
    perf_meet(p);
    hearth_free(words);
}

/*
 * Figure: a store of one word to each own page that another node has read and
 * that was protected at the release after.  Raw: the empty fault.
 */
static void
write_flagged(struct perf *p, double *sample)
{
    uint64_t *words = pages_open(p, PERF_ACTOR);
    double    n = (double)p->fault_pages;

    for (int again = 0; again < 2; again++) {
        if (perf_is_peer(p))
            pages_read(p, words, NULL, "home_write_flagged");
        perf_meet(p);
        hearth_barrier();
    }
    if (perf_acting(p)) {
        double start = perf_now();

        for (size_t i = 0; i < p->fault_pages; i++)
            words[word_of(p, i) + 1] = i + p->salt;
        sample[0] = (perf_now() - start) / n;
        sample[1] = perf_empty_faults(p, NULL, PERF_AGAIN) / n;
    }
    perf_meet(p);
    hearth_barrier();
    hearth_free(words);
}

const struct perf_figure perf_fault_figures[] = {
    { .name = "random_read_fault",
      .unit = "us",
      .what = "read fault in random order, home inside MPI",
      .against = "empty fault + MPI_Get of a page and flush",
      .bound = 1.25,
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = read_random,
      .extra = { "empty", "empty_again", "get", "get_allocate",
                 "raw_allocate" } },
    { .name = "random_read_fault",
      .unit = "us",
      .what = "read fault in random order, home asleep",
      .against = "empty fault + the same datagrams over bare UDP",
      .bound = 1.2,
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = read_random_udp,
      .extra = { "empty", "empty_again", "udp", "get", "raw_mpi" } },
    { .name = "cold_read_fault",
      .unit = "us",
      .what = "the same, of pages that were never here",
      .against = "empty fault + MPI_Get of a page and flush",
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = read_cold,
      .extra = { "empty", "empty_again", "get", "get_allocate",
                 "raw_allocate" } },
    { .name = "cold_read_fault",
      .unit = "us",
      .what = "the same, of pages that were never here",
      .against = "empty fault + the same datagrams over bare UDP",
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = read_cold_udp,
      .extra = { "empty", "empty_again", "udp", "get", "raw_mpi" } },
    { .name = "predicted_fault",
      .unit = "us",
      .what = "the same, of pages that were brought in advance",
      .against = "empty fault",
      .bound = 1.3,
      .need = PERF_PEER,
      .round = read_predicted },
    { .name = "write_fault",
      .unit = "us",
      .what = "write one word of each page just scanned, then barrier",
      .against = "empty fault + twin + MPI_Put of a word",
      .bound = 1.5,
      .need = PERF_PEER,
      .round = write_scanned,
      .extra = { "faults", "empty", "empty_again", "twin", "put",
                 "put_allocate" } },
    { .name = "home_write_flagged",
      .unit = "us",
      .what = "write fault on an own page that others have read",
      .against = "empty fault",
      .need = PERF_PEER,
      .round = write_flagged },
    { .name = NULL }
};
