/* SPDX-License-Identifier: BSD-2-Clause */
/*
 * A range of stream_bytes at home on the peer, and its raw counterpart.
 */
#ifndef HEARTH_PERF_STREAM_H
#define HEARTH_PERF_STREAM_H

#include "perf.h"

/* Written by its home, and never fetched.  Collective. */
uint64_t *perf_stream_open(const struct perf *p);

/* MB/s of such a range. */
double perf_rate(const struct perf *p, double us);

/* MB/s by 2 MiB pieces, each flushed; PERF_RAW_STORE: each stored before. */
enum perf_raw_op { PERF_RAW_GET, PERF_RAW_PUT, PERF_RAW_STORE };
double perf_raw_range(struct perf *p, enum perf_raw_op op);

/* Load one word of every page, and give the time; ends the job if a word is
 * wrong. */
double perf_pages_scan(const struct perf *p, const uint64_t *words,
                       const char *figure);

#endif
