/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the time of a section went, told for people: what HEARTH_STATS=yes
 * prints, and the file of HEARTH_REPORT.
 */
#ifndef HEARTHI_JOB_REPORT_H
#define HEARTHI_JOB_REPORT_H

#include <stdbool.h>
#include <stdint.h>

#include "base/stat.h"

/* Does an option ask for one?  Then a profile is kept from the start on, but
 * not over several clusters, whose ranks have no communicator together. */
bool hearthi_job_report_is_wanted(void);

/* Rank 0 ends the job if the file cannot be made. */
void hearthi_job_report_prepare(void);

/* Of a section's counters, and how long it took.  Collective. */
void hearthi_job_report(const struct hearthi_tally *tally, uint64_t ns);

/* The same over several clusters, from sums: the terminal's, without advice.
 * On rank 0. */
void hearthi_job_report_sums(const struct hearthi_tally *sum,
                             uint64_t elapsed_ns, uint64_t whole_ns);

#endif
