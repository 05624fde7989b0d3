/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The client's side of pages and diffs: several messages on their way in
 * slot 0.
 */
#ifndef HEARTHI_TRANSPORT_UDP_BULK_H
#define HEARTHI_TRANSPORT_UDP_BULK_H

#include <stddef.h>

#include "transport/transport.h"
#include "wire.h"

void hearthi_udp_fetch(const struct hearthi_fetch *run, size_t n);
void hearthi_udp_diff(int home, size_t offset, const void *src, size_t len);
void hearthi_udp_tell(int home);
void hearthi_udp_flush(void);
void hearthi_udp_diffs_send(void); /* those that were kept to be packed */

void hearthi_udp_pages_open(void);
void hearthi_udp_diffs_open(void);
void hearthi_udp_diffs_close(void);

/* Wait for one message and take it, and send again what is late. */
void hearthi_udp_bulk_turn(void);

/* Their parts of that. */
void hearthi_udp_page_take(const struct hearthi_udp_message *m);
void hearthi_udp_diff_take(const struct hearthi_udp_message *m);

#endif
