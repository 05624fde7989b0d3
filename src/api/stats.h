/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Counters of a section of the program, and the report at the end.
 */
#ifndef HEARTHI_API_STATS_H
#define HEARTHI_API_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/stat.h"

/* Count from 0 on, for the reports too. */
void hearthi_section_begin(void);

/* Rank 0 ends the job if what HEARTH_STATS asks for cannot be done. */
void hearthi_stats_prepare(void);

/* At hearth_finalize(): what HEARTH_STATS asks for.  Collective. */
void hearthi_stats_report(void);

/* ---- the file (stats_json.c) ---- */

/* What rank 0 knows of one rank when it reports. */
struct hearthi_stats_part {
    struct hearthi_tally tally;
    uint64_t             ns; /* of its section */
    char                 host[64];
};

/* Was the library built with a writer of JSON? */
bool hearthi_stats_can_write(void);

/* Print the parts of all ranks and their sum.  False: no memory, or the
 * stream has an error. */
bool hearthi_stats_write(FILE *out, const struct hearthi_stats_part *part,
                         const struct hearthi_tally *sum);

#endif
