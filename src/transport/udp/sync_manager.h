/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks and flags.  With the mutex of the servers.
 */
#ifndef HEARTHI_SYNC_MANAGER_H
#define HEARTHI_SYNC_MANAGER_H

#include <stdint.h>

#include "transport/abandoned_locks.h"
#include "wire.h"

void hearthi_udp_manager_open(void);
void hearthi_udp_manager_close(void);
void hearthi_udp_manage(uint32_t peer, const struct hearthi_udp_message *m);

/* Add the locks that a rank has, held or kept, of those that this one manages.
 * Without the mutex; nothing if it is not to be had soon, as whoever has it
 * may be one of those who wait for the end. */
void hearthi_udp_abandoned_locks(int rank, struct hearthi_abandoned_locks *l);

#endif
