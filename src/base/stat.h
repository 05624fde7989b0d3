/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Counters: the members of hearth_stats, all uint64_t, so that ranks are
 * summed in one MPI_Reduce of HEARTHI_STAT_COUNT numbers.
 */
#ifndef HEARTHI_STAT_H
#define HEARTHI_STAT_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include "hearth/hearth.h"

enum hearthi_stat {
#define STAT(name, help) HEARTHI_STAT_##name,
#include "stat.def"
#undef STAT
    HEARTHI_STAT_COUNT
};

extern hearth_stats hearthi_stats;

static inline void
hearthi_stat_add(uint64_t *counter, uint64_t n)
{
    if (n > 0)
        __atomic_fetch_add(counter, n, __ATOMIC_RELAXED);
}

/* Add n to a counter; from any thread, and in the fault handler. */
#define hearthi_count(field, n) hearthi_stat_add(&hearthi_stats.field, (n))

void hearthi_stats_reset(void);

/* Copy hearthi_stats, each counter whole, while others may be counting. */
void hearthi_stats_copy(hearth_stats *to);

/* Print sums over so many ranks as a table. */
void hearthi_stats_print(FILE *out, const hearth_stats *sum, int ranks);

const char *hearthi_stat_name(enum hearthi_stat which);
const char *hearthi_stat_help(enum hearthi_stat which);

#endif
