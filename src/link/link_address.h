/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Addresses of gateways: a name may have several, of both kinds of IP.
 */
#ifndef HEARTHI_LINK_ADDRESS_H
#define HEARTHI_LINK_ADDRESS_H

#include <netinet/in.h>
#include <sys/socket.h>

#include "conf.h"

enum { HEARTHI_GATEWAY_TEXT = 80 };

struct hearthi_gateway {
    int n, next; /* next: which is tried, until it does not answer */
    struct {
        socklen_t               len;
        struct sockaddr_storage to;
    } * at;
};

/* Look the name up: all its addresses; and forget them. */
bool hearthi_gateway_find(struct hearthi_gateway      *g,
                          const struct hearthi_member *c,
                          struct hearthi_link_error   *wrong);

void hearthi_gateway_forget(struct hearthi_gateway *g);

/* A socket that listens there; -1 with what is wrong.  On all addresses of
 * this machine if the file has a name, or an address that is none of them (it
 * may be that of a router in front). */
int hearthi_gateway_listen(const struct hearthi_gateway *g,
                           const struct hearthi_member  *c,
                           struct hearthi_link_error    *wrong);

/* "192.0.2.10:7100" */
void hearthi_gateway_text(const struct sockaddr *a, socklen_t len,
                          char out[static HEARTHI_GATEWAY_TEXT]);

#endif
