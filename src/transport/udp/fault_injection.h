/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Loss and disorder on order, for tests.
 */
#ifndef HEARTHI_FAULT_INJECTION_H
#define HEARTHI_FAULT_INJECTION_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct hearthi_udp_fault *hearthi_udp_fault_open(void); /* or NULL */
void                      hearthi_udp_fault_close(struct hearthi_udp_fault *t);

/* A datagram has come: true if it is to be taken now. */
bool hearthi_udp_fault_pass(struct hearthi_udp_fault *t, uint8_t *data,
                            size_t len, const struct sockaddr_in *from);

/* One that was held back and is due: its length, or 0. */
size_t hearthi_udp_fault_take(struct hearthi_udp_fault *t, uint8_t *data,
                              struct sockaddr_in *from);

/* When the next is due, or UINT64_MAX. */
uint64_t hearthi_udp_fault_due(const struct hearthi_udp_fault *t);

#endif
