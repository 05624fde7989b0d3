/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What all files of the udp transport know of the job.
 *
 * Each rank has one server socket with a service thread, which executes
 * requests, and client sockets, a *slot* each: the thread that asks takes a
 * slot and receives the answer there itself.  Pages and diffs have slot 0,
 * which the lock of the page table guards; pages that are fetched without that
 * lock have the slot behind their way's number; every other call takes a free
 * one.
 *
 * Any datagram may come twice, late or never.  A client repeats its request
 * until the answer is there, and numbers its requests to each server.  A
 * server does nothing twice (server.c).
 *
 * The layers, the lowest first; no file knows of a higher one:
 *   - datagrams: wire, udp_job, mac, socket, fault_injection,
 *     datagram_rx, udp_hello, host_acl
 *   - requests and answers: ack, shm_message, peer_failure,
 *     timer, server, peer_handshake, client, pipeline, liveness_probe,
 *     congestion, flow_control, send_window
 *   - what is asked for: udp_home, udp_diff and udp_page; udp_delegation,
 *     sync_manager and sync (locks, flags, atomics); barrier_notices and
 *     barrier
 *   - the start: udp_address, udp
 */
#ifndef HEARTHI_UDP_JOB_H
#define HEARTHI_UDP_JOB_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/network.h"
#include "transport/transport.h"
#include "wire.h"

enum {
    HEARTHI_UDP_SMALL = HEARTHI_LOG * HEARTHI_UDP_NOTICE, /* body, at most */
};

struct hearthi_udp {
    struct hearthi_udp_limits limits;
    struct sockaddr_in       *server; /* of each rank */
    struct hearthi_addresses  told;   /* of this one: the same for all of its
                                         sockets, whatever becomes of the host */
    uint8_t                   key[16], body_key[32];
    uint64_t                  session;
    bool                      auth;
    size_t                    fragment; /* most bytes of a body */
    uint32_t                  notices;  /* most in a small message */
    size_t                    room;     /* that any server's socket has */
};

extern struct hearthi_udp hearthi_udp;

/* ---- socket.c: counts ---- */

/* Messages and bytes by operation, and what was refused by reason. */

void hearthi_udp_count_sent(unsigned op, unsigned messages, size_t bytes);
void hearthi_udp_count_resent(unsigned op); /* it was sent again */
void hearthi_udp_count_refused(enum hearthi_udp_reason reason);

const char *hearthi_udp_reason_name(unsigned i);

#endif
