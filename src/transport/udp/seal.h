/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Seals of datagrams.
 */
#ifndef HEARTHI_TRANSPORT_UDP_SEAL_H
#define HEARTHI_TRANSPORT_UDP_SEAL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

void hearthi_udp_seal_open(void);
void hearthi_udp_seal_close(void);

/* Was the library built with a keyed hash? */
bool     hearthi_udp_can_seal(void);
uint64_t hearthi_udp_seal(const uint8_t *head, const void *body, size_t len);

#endif
