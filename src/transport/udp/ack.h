/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Acknowledgements.
 */
#ifndef HEARTHI_TRANSPORT_UDP_ACK_H
#define HEARTHI_TRANSPORT_UDP_ACK_H

#include <netinet/in.h>
#include <stdbool.h>

#include "wire.h"

/* Does a message of this operation get an acknowledgement of its own? */
bool hearthi_udp_acked(unsigned op);

/* Tell the sender of a message that it has arrived, if it wants that. */
void hearthi_udp_acknowledge(int fd, const struct hearthi_udp_message *m,
                             const struct sockaddr_in *to);

#endif
