/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What is counted on a rank: the members of hearth_stats, messages by kind,
 * and distributions.  All of it is uint64_t in one struct, so that it is set
 * to 0, copied, sent and added up as an array.
 */
#ifndef HEARTHI_STAT_H
#define HEARTHI_STAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hearth/hearth.h"

enum hearthi_stat {
#define STAT(name, help) HEARTHI_STAT_##name,
#include "base/stat.def"
#undef STAT
    HEARTHI_STAT_COUNT
};

enum hearthi_distribution {
#define DISTRIBUTION(name, help) HEARTHI_DISTRIBUTION_##name,
#include "distribution.def"
#undef DISTRIBUTION
    HEARTHI_DISTRIBUTIONS
};

/* Kinds of messages of a transport, reasons to refuse one, at most; a bucket
 * for 0 and one for each power of two. */
enum { HEARTHI_KINDS = 16, HEARTHI_REASONS = 8, HEARTHI_BUCKETS = 65 };

struct hearthi_tally {
    hearth_stats counter;
    uint64_t     sent[HEARTHI_KINDS], sent_bytes[HEARTHI_KINDS];
    uint64_t     resent[HEARTHI_KINDS]; /* of those sent */
    uint64_t     refused[HEARTHI_REASONS];
    uint64_t     bucket[HEARTHI_DISTRIBUTIONS][HEARTHI_BUCKETS];
};

enum { HEARTHI_TALLY = sizeof(struct hearthi_tally) / sizeof(uint64_t) };

extern struct hearthi_tally hearthi_tally;

/* Relaxed, as all uses of the numbers are (stat.c): each stands for itself. */
static inline void
hearthi_stat_add(uint64_t *counter, uint64_t n)
{
    if (n > 0)
        __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Add n to a counter; from any thread, and in the fault handler. */
#define hearthi_count(field, n) \
    hearthi_stat_add(&hearthi_tally.counter.field, (n))

/* The bucket of a value: 0, 1, 2-3, 4-7, ... and where a bucket begins. */
static inline unsigned
hearthi_bucket(uint64_t value)
{
    return value == 0 ? 0 : 64 - (unsigned)__builtin_clzll(value);
}

static inline uint64_t
hearthi_bucket_low(unsigned bucket)
{
    return bucket == 0 ? 0 : UINT64_C(1) << (bucket - 1);
}

/* Put a value into a distribution; from anywhere, as above. */
#define hearthi_distribute(name, value)                                     \
    hearthi_stat_add(&hearthi_tally.bucket[HEARTHI_DISTRIBUTION_##name]     \
                                          [hearthi_bucket(value)],          \
                     1)

void hearthi_tally_reset(void);

/* Copy hearthi_tally and begin anew, while others may be counting. */
void hearthi_tally_take(struct hearthi_tally *to);

/* Copy hearthi_tally, or its counters alone, each number whole, while others
 * may be counting. */
void hearthi_tally_copy(struct hearthi_tally *to);
void hearthi_stats_copy(hearth_stats *to);

/* Also to hearthi_tally. */
void hearthi_tally_add(struct hearthi_tally       *to,
                       const struct hearthi_tally *from);

/* Is it one of nanoseconds? */
bool hearthi_stat_is_time(enum hearthi_stat which);

/* Print a counter with the gist of what it counts, up to the line's end. */
void hearthi_stat_print(FILE *out, enum hearthi_stat which, uint64_t n);

uint64_t    hearthi_stat_value(const hearth_stats *s, enum hearthi_stat which);
const char *hearthi_stat_name(enum hearthi_stat which);
const char *hearthi_stat_help(enum hearthi_stat which);

const char *hearthi_distribution_name(enum hearthi_distribution which);
const char *hearthi_distribution_help(enum hearthi_distribution which);

#endif
