/* SPDX-License-Identifier: BSD-2-Clause
 *
 * As the transport's (transport.h).
 */
#ifndef HEARTHI_GATEWAY_STORE_H
#define HEARTHI_GATEWAY_STORE_H

#include <stddef.h>

void hearthi_udp_store(int home, size_t offset, const void *src, size_t len);
void hearthi_udp_stored(void);

#endif
