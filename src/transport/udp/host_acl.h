/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Whose datagrams these are: the hosts from which ranks have said hello.  For
 * the service thread.
 */
#ifndef HEARTHI_HOST_ACL_H
#define HEARTHI_HOST_ACL_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stdint.h>

#include "wire.h"

void hearthi_udp_acl_open(void);
void hearthi_udp_acl_close(void);

bool hearthi_udp_acl_has(uint32_t rank, const struct sockaddr_in *from);

/* A hello: false if it is not a new one, and means nothing. */
bool hearthi_udp_acl_hello(const struct hearthi_udp_message *m,
                           const struct sockaddr_in         *from);

#endif
