/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the rules of advice have in common, between their files.
 */
#ifndef HEARTHI_ADVISING_H
#define HEARTHI_ADVISING_H

#include <stdbool.h>
#include <stdint.h>

#include "advice.h"

struct hearthi_advising {
    const struct hearthi_merged *m;
    struct hearthi_advice       *out;
    size_t                       n;
};

/* Another piece of advice; NULL if it is not worth it, or there are many. */
struct hearthi_advice *hearthi_advice_new(struct hearthi_advising *d,
                                          const char *rule, uint64_t saves_ns,
                                          bool sure);

/* Fill in what or remedy. */
void hearthi_advice_say(char text[HEARTHI_ADVICE_TEXT], const char *fmt, ...)
    __attribute__((format(printf, 2, 3)));

/* shared: pages that ranks of several nodes stored to, none of them where
 * another did.  alone: pages that ranks of one node use, and not their
 * home's.  again: pages that were stored to once at most, and that a rank
 * fetched again and again.  narrow: see struct hearthi_profile_page. */
struct hearthi_pattern {
    uint64_t shared, shared_ns, shared_times;
    uint64_t unseen; /* writers of such pages whose bytes are not known */
    uint64_t alone, alone_ns;
    uint64_t again, again_ns, again_times;
    uint64_t narrow_ns, narrow_diffs, diffs;
    uint64_t opened, same; /* elsewhere than at home for stores; unchanged */
    uint64_t same_ns;
    uint64_t ns, fewest, most; /* bytes that a rank stores in such a page */
    int      ranks;            /* at most, in such a page */
    int      home;             /* of one of those alone */
    bool     many_homes;
};

/* Of each piece of memory, from malloc(3); NULL: no memory
 * (advice_pattern.c). */
struct hearthi_pattern *hearthi_patterns_find(const struct hearthi_merged *m);

/* The rules about memory (advice_memory.c), and about calls: locks, flags,
 * hearth_prefetch() (advice_calls.c). */
void hearthi_advise_memory(struct hearthi_advising *d);
void hearthi_advise_calls(struct hearthi_advising *d);

#endif
