/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The queue of who changes a flag, and waits that look at its manager.
 */
#ifndef HEARTHI_FLAG_TICKET_H
#define HEARTHI_FLAG_TICKET_H

#include "mpi.h"

/* A wait that looks at its manager's words: the longer it has lasted, the
 * fewer, so that it is late by a small part of what it took, and a crowd does
 * not load the manager.  Zeros at first.  `before` says how many others come
 * before, at least 1. */
struct hearthi_patience {
    uint64_t begin;
    unsigned turn;
};

void hearthi_patience_pause(struct hearthi_patience *p, unsigned before);

/* Wait for the turn.  Between nodes the serving word is in the node's lock
 * then. */
void hearthi_flag_ticket_enter(int sync);

/* Pass it on. */
void hearthi_flag_ticket_leave(int sync);

#endif
