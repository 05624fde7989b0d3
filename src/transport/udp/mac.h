/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Seals of datagrams.
 */
#ifndef HEARTHI_MAC_H
#define HEARTHI_MAC_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void hearthi_udp_mac_open(void);
void hearthi_udp_mac_close(void);

/* Was the library built with a keyed hash? */
bool     hearthi_udp_can_mac(void);
uint64_t hearthi_udp_mac(const uint8_t *head, const void *body, size_t len);

#endif
