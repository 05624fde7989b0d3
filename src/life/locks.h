/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Which locks are lost with a rank that is gone: who manages one, or shares
 * memory with that rank, may know.
 */
#ifndef HEARTHI_LIFE_LOCKS_H
#define HEARTHI_LIFE_LOCKS_H

#include "line.h"

void hearthi_locks_open(void);

/* Add what this rank knows.  May not wait long. */
void hearthi_locks_know(int rank, struct hearthi_lost *l);

/* All others are asked: by the rank after the one that is gone, once. */
void hearthi_locks_ask(int gone);

/* That has come by, and goes on. */
void hearthi_locks_heard(const struct hearthi_record *r);

#endif
