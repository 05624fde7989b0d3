/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Ranks that others wait for.
 */
#ifndef HEARTHI_TRANSPORT_UDP_WATCH_H
#define HEARTHI_TRANSPORT_UDP_WATCH_H

void hearthi_udp_watch_open(void); /* after the hello */
void hearthi_udp_watch_close(void);

/* Around whatever may last because of other ranks; `what` is the call. */
void hearthi_udp_wait_begin(const char *what);
void hearthi_udp_wait_end(void);

#endif
