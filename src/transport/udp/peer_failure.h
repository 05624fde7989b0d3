/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The end of a job whose ranks do not hear each other.
 */
#ifndef HEARTHI_PEER_FAILURE_H
#define HEARTHI_PEER_FAILURE_H

#include <stdbool.h>

#include "datagram_rx.h"
#include "wire.h"

/* Is this the answer of that rank's server to this hello, or to one before it
 * with a number above `since`?  On a slow link an answer comes when there has
 * been another hello; and no answer counts twice, if `since` is the last that
 * did. */
bool hearthi_udp_is_here(const struct hearthi_udp_message *m,
                         const struct hearthi_udp_message *hello,
                         uint64_t                          since);

/* End the job, because a rank is silent; `what` is the call that waits. */
_Noreturn void hearthi_udp_peer_failed(int rank, const char *what);

/* ---- liveness_probe.c ---- */

/* Ranks that others wait for. */

void hearthi_udp_liveness_open(void); /* after the hello */
void hearthi_udp_liveness_close(void);

/* Around whatever may last because of other ranks; `what` is the call. */
void hearthi_udp_liveness_wait_begin(const char *what);
void hearthi_udp_liveness_wait_end(void);

#endif
