/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Waits that look at a manager, and logs that are read without a turn.
 */
#ifndef HEARTHI_TRANSPORT_MPI_FLAG_H
#define HEARTHI_TRANSPORT_MPI_FLAG_H

#include "rma_object.h"

/* A wait that looks at its manager's words: the longer it has lasted, the
 * fewer, so that it is late by a small part of what it took, and a crowd does
 * not load the manager.  Zeros at first.  `before` says how many others come
 * before, at least 1. */
struct hearthi_patience {
    uint64_t begin;
    unsigned turn;
};

void hearthi_patience_pause(struct hearthi_patience *p, unsigned before);

/* Publish in an object's log, and let its `serving` say `set`. */
void hearthi_flag_change(int sync, bool set, const struct hearthi_notice *n,
                         size_t count);

/* Read what is news for a grant in the log of an object, of which this was
 * read; others may write there meanwhile. */
void hearthi_flag_log(int sync, struct hearthi_serving s,
                      struct hearthi_grant *g);

#endif
