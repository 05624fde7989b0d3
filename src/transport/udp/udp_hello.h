/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where the servers are, and a hello to one.
 */
#ifndef HEARTHI_UDP_HELLO_H
#define HEARTHI_UDP_HELLO_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/network.h"
#include "wire.h"

void hearthi_udp_hello_open(void);
void hearthi_udp_hello_close(void);

/* A rank's addresses, as it has told them: until one of them has answered,
 * hearthi_udp.server has the first. */
void hearthi_udp_ways_set(int rank, const struct hearthi_addresses *all);
void hearthi_udp_ways_text(int rank, char *text, size_t size);

/* A number for a hello, above all that this rank's hellos have had, and unlike
 * those of requests. */
uint64_t hearthi_udp_hello_number(void);

/* Say it to all addresses of m->to. */
void hearthi_udp_hello_send(int fd, struct hearthi_udp_message *m);

/* The address that answered is the one to use, if it is the first. */
void hearthi_udp_hello_heard(const struct hearthi_udp_message *m);

/* Datagrams of full size reach that rank's machine, or are not known to. */
bool hearthi_udp_size_passes(int rank);
void hearthi_udp_size_passed(int rank);

/* May this rank ask that one?  Once true, it stays. */
bool hearthi_udp_met(int rank);
void hearthi_udp_met_set(int rank);

#endif
