/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Pages, on their way to the client.
 */
#ifndef HEARTHI_UDP_PAGE_H
#define HEARTHI_UDP_PAGE_H

#include <stddef.h>

#include "transport/transport.h"

void hearthi_udp_pages_open(void);

void hearthi_udp_fetch(const struct hearthi_fetch *run, size_t n);
void hearthi_udp_fetch_concurrent(int way, const struct hearthi_fetch *run,
                                  size_t n);
bool hearthi_udp_fetch_begin(const struct hearthi_fetch *run, size_t n);
void hearthi_udp_fetch_end(void);

#endif
