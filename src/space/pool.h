/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Free runs of numbers, for the fault handler: nothing is allocated, and what
 * a call costs does not grow with the number of runs.  (extent.h gives every
 * rank the same answers; this does not.)
 */
#ifndef HEARTHI_POOL_H
#define HEARTHI_POOL_H

#include <stdint.h>

enum { HEARTHI_POOL_CLASSES = 32 };

struct hearthi_pool {
    uint64_t  numbers; /* below 2^32 - 1 */
    uint64_t  left;    /* sum of the runs */
    uint32_t *length;  /* at both ends of a free run; 0 at what is in use */
    uint32_t *next;    /* at the first of a run: others of its class, + 1 */
    uint32_t *prev;
    uint32_t  head[HEARTHI_POOL_CLASSES]; /* runs of 2^k and more, + 1 */
};

/* Nothing is free yet. */
void hearthi_pool_open(struct hearthi_pool *p, uint64_t numbers);
void hearthi_pool_close(struct hearthi_pool *p);

/* Give a run that is in use; it grows together with free neighbours. */
void hearthi_pool_give(struct hearthi_pool *p, uint64_t first, uint64_t count);

/* Take up to count numbers, contiguous, into *first.  Returns how many: count
 * if it finds a run that long, 0 only if nothing is free. */
uint64_t hearthi_pool_take(struct hearthi_pool *p, uint64_t count,
                           uint64_t *first);

#endif
