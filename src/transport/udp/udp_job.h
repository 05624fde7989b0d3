/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What all files of the udp transport know of the job.
 *
 * Each rank has one server socket with a service thread, which executes
 * requests, and client sockets, a *slot* each: whoever asks takes a slot and
 * receives the answer there itself.  Pages and diffs have slot 0, which the
 * lock of the page table guards; pages that are fetched without that lock have
 * the slot behind their way's number; every other call takes a free one.
 *
 * Any datagram may come twice, late or never.  A client repeats its request
 * until the answer is there, and numbers its requests to each server.  A
 * server does nothing twice (server.c).
 *
 * The layers, the lowest first; no file knows of a higher one:
 *   - datagrams: wire, job, count, seal, socket, trouble, inbox, hello,
 *     hosts
 *   - requests and answers: thread, ack, local, gone, timer, server, meet,
 *     client, row, watch, pace, flight
 *   - what is asked for: home, diff and page; object, stay, cond, manager and
 *     sync (locks, flags, atomics); news and barrier
 *   - the start: address, udp
 */
#ifndef HEARTHI_UDP_JOB_H
#define HEARTHI_UDP_JOB_H

#include <netinet/in.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "transport/transport.h"
#include "wire.h"

enum {
    HEARTHI_UDP_SMALL = HEARTHI_LOG * HEARTHI_UDP_NOTICE, /* body, at most */
};

struct hearthi_udp {
    struct hearthi_udp_limits limits;
    struct sockaddr_in       *server; /* of each rank */
    uint8_t                   key[16], body_key[32];
    uint64_t                  session;
    bool                      auth;
    size_t                    fragment; /* most bytes of a body */
    uint32_t                  notices;  /* most in a small message */
    size_t                    room;     /* that any server's socket has */
};

extern struct hearthi_udp hearthi_udp;

#endif
