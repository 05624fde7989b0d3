/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Sockets, and what goes out.
 */
#ifndef HEARTHI_TRANSPORT_UDP_SOCKET_H
#define HEARTHI_TRANSPORT_UDP_SOCKET_H

#include <netinet/in.h>
#include <pthread.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

#include "base/network.h"
#include "wire.h"

/* A socket bound to hearthi_udp.told and to a port (0: any), with large
 * buffers; what of its receive buffer datagrams can use. */
int                hearthi_udp_socket(unsigned port);
size_t             hearthi_udp_room(int fd);
struct sockaddr_in hearthi_udp_address_of(int fd);

enum {
    HEARTHI_UDP_BATCH = 64,   /* datagrams of one call, at most */
    HEARTHI_UDP_CALL = 65507, /* bytes of one call, at most */
};

/* Authenticate and send; what the kernel cannot take now counts as lost.
 * `head` may be NULL, or gets the head as it was sent. */
void hearthi_udp_send(int fd, const struct sockaddr_in *to,
                      struct hearthi_udp_message *m, uint8_t *head);

/* Write the head of a message whose body is there. */
void hearthi_udp_head(struct hearthi_udp_message *m, uint8_t *head);

/* Send n datagrams of a head and a body each, in turn in `part`, all but the
 * last of `each` bytes: at most HEARTHI_UDP_BATCH and HEARTHI_UDP_CALL. */
void hearthi_udp_send_together(int fd, const struct sockaddr_in *to,
                               struct iovec *part, unsigned n, size_t each);

/* The end of a thread that receives there: `to` is the socket's address. */
void hearthi_udp_receiver_end(pthread_t thread, const atomic_bool *ended,
                              int fd, const struct sockaddr_in *to);

/* ---- mac.c ---- */

/* MACs of datagrams. */

void hearthi_udp_mac_open(void);
void hearthi_udp_mac_close(void);

/* Was the library built with a keyed hash? */
bool     hearthi_udp_can_mac(void);
uint64_t hearthi_udp_mac(const uint8_t *head, const void *body, size_t len);

/* Does a message of this operation get an acknowledgement of its own? */
bool hearthi_udp_acked(unsigned op);

/* Tell the sender of a message that it has arrived, if it wants that. */
void hearthi_udp_acknowledge(int fd, const struct hearthi_udp_message *m,
                             const struct sockaddr_in *to);

#endif
