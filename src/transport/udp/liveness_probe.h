/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ranks that others wait for.
 */
#ifndef HEARTHI_LIVENESS_PROBE_H
#define HEARTHI_LIVENESS_PROBE_H

void hearthi_udp_liveness_open(void); /* after the hello */
void hearthi_udp_liveness_close(void);

/* Around whatever may last because of other ranks; `what` is the call. */
void hearthi_udp_liveness_wait_begin(const char *what);
void hearthi_udp_liveness_wait_end(void);

#endif
