/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Acknowledgements, as HEARTH_UDP_ACK wants them.
 */
#include "config.h"

#include "base/option.h"

#include "ack.h"
#include "socket.h"
#include "wire.h"

/* What has a grant needs no acknowledgement: if the grant is there, the
 * request was. */
bool
hearthi_udp_acked(unsigned op)
{
    switch (hearthi_opt.udp_ack) {
    case HEARTHI_ACK_ALL: return op != HEARTHI_UDP_NULL;
    case HEARTHI_ACK_PAGE:
        return op != HEARTHI_UDP_NULL && op != HEARTHI_UDP_GETP &&
               op != HEARTHI_UDP_GETPGRANT;
    default: return false;
    }
}

void
hearthi_udp_acknowledge(int fd, const struct hearthi_udp_message *m,
                        const struct sockaddr_in *to)
{
    struct hearthi_udp_message ack = { .op = HEARTHI_UDP_NULL,
                                       .kind = HEARTHI_UDP_ACK,
                                       .slot = m->slot,
                                       .from = m->to,
                                       .to = m->from,
                                       .seq = m->seq,
                                       .at = m->at };

    if (m->reliable)
        hearthi_udp_send(fd, to, &ack, NULL);
}
