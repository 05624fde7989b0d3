/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * Bandwidth of long writes, in MB/s (1e6 bytes): stream.c says of what.
 * raw_stored is the raw counterpart with the stores counted, too.
 */
#include "stream.h"

/* Store every word of the range, each a new value, then meet at a barrier.
 * The peer checks all of it.  Both the stores and the barrier count. */
static double
range_write(const struct perf *p, uint64_t *words, double *stores)
{
    size_t count = p->stream_bytes / sizeof *words;
    size_t good = count;
    double start = perf_now();
    double us;

    if (perf_acting(p))
        perf_fill(words, count, p->salt + 1);
    *stores = perf_rate(p, perf_now() - start);
    hearth_barrier();
    us = perf_now() - start;
    if (perf_is_peer(p))
        good = perf_check(words, count, p->salt + 1);
    if (good < count)
        perf_wrong("seq_write", good * sizeof *words);
    perf_meet(p);
    return perf_rate(p, us);
}

/* How the pages are before they are written. */
enum before { COLD, WARM, PROMISED };

static void
write_round(struct perf *p, double *sample, enum before before)
{
    uint64_t *words = perf_stream_open(p);

    /* The first barrier drops the provisional copies, the second keeps. */
    for (int i = 0; before == WARM && i < 2; i++) {
        if (perf_acting(p))
            perf_pages_scan(p, words, "seq_write_warm");
        perf_meet(p);
        hearth_barrier();
    }
    if (before == PROMISED && perf_acting(p))
        hearth_overwrite(words, p->stream_bytes);
    sample[0] = range_write(p, words, &sample[2]);
    if (perf_acting(p)) {
        sample[1] = perf_raw_range(p, PERF_RAW_PUT);
        sample[3] = perf_raw_range(p, PERF_RAW_STORE);
    }
    perf_meet(p);
    hearth_free(words);
}

/* Figure: no page was cached before.  Raw: the pieces alone, from a buffer
 * that was filled beforehand. */
static void
write_cold(struct perf *p, double *sample)
{
    write_round(p, sample, COLD);
}

/* Figure: every page was a valid copy before. */
static void
write_warm(struct perf *p, double *sample)
{
    write_round(p, sample, WARM);
}

/* Figure: as the first, but nothing is fetched. */
static void
write_promised(struct perf *p, double *sample)
{
    write_round(p, sample, PROMISED);
}

const struct perf_figure perf_store_figures[] = {
    { .name = "seq_write",
      .unit = "MB/s",
      .what = "whole range written in order, not cached, then barrier",
      .against = "MPI_Put of 2 MiB pieces",
      .bound = 0.3,
      .sense = PERF_AT_LEAST,
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = write_cold,
      .extra = { "stores", "raw_stored" } },
    { .name = "seq_write",
      .unit = "MB/s",
      .what = "whole range written in order, not cached, then barrier",
      .against = "MPI_Put of 2 MiB pieces",
      .sense = PERF_AT_LEAST,
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = write_cold,
      .extra = { "stores", "raw_stored" } },
    { .name = "seq_write_warm",
      .unit = "MB/s",
      .what = "the same, all pages cached before",
      .against = "MPI_Put of 2 MiB pieces",
      .sense = PERF_AT_LEAST,
      .need = PERF_PEER,
      .round = write_warm,
      .extra = { "stores", "raw_stored" } },
    { .name = "seq_overwrite",
      .unit = "MB/s",
      .what = "whole range by hearth_overwrite, not cached, then barrier",
      .against = "MPI_Put of 2 MiB pieces",
      .bound = 0.7,
      .sense = PERF_AT_LEAST,
      .need = PERF_PEER,
      .over = PERF_OVER_MPI,
      .round = write_promised,
      .extra = { "stores", "raw_stored" } },
    { .name = "seq_overwrite",
      .unit = "MB/s",
      .what = "whole range by hearth_overwrite, not cached, then barrier",
      .against = "MPI_Put of 2 MiB pieces",
      .sense = PERF_AT_LEAST,
      .need = PERF_PEER,
      .over = PERF_OVER_UDP,
      .round = write_promised,
      .extra = { "stores", "raw_stored" } },
    { .name = NULL }
};
