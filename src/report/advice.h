/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What would make the program faster: rules, each with a signature in the
 * counts.  A rule that does not apply says nothing.
 */
#ifndef HEARTHI_ADVICE_H
#define HEARTHI_ADVICE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "merged.h"

enum { HEARTHI_ADVICE_TEXT = 512, HEARTHI_ADVICES = 16 };

/* saves_ns: of all ranks together, at most.  sure: the counts say so, where
 * others make it likely. */
struct hearthi_advice {
    const char *rule; /* its key: "false-sharing" */
    uint64_t    saves_ns;
    bool        sure;
    char        what[HEARTHI_ADVICE_TEXT];   /* what is so, and where */
    char        remedy[HEARTHI_ADVICE_TEXT]; /* and what to do */
};

/* The most useful first; returns how many. */
size_t hearthi_advise(const struct hearthi_merged *m,
                      struct hearthi_advice        out[HEARTHI_ADVICES]);

/* How a site, or memory, is told of: "stats.c:41 (count)", "`grid`
 * (sor.c:30)". The text is the caller's. */
struct hearthi_site_text {
    char text[160];
};

struct hearthi_site_text hearthi_site_words(const struct hearthi_merged *m,
                                            size_t                       site);
struct hearthi_site_text hearthi_memory_words(const struct hearthi_merged *m,
                                              size_t memory);

#endif
