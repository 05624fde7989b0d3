/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bandwidth of long scans, in MB/s (1e6 bytes).
 *
 * Every round has a fresh allocation whose home has written it, so no page
 * of it was ever fetched and each pays its whole first fetch: flags, page
 * tables, and in the first round (`first`) memory that was never touched; the
 * library keeps the frames of the freed copies for the rounds that follow.
 * The raw side gets or puts 2 MiB pieces, each flushed, between the
 * peer's window and a local buffer of the full size; both were touched before.
 * Over udp the raw side has the same bytes sent by bare UDP into that buffer.
 */
#include "stream.h"
#include "udp.h"

#include <math.h>
#include <stdlib.h>

static volatile uint64_t result;

uint64_t *
perf_stream_open(const struct perf *p)
{
    size_t    count = p->stream_bytes / sizeof(uint64_t);
    uint64_t *words = hearth_alloc(count, sizeof *words, hearth_on(p->peer));

    if (perf_is_peer(p))
        perf_fill(words, count, p->salt);
    hearth_barrier();
    return words;
}

double
perf_rate(const struct perf *p, double us)
{
    return (double)p->stream_bytes / us;
}

static double
raw_pieces(struct perf *p, enum perf_raw_op op, char *buffer)
{
    double start = perf_now();

    for (size_t at = 0; at < p->stream_bytes; at += PERF_PIECE) {
        if (op == PERF_RAW_STORE)
            perf_fill((void *)(buffer + at), PERF_PIECE / 8, p->salt);
        if (op == PERF_RAW_GET)
            MPI_Get(buffer + at, PERF_PIECE, MPI_BYTE, p->peer, (MPI_Aint)at,
                    PERF_PIECE, MPI_BYTE, p->raw.create);
        else
            MPI_Put(buffer + at, PERF_PIECE, MPI_BYTE, p->peer, (MPI_Aint)at,
                    PERF_PIECE, MPI_BYTE, p->raw.create);
        MPI_Win_flush(p->peer, p->raw.create);
    }
    return perf_rate(p, perf_now() - start);
}

double
perf_raw_range(struct perf *p, enum perf_raw_op op)
{
    return raw_pieces(p, op, p->raw.buffer);
}

/* Into memory that was never touched: what a program meets that does it
 * once. */
static double
raw_fresh(struct perf *p)
{
    char  *fresh = perf_memory(p->stream_bytes);
    double speed = raw_pieces(p, PERF_RAW_GET, fresh);

    perf_memory_free(fresh, p->stream_bytes);
    return speed;
}

/* Load one word of every page; ends the job if a word is wrong. */
double
perf_pages_scan(const struct perf *p, const uint64_t *words,
                const char *figure)
{
    size_t step = p->page / sizeof *words;
    size_t count = p->stream_bytes / sizeof *words;
    double start = perf_now();

    for (size_t at = 0; at < count; at += step)
        if (*(const volatile uint64_t *)(words + at) !=
            ((at + 1) << 20) + p->salt)
            perf_wrong(figure, at * sizeof *words);
    return perf_now() - start;
}

static double
words_sum(const uint64_t *words, size_t bytes)
{
    double   start = perf_now();
    uint64_t sum = 0;

    for (size_t i = 0; i < bytes / sizeof *words; i++)
        sum += words[i];
    result = sum;
    return perf_now() - start;
}

/* The same after the home has written all pages anew, and a barrier. */
static double
scan_again(const struct perf *p, uint64_t *words)
{
    double speed = 0;

    perf_meet(p);
    hearth_barrier();
    if (perf_is_peer(p))
        perf_fill(words, p->stream_bytes / sizeof *words, p->salt);
    hearth_barrier();
    if (perf_acting(p))
        speed = perf_rate(p, perf_pages_scan(p, words, "seq_scan"));
    perf_meet(p);
    return speed;
}

/* Figure: one word of each page, in order, so the time is that of bringing
 * the pages; extra "again".  Raw: the pieces; extra "raw_fresh": into a buffer
 * that was not touched before, to be held against "first". */
static void
scan_cold(struct perf *p, double *sample)
{
    uint64_t *words = perf_stream_open(p);

    if (perf_acting(p)) {
        sample[0] = perf_rate(p, perf_pages_scan(p, words, "seq_scan"));
        sample[1] = perf_raw_range(p, PERF_RAW_GET);
        sample[3] = raw_fresh(p);
    }
    sample[2] = scan_again(p, words);
    hearth_free(words);
}

static double
udp_rate(const struct perf *p)
{
    return perf_rate(p, perf_udp_stream(p, p->stream_bytes, 0));
}

/* Raw: bare UDP, in as few calls as can be, the peer asleep. */
static void
scan_cold_udp(struct perf *p, double *sample)
{
    uint64_t *words = perf_stream_open(p);

    perf_rest(p);
    if (perf_acting(p)) {
        sample[0] = perf_rate(p, perf_pages_scan(p, words, "seq_scan"));
        sample[1] = udp_rate(p);
    }
    perf_rest(p);
    if (perf_acting(p))
        sample[3] = perf_raw_range(p, PERF_RAW_GET);
    sample[2] = scan_again(p, words);
    hearth_free(words);
}

/* Raw: what the user says that the link can do. */
static void
scan_cold_link(struct perf *p, double *sample)
{
    uint64_t *words = perf_stream_open(p);

    perf_rest(p);
    if (perf_acting(p)) {
        sample[0] = perf_rate(p, perf_pages_scan(p, words, "seq_scan"));
        sample[1] = p->link;
    }
    perf_rest(p);
    if (perf_acting(p))
        sample[3] = p->udp ? udp_rate(p) : NAN;
    perf_rest(p);
    if (perf_acting(p))
        sample[4] = perf_raw_range(p, PERF_RAW_GET);
    sample[2] = scan_again(p, words);
    hearth_free(words);
}

/* Figure: every word is loaded and added.  Raw: the pieces, and the same
 * addition over what they brought. */
static void
scan_sum(struct perf *p, double *sample)
{
    uint64_t *words = perf_stream_open(p);

    if (perf_acting(p)) {
        double get;

        sample[0] = perf_rate(p, words_sum(words, p->stream_bytes));
        get = (double)p->stream_bytes / perf_raw_range(p, PERF_RAW_GET);
        get += words_sum((const uint64_t *)(const void *)p->raw.buffer,
                         p->stream_bytes);
        sample[1] = perf_rate(p, get);
    }
    perf_meet(p);
    hearth_free(words);
}

/* Figure: the whole range by one hearth_prefetch(), and one word of each
 * page; extra: the call alone. */
static void
range_prefetch(const struct perf *p, const uint64_t *words, double *sample)
{
    double start = perf_now();

    hearth_prefetch(words, p->stream_bytes);
    sample[2] = perf_rate(p, perf_now() - start);
    perf_pages_scan(p, words, "prefetch");
    sample[0] = perf_rate(p, perf_now() - start);
}

/* Raw: the pieces. */
static void
scan_prefetched(struct perf *p, double *sample)
{
    uint64_t *words = perf_stream_open(p);

    if (perf_acting(p)) {
        range_prefetch(p, words, sample);
        sample[1] = perf_raw_range(p, PERF_RAW_GET);
    }
    perf_meet(p);
    hearth_free(words);
}

/* Raw: bare UDP. */
static void
scan_prefetched_udp(struct perf *p, double *sample)
{
    uint64_t *words = perf_stream_open(p);

    perf_rest(p);
    if (perf_acting(p)) {
        range_prefetch(p, words, sample);
        sample[1] = udp_rate(p);
    }
    perf_rest(p);
    if (perf_acting(p))
        sample[3] = perf_raw_range(p, PERF_RAW_GET);
    perf_meet(p);
    hearth_free(words);
}

const struct perf_figure perf_stream_figures[] = {
    { .name = "seq_scan",
      .unit = "MB/s",
      .what = "sequential scan, cold, one word a page",
      .against = "the link's rate",
      .bound = 0.9,
      .sense = PERF_AT_LEAST,
      .need = PERF_PEER,
      .over = PERF_OVER_LINK,
      .round = scan_cold_link,
      .extra = { "again", "raw_udp", "raw_mpi" } },
    { .name = "seq_scan",
      .unit = "MB/s",
      .what = "sequential scan, cold, one word a page",
      .against = "MPI_Get of 2 MiB pieces",
      .bound = 0.85,
      .sense = PERF_AT_LEAST,
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = scan_cold,
      .extra = { "again", "raw_fresh" } },
    { .name = "seq_scan",
      .unit = "MB/s",
      .what = "sequential scan, cold, one word a page",
      .against = "as many bytes over bare UDP, segmented by the kernel",
      .bound = 0.7,
      .sense = PERF_AT_LEAST,
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = scan_cold_udp,
      .extra = { "again", "raw_mpi" } },
    { .name = "seq_scan_sum",
      .unit = "MB/s",
      .what = "sequential scan, cold, adding every word",
      .against = "MPI_Get of 2 MiB pieces, adding every word",
      .sense = PERF_AT_LEAST,
      .need = PERF_PEER,
      .round = scan_sum },
    { .name = "prefetch",
      .unit = "MB/s",
      .what = "the range by hearth_prefetch, then one word a page",
      .against = "MPI_Get of 2 MiB pieces",
      .sense = PERF_AT_LEAST,
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = scan_prefetched,
      .extra = { "call" } },
    { .name = "prefetch",
      .unit = "MB/s",
      .what = "the range by hearth_prefetch, then one word a page",
      .against = "as many bytes over bare UDP, segmented by the kernel",
      .sense = PERF_AT_LEAST,
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = scan_prefetched_udp,
      .extra = { "call", "raw_mpi" } },
    { .name = NULL }
};
