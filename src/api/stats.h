/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What rank 0 knows of all ranks when it reports.
 */
#ifndef HEARTHI_API_STATS_H
#define HEARTHI_API_STATS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "base/stat.h"

struct hearthi_stats_part { /* one rank's */
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
