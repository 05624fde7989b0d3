/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks that have names: numbers beyond those that are always there, and
 * addresses.  A name is given a lock when it is first used, the next one of
 * its manager: so what is kept for each lock lies side by side, for as many as
 * are in use.  How many there may be, and what this rank knows of their names.
 */
#ifndef HEARTHI_LOCK_NAMES_H
#define HEARTHI_LOCK_NAMES_H

#include <stdatomic.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/lock_key.h"
#include "transport/log.h"

extern size_t hearthi_lock_names_each; /* of one manager, at most */
extern int    hearthi_syncs;           /* objects of all kinds */

/* One more than the last of those of which this rank has a name, or than the
 * last that has none: what it can have to do with is below. */
extern atomic_int hearthi_syncs_top;

void hearthi_lock_names_open(void);
void hearthi_lock_names_close(void);

/* Of any lock; 0 if this rank does not know it. */
uint64_t hearthi_lock_names_key(int sync);

/* This rank knows the name of one from now on. */
void hearthi_lock_names_note(int sync, uint64_t name);

/* The lock that has a name, which this rank has noted; or -1.  Beside all
 * other calls. */
int hearthi_lock_names_known(uint64_t name);

#endif
