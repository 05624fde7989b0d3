/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The end of a job whose ranks do not hear each other.
 */
#ifndef HEARTHI_PEER_FAILURE_H
#define HEARTHI_PEER_FAILURE_H

#include <stdbool.h>

#include "datagram_rx.h"
#include "wire.h"

/* Is this the answer of that rank's server to this hello? */
bool hearthi_udp_is_here(const struct hearthi_udp_message *m,
                         const struct hearthi_udp_message *hello);

/* End the job, because a rank is silent; `what` is the call that waits. */
_Noreturn void hearthi_udp_peer_failed(int rank, const char *what);

#endif
