/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The request handler of a cluster: one thread, on the gateway's machine, to
 * which all ranks of the cluster are connected, and which is connected to the
 * handlers of the others (link/link.h).  After Nanri and others, section 4.
 * All below runs on that thread alone.
 */
#ifndef HEARTHI_GATEWAY_SERVER_H
#define HEARTHI_GATEWAY_SERVER_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "link/conf.h"
#include "link/link.h"
#include "message_stream.h"
#include "wan_message.h"

struct hearthi_gateway_server {
    const struct hearthi_conf *conf;
    int                        me;           /* this cluster */
    int                        first, ranks; /* of this cluster */
    bool                       attended; /* a handler that is a rank hears what
                                            is exchanged (hidden_rank.h) */
    struct hearthi_link          *link;
    struct hearthi_message_stream batch[HEARTHI_CLUSTERS_MAX];
};

extern struct hearthi_gateway_server hearthi_gateway_server;

/* What the link calls. */
extern const struct hearthi_link_calls hearthi_gateway_link_calls;

/* Send what was asked on to a cluster, with all else of this turn. */
void hearthi_gateway_pass(int cluster, const struct hearthi_wan_message *msg,
                          const void *body);

/* Send what was gathered for a cluster. */
void hearthi_gateway_send(int cluster);

/* Answer: the head, and a body of so many bytes. */
void hearthi_gateway_answer(struct hearthi_wan_message head, const void *body,
                            size_t len);

/* Room for a body to be filled, and the end of that answer.  Nothing else is
 * answered in between. */
char *hearthi_gateway_body(size_t len);
void  hearthi_gateway_answer_body(struct hearthi_wan_message head, size_t len);

/* A message has come, whole, from a rank of this cluster. */
void hearthi_gateway_take_own(const struct hearthi_wan_message *msg);

/* The place of a rank of this cluster, from 0 on; behind them that of a
 * handler that is a rank. */
static inline uint32_t
hearthi_gateway_place(uint32_t rank)
{
    return rank >= (uint32_t)hearthi_gateway_server.conf->ranks
               ? (uint32_t)hearthi_gateway_server.ranks
               : rank - (uint32_t)hearthi_gateway_server.first;
}

/* Another cluster has answered a rank of this one. */
void hearthi_gateway_answered(const struct hearthi_wan_message *head);

/* Put it to the connection that asked, which is of this cluster. */
void hearthi_gateway_hand(const struct hearthi_wan_message *head,
                          const void                       *body);

/* A rank here has said goodbye; its place. */
void hearthi_gateway_bye(uint32_t place);

/* A rank here has gone without, by an error or 0: ends the job, unless it ends
 * already. */
void hearthi_gateway_client_lost(uint32_t place, int why);

/* The end of this job, before its time, by that line; and wait until the
 * others have heard.  False: another line was told before. */
bool hearthi_gateway_ending(const char *line);
void hearthi_gateway_server_ended(void);

static inline const void *
hearthi_wan_message_body(const struct hearthi_wan_message *msg)
{
    return msg + 1;
}

/* ---- homes: gateway_homes.c ---- */

/* The homes of this cluster, as ranks of other clusters reach them.  On the
 * gateway's thread. */

/* FETCH, KEEP, STORE, READ and ATOMIC. */
void hearthi_gateway_homes_serve(const struct hearthi_wan_message *msg);

/* ---- locks and the like: gateway_manager.c ---- */

/* Locks, flags, condition variables and reader-writer locks of all clusters:
 * object i is managed by the gateway of cluster i modulo their number.  On the
 * gateway's thread. */

void hearthi_gateway_manager_open(void);
void hearthi_gateway_manager_close(void);
void hearthi_gateway_manager_serve(const struct hearthi_wan_message *msg);

/* ---- barriers and exchanges: global_collective.c ---- */

/* What all ranks of all clusters do together: a barrier, and the exchange of
 * some bytes of each.  A gateway waits for what its own ranks bring, sends it
 * to each other gateway in one message, and when it has one of each gives all
 * of it to its ranks.  On the gateway's thread. */

void hearthi_global_collectives_open(void);
void hearthi_global_collectives_close(void);

/* A handler that is a rank hears no more of it. */
void hearthi_global_collectives_without(void);

/* From a rank here, or (`far`) from a gateway, in whose name its first rank
 * speaks. */
void hearthi_global_collective_take(const struct hearthi_wan_message *msg,
                                    bool                              far);

#endif
