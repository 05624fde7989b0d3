/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What slot 0 asks the service thread for: pages and diffs.
 */
#ifndef HEARTHI_UDP_HOME_H
#define HEARTHI_UDP_HOME_H

#include <netinet/in.h>

#include "wire.h"

void hearthi_udp_home_open(int fd); /* the server's socket */
void hearthi_udp_home_close(void);
void hearthi_udp_home_serve(const struct hearthi_udp_message *m,
                            const struct sockaddr_in         *from);

#endif
