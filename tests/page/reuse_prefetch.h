/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What the tests of predicted pages have in common.
 */
#ifndef HEARTH_PREDICT_H
#define HEARTH_PREDICT_H

#include "fixture.h"

/* Pages that no sequence leads to.  After so many rounds they are brought, and
 * after LONG ones opened without a touch. */
enum { USED = 12, PAGES = 72, TRAIN = 5, LONG = 40 };

/* The word of the k-th of them. */
int64_t *used(int64_t *p, int k);

/* The last rank, if it shares no memory with rank 0. */
bool plays(void);
bool is_reader(void);

void all_write(int64_t *p);
void all_read(int64_t *p);

/* Rank 0 writes all, then they are read, or not. */
void rounds(int64_t *p, int n, bool read);

/* An allocation after so many rounds; and one whose pages have been written,
 * and are about to be brought or here. */
int64_t *trained(int n);
int64_t *brought(void);
void     brought_end(int64_t *p);

/* What was counted. */
hearth_stats since(const hearth_stats *before);

/* reuse_prefetch_cost.c */
TCase *predict_costs(const char *name, void (*start)(void));

#endif
