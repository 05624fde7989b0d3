/* SPDX-License-Identifier: BSD-2-Clause
 *
 * One connection of a rank at its gateway, and what belongs to all of them.
 * On the gateway's thread, for gateway_clients.c alone.
 */
#ifndef HEARTHI_GATEWAY_CLIENT_H
#define HEARTHI_GATEWAY_CLIENT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "connection_replay.h"
#include "gateway_thread.h"
#include "message_stream.h"
#include "rank_listener.h"

struct hearthi_client {
    struct hearthi_stranger stranger; /* first */
    int                     fd;       /* -1: it was reset, and may come back */
    bool     known, full, touched;    /* full: wants to be writable */
    uint64_t calls;                   /* the number of the one that it is by */
    struct hearthi_client *next; /* of the touched: something is to go out */
    uint32_t               rank, slot; /* rank: its place here */
    struct hearthi_message_stream in;
    struct hearthi_replay         replay;
};

struct hearthi_client_rank {
    bool     bye;
    int      up;   /* connections that are there */
    uint64_t down; /* since when there is none any more; 0: one is, or never */
};

struct hearthi_clients {
    int                         epoll, listen;
    struct hearthi_listener     listener;
    struct hearthi_client     **of;   /* each rank's slots */
    struct hearthi_client_rank *rank; /* and one that is not seen */
    struct hearthi_client      *going;
    int                         down; /* ranks without a connection */
};

extern struct hearthi_clients hearthi_clients;

/* What the first n bytes of a connection are: of a rank, and of a connection
 * that it has not already, or that goes on? */
enum hearthi_rank_hello
hearthi_client_judge(const struct hearthi_listener_words *w, size_t n);

void hearthi_client_watch(struct hearthi_client *g, int fd, int how,
                          uint32_t events);

/* Take what has come, or send what goes: either may close it. */
void hearthi_client_serve(struct hearthi_client *g);
void hearthi_client_send(struct hearthi_client *g);
void hearthi_client_close(struct hearthi_client *g);

/* Ranks that have been without a connection for too long are gone. */
void hearthi_clients_look(void);

#endif
