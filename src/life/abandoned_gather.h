/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which locks are lost with a rank that is gone: who manages one, or shares
 * memory with that rank, may know.
 */
#ifndef HEARTHI_ABANDONED_GATHER_H
#define HEARTHI_ABANDONED_GATHER_H

#include "liveness_line.h"

void hearthi_abandoned_gather_open(void);

/* Add what this rank knows.  May not wait long. */
void hearthi_abandoned_gather_add(int rank, struct hearthi_abandoned_locks *l);

/* All others are asked: by the rank after the one that is gone, once. */
void hearthi_abandoned_gather_ask(int gone);

/* That has come by, and goes on. */
void hearthi_abandoned_gather_heard(const struct hearthi_record *r);

#endif
