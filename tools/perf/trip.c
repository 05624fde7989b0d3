/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Round trips and streams of messages by their size, as Directed Point's
 * figures 5 to 8 show them.
 *
 * The library has no call that sends n bytes.  Beside the round trip of the
 * network stands what it takes to have n bytes of the peer's: an atomic step
 * on a word, or from 16 bytes on a fault that brings a page.  Beside messages
 * of n bytes stands a range that is fetched by hearth_prefetch() of n bytes
 * after n bytes.  A message larger than a datagram takes several.
 */
#include "perf.h"
#include "udp.h"

#include <stdlib.h>

enum {
    WORD = sizeof(int64_t),
    MESSAGES = 4, /* of a stream at most, for each turn of a round trip */
    PART = 8      /* and of the bytes of a scan */
};

/* ---- the library ---- */

static double
words_add(int64_t *word, size_t turns)
{
    double start = perf_now();

    for (size_t i = 0; i < turns; i++)
        hearth_fetch_add(word, 1);
    return perf_now() - start;
}

static double
pages_fault(const struct perf *p, const uint64_t *words, size_t from)
{
    double start = perf_now();

    for (size_t i = from; i < from + PERF_UDP_CHUNK; i++) {
        size_t at = (i * 7 + 3) % p->turns * p->page / sizeof *words;

        if (*(const volatile uint64_t *)(words + at) !=
            ((at + 1) << 20) + p->salt)
            perf_wrong(p->figure->name, at * sizeof *words);
    }
    return perf_now() - start;
}

static double
range_fetch(const char *range, size_t bytes, size_t piece)
{
    double start = perf_now();

    for (size_t at = 0; at < bytes; at += piece)
        hearth_prefetch(range + at, piece < bytes - at ? piece : bytes - at);
    return perf_now() - start;
}

/* ---- MPI ---- */

/* MPI_Get of n bytes, flushed every so many. */
static double
gets_time(const struct perf *p, size_t count, size_t outstanding)
{
    size_t n = p->figure->bytes;
    double start = perf_now();

    for (size_t i = 0; i < count; i++) {
        size_t at = i * n % (p->raw.bytes - n);

        MPI_Get(p->raw.buffer + at, (int)n, MPI_BYTE, p->peer, (MPI_Aint)at,
                (int)n, MPI_BYTE, p->raw.create);
        if ((i + 1) % outstanding == 0)
            MPI_Win_flush(p->peer, p->raw.create);
    }
    MPI_Win_flush(p->peer, p->raw.create);
    return perf_now() - start;
}

/* ---- round trips ---- */

static double
udp_bounce(const struct perf *p)
{
    struct perf_udp_trips t = { .ask = p->figure->bytes,
                                .answer = p->figure->bytes,
                                .turns = PERF_UDP_CHUNK };

    return perf_udp_ping(p, &t);
}

/* The library, and beside it bare UDP where there is some. */
static void
trips_time(const struct perf *p, uint64_t *words, double *sample)
{
    double n = (double)p->turns;

    for (size_t i = 0; i < p->turns; i += PERF_UDP_CHUNK) {
        double us = p->figure->bytes <= WORD
                        ? words_add((int64_t *)words, PERF_UDP_CHUNK)
                        : pages_fault(p, words, i);

        sample[0] += us / n;
        if (p->udp)
            sample[1] += udp_bounce(p) / n;
    }
}

static void
trip_round(struct perf *p, double *sample, double *get, double *send)
{
    size_t    count = p->turns * p->page / sizeof(uint64_t);
    uint64_t *words = hearth_alloc(count, sizeof *words, hearth_on(p->peer));
    double    n = (double)p->turns;

    if (perf_is_peer(p))
        perf_fill(words, count, p->salt);
    hearth_barrier();
    perf_rest(p);
    if (perf_acting(p))
        trips_time(p, words, sample);
    perf_rest(p);
    if (perf_acting(p))
        *get = gets_time(p, p->turns, 1) / n;
    perf_meet(p);
    *send = perf_raw_bounce(p, p->figure->bytes, p->turns, NULL) / n;
    hearth_free(words);
}

static void
trip_mpi(struct perf *p, double *sample)
{
    trip_round(p, sample, &sample[1], &sample[2]);
}

static void
trip_udp(struct perf *p, double *sample)
{
    trip_round(p, sample, &sample[2], &sample[3]);
}

/* ---- streams ---- */

static void
stream_round(struct perf *p, double *sample, double *get, double *send)
{
    size_t n = p->figure->bytes;
    size_t count = MESSAGES * p->turns;
    size_t bytes;
    char  *range;

    if (count > p->stream_bytes / PART / n)
        count = p->stream_bytes / PART / n;
    count = (count + PERF_BATCH - 1) / PERF_BATCH * PERF_BATCH;
    bytes = count * n;
    range = hearth_alloc(bytes, 1, hearth_on(p->peer));
    if (perf_is_peer(p))
        for (size_t at = 0; at < bytes; at += p->page)
            range[at] = 1;
    hearth_barrier();
    perf_rest(p);
    if (perf_acting(p)) {
        sample[0] = (double)bytes / range_fetch(range, bytes, n);
        if (p->udp)
            sample[1] = (double)bytes / perf_udp_stream(p, bytes, n);
    }
    perf_rest(p);
    if (perf_acting(p))
        *get = (double)bytes / gets_time(p, count, PERF_OUTSTANDING);
    perf_meet(p);
    *send = (double)bytes / perf_raw_stream(p, n, count);
    hearth_free(range);
}

static void
stream_mpi(struct perf *p, double *sample)
{
    stream_round(p, sample, &sample[1], &sample[2]);
}

static void
stream_udp(struct perf *p, double *sample)
{
    stream_round(p, sample, &sample[2], &sample[3]);
}

/* Two rows for a size, one for each transport. */
#define TRIP(n, own)                                          \
    { .name = "round_trip_" #n,                               \
      .unit = "us",                                           \
      .what = own,                                            \
      .against = "MPI_Get of " #n " bytes and flush",         \
      .need = PERF_PEER,                                      \
      .over = PERF_OVER_MPI,                                  \
      .bytes = n,                                             \
      .round = trip_mpi,                                      \
      .extra = { "send_recv" } },                             \
    {                                                         \
        .name = "round_trip_" #n, .unit = "us", .what = own,  \
        .against = #n " bytes there and back over bare UDP",  \
        .need = PERF_PEER, .over = PERF_OVER_UDP, .bytes = n, \
        .round = trip_udp, .extra = {                         \
            "get",                                            \
            "send_recv"                                       \
        }                                                     \
    }

#define STREAM(n)                                                         \
    { .name = "bandwidth_" #n,                                            \
      .unit = "MB/s",                                                     \
      .what = "range by hearth_prefetch of " #n " bytes each",            \
      .against = "MPI_Get of " #n " bytes each, flushed every 128",       \
      .sense = PERF_AT_LEAST,                                             \
      .need = PERF_PEER,                                                  \
      .over = PERF_OVER_MPI,                                              \
      .bytes = n,                                                         \
      .round = stream_mpi,                                                \
      .extra = { "send_recv" } },                                         \
    {                                                                     \
        .name = "bandwidth_" #n, .unit = "MB/s",                          \
        .what = "range by hearth_prefetch of " #n " bytes each",          \
        .against = "messages of " #n " bytes over bare UDP",              \
        .sense = PERF_AT_LEAST, .need = PERF_PEER, .over = PERF_OVER_UDP, \
        .bytes = n, .round = stream_udp, .extra = {                       \
            "get",                                                        \
            "send_recv"                                                   \
        }                                                                 \
    }

#define WORD_STEP  "hearth_fetch_add on a word of the peer's"
#define PAGE_FAULT "fault that brings a page of the peer's"

const struct perf_figure perf_trip_figures[] = { TRIP(1, WORD_STEP),
                                                 TRIP(4, WORD_STEP),
                                                 TRIP(16, PAGE_FAULT),
                                                 TRIP(64, PAGE_FAULT),
                                                 TRIP(256, PAGE_FAULT),
                                                 TRIP(1024, PAGE_FAULT),
                                                 TRIP(1500, PAGE_FAULT),
                                                 STREAM(1),
                                                 STREAM(16),
                                                 STREAM(256),
                                                 STREAM(1024),
                                                 STREAM(1500),
                                                 STREAM(4096),
                                                 STREAM(16384),
                                                 STREAM(65536),
                                                 { .name = NULL } };
