/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The handler's thread and the connections of the ranks of its cluster.
 */
#ifndef HEARTHI_GATEWAY_THREAD_H
#define HEARTHI_GATEWAY_THREAD_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/socket.h>

#include "gateway_channel.h"
#include "rank_listener.h"

/* Serve, until each of them has said goodbye; hearthi_gateway_server is
 * complete. */
void hearthi_gateway_thread_start(void);
void hearthi_gateway_thread_join(void);

/* This is the handler's own thread. */
bool hearthi_gateway_thread_is_self(void);

/* ---- its ranks: gateway_clients.c ---- */

/* The connections of a cluster's ranks to its gateway, whose clients they are:
 * what they ask is taken (gateway_server.h), and what is put to them leaves.
 * On the gateway's thread, but for what begins and ends. */

/* Begin to listen: where. */
struct hearthi_listener hearthi_gateway_clients_listen(void);

/* A thread that waits for clients waits for this descriptor, too. */
void hearthi_gateway_clients_open(int other);
void hearthi_gateway_clients_close(void);

/* In a child that fork(2) has made, so that ranks see the gateway end. */
void hearthi_gateway_clients_forked(void);

/* Take what they have sent, or send in so many milliseconds; or return when
 * there is something at the other descriptor. */
void hearthi_gateway_clients_take(int ms);
void hearthi_gateway_clients_send(void);

/* A rank may close its connections from now on. */
void hearthi_gateway_clients_bye(uint32_t place);

/* ---- connections that are not known yet: gateway_strangers.c ---- */

/* Part of a connection. */
struct hearthi_stranger {
    struct hearthi_stranger **place; /* NULL: it wants none */
    uint64_t                  since; /* it came */
    unsigned                  host;  /* its number in the crowd */
};

void hearthi_strangers_open(void);

/* One that comes from there, and whether it may be listened to. */
struct hearthi_stranger hearthi_stranger_of(const struct sockaddr *from);
bool                    hearthi_stranger_may(const struct hearthi_stranger *g);

/* Whose place is to be given to another one: NULL if there are more. */
struct hearthi_stranger *hearthi_strangers_last(void);

/* It takes a place, where one is free; and gives it, known now or gone. */
void hearthi_stranger_enter(struct hearthi_stranger *g);
void hearthi_stranger_leave(struct hearthi_stranger *g);

/* It has gone unknown. */
void hearthi_stranger_count(const struct hearthi_stranger *g);

/* One that has a place, or NULL. */
struct hearthi_stranger *hearthi_strangers_any(void);

/* ---- how long a message waits: batching.c ---- */

/* Which ranks will ask at the same time.  Ranks whose answers have come from
 * other clusters in one moment mostly ask again in one moment, and then a
 * message that waits for them carries what all of them ask, and brings all
 * their answers back together.  Without this the first to ask goes alone, and
 * so does its answer, and ranks that ask all the time never meet.
 *
 * What waits is the message, for WAIT after those answers at most; the message
 * of a rank that asks alone waits for no other.  On the gateway's thread. */

/* Of so many connections. */
void hearthi_batching_open(size_t n);
void hearthi_batching_close(void);

/* An answer of another cluster goes to one of them; and it has asked. */
void hearthi_batching_answered(size_t connection);
void hearthi_batching_asked(size_t connection);

/* Others may ask in this moment. */
bool hearthi_batching_expected(void);

#endif
