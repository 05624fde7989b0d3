/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The word of a lock at a rank that waits in its queue (mcs_lock.h): the rank
 * before puts the grant there, with the lock's token.
 *
 * The word alone says who has the lock.  Where ranks share cores a rank that
 * waits looks at it for some turns, and then sleeps: a datagram behind the grant
 * wakes it, and where that is lost it looks by itself, 10 ms later.
 */
#ifndef HEARTHI_MCS_GRANT_H
#define HEARTHI_MCS_GRANT_H

#include <stdbool.h>
#include <stdint.h>

#include "mcs_lock.h"

/* Give the lock to the rank of that name. */
void hearthi_mcs_grant(int lock, uint64_t name, uint64_t token);

/* Wait for that behind a place; the lock is known to be kept there, or not.
 * The token. */
uint64_t hearthi_mcs_grant_wait(int lock, int before, bool kept);

/* A datagram tells that a lock was granted to this rank. */
void hearthi_mcs_granted(void);

/* Tell the rank of a place that a lock that it keeps is wanted. */
void hearthi_mcs_ring(struct hearthi_want *want, int lock, int place);

#endif
