/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What comes in: good messages.
 */
#ifndef HEARTHI_DATAGRAM_RX_H
#define HEARTHI_DATAGRAM_RX_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/timing.h"
#include "socket.h"
#include "wire.h"

/* What a receiver needs, and what its last call of the kernel brought. */
struct hearthi_udp_item {
    uint8_t           *head, *body;
    size_t             len; /* of both */
    struct sockaddr_in from;
};

struct hearthi_udp_rx {
    int                       fd;
    bool                      server;
    uint8_t                  *buffer, *held;
    struct hearthi_udp_fault *fault;
    uint32_t                  overruns; /* as the kernel counts them */
    struct hearthi_service    service;  /* a server's thread is awake */
    unsigned                  n, at;
    struct hearthi_udp_item   item[HEARTHI_UDP_BATCH];
};

/* A server's receives from many and takes several datagrams in one call, a
 * client's takes those of one sender that the kernel has put together. */
void hearthi_udp_rx_open(struct hearthi_udp_rx *in, int fd, bool server);
void hearthi_udp_rx_close(struct hearthi_udp_rx *in);

/* The next good message before `end` (of hearthi_now), or false, which a
 * server, whose `end` does not count, gets where nothing good has come.  Its
 * body is valid until the next call. */
bool hearthi_udp_receive(struct hearthi_udp_rx *in, uint64_t end,
                         struct hearthi_udp_message *m,
                         struct sockaddr_in         *from);

/* ---- fault_injection.c ---- */

/* Loss and disorder on order, for tests. */

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
