/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What HEARTH_STATS=yes prints: at most 40 lines, each of which begins with
 * "hearth: ".
 */
#ifndef HEARTHI_TERMINAL_H
#define HEARTHI_TERMINAL_H

#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>

#include "advice.h"
#include "base/stat.h"

enum { HEARTHI_TERMINAL_LINES = 40 };

/* A job as its ranks have told it.  advice is NULL where none was looked for.
 * message and refusal name the i-th kind; NULL behind the last. */
struct hearthi_terminal {
    const struct hearthi_tally *sum;
    uint64_t                    elapsed_ns, whole_ns; /* longest, and sum */
    int                         ranks, nodes;
    const char                 *transport;
    const char *(*message)(unsigned i), *(*refusal)(unsigned i);
    const struct hearthi_advice *advice;
    size_t                       advices;
    const char                  *no_lines; /* or NULL (merged.h) */
};

void hearthi_terminal_print(FILE *out, const struct hearthi_terminal *t);

#endif
