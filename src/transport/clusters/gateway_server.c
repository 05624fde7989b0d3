/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where asks and answers go.
 *
 * What goes to another cluster is gathered: all that comes in one turn of the
 * handler, from whichever ranks, leaves in one message, unless it is much.
 */
#include "config.h"

#include "gateway_server.h"

#include <string.h>

#include "base/report.h"
#include "base/stat.h"
#include "gateway_cache.h"
#include "gateway_homes.h"
#include "gateway_manager.h"
#include "global_collective.h"
#include "hidden_rank.h"
#include "notice/notice.h"
#include "remote_request.h"
#include "transport/log.h"
#include "world.h"

/* Bytes that are not held back for others to join them. */
enum { MUCH = 1 << 20 };

struct hearthi_gateway_server hearthi_gateway_server;

int
hearthi_cluster_of_sync(uint32_t sync)
{
    return hearthi_manager((int)sync, hearthi_gateway_server.conf->n);
}

void
hearthi_gateway_pass(int cluster, const struct hearthi_wan_message *ask,
                     const void *body)
{
    struct hearthi_message_stream *b = &hearthi_gateway_server.batch[cluster];
    size_t                         round = hearthi_wan_round(ask->len);
    char *to = hearthi_message_stream_room(b, sizeof *ask + round);

    memcpy(to, ask, sizeof *ask);
    to += sizeof *ask;
    memset(to + round - (round > 0 ? 8 : 0), 0, round > 0 ? 8 : 0);
    if (ask->len > 0)
        memcpy(to, body, ask->len);
    b->end += sizeof *ask + round;
    if (hearthi_message_stream_left(b) > MUCH)
        hearthi_gateway_send(cluster);
    hearthi_count(far_requests, 1);
}

void
hearthi_gateway_answer(struct hearthi_wan_message head, const void *body,
                       size_t len)
{
    int cluster = hearthi_cluster_of((int)head.rank);

    head.answer = 1;
    head.len = (uint32_t)len;
    if (cluster == hearthi_gateway_server.me)
        hearthi_remote_request_hand(&head, body);
    else
        hearthi_gateway_pass(cluster, &head, body);
}

static struct hearthi_message_stream scratch;

char *
hearthi_gateway_body(size_t len)
{
    scratch.at = scratch.end = 0;
    return hearthi_message_stream_room(&scratch, len);
}

void
hearthi_gateway_answer_body(struct hearthi_wan_message head, size_t len)
{
    hearthi_gateway_answer(head, scratch.p, len);
}

/* Which cluster does it. */
static int
cluster_for(const struct hearthi_wan_message *ask)
{
    switch ((enum hearthi_wan_op)ask->op) {
    case HEARTHI_WAN_FETCH:
    case HEARTHI_WAN_KEEP:
    case HEARTHI_WAN_STORE:
    case HEARTHI_WAN_READ:
    case HEARTHI_WAN_ATOMIC: return hearthi_cluster_of((int)ask->to);
    default: return hearthi_cluster_of_sync(ask->to);
    }
}

static void
serve(const struct hearthi_wan_message *ask)
{
    if (ask->op <= HEARTHI_WAN_ATOMIC)
        hearthi_gateway_homes_serve(ask);
    else
        hearthi_gateway_manager_serve(ask);
}

void
hearthi_gateway_server_take(const struct hearthi_wan_message *ask, bool far)
{
    int cluster;

    if (ask->answer) {
        hearthi_gateway_answered(ask);
        hearthi_remote_request_hand(ask, hearthi_wan_message_body(ask));
        return;
    }
    switch ((enum hearthi_wan_op)ask->op) {
    case HEARTHI_WAN_GATHER:
    case HEARTHI_WAN_BARRIER: hearthi_global_collective_take(ask, far); return;
    case HEARTHI_WAN_FORGET: hearthi_remote_request_forget(ask); return;
    case HEARTHI_WAN_ATTEND:
    case HEARTHI_WAN_CALL:
    case HEARTHI_WAN_COUNTS: hearthi_hidden_rank_take(ask); return;
    case HEARTHI_WAN_BYE:
        hearthi_gateway_bye(hearthi_gateway_place(ask->rank));
        hearthi_gateway_answer(*ask, NULL, 0);
        return;
    case HEARTHI_WAN_ENDING:
        hearthi_gateway_ending(hearthi_wan_message_body(ask));
        hearthi_gateway_answer(*ask, NULL, 0);
        return;
    default: break;
    }
    cluster = cluster_for(ask);
    if (cluster == hearthi_gateway_server.me)
        serve(ask);
    else if (!far)
        hearthi_remote_request_pass(cluster, ask);
}

/* ---- the link ---- */

static void
message(void *arg, int cluster, const void *body, size_t len)
{
    const char *at = body, *end = at + len;

    (void)arg, (void)cluster;
    while (at < end) {
        const struct hearthi_wan_message *ask = (const void *)at;

        at += sizeof *ask + hearthi_wan_round(ask->len);
        hearthi_gateway_server_take(ask, true);
    }
}

static void
up(void *arg, int cluster, const char *tell)
{
    (void)arg, (void)cluster, (void)tell;
}

static void
failed(void *arg, int cluster, const char *line)
{
    (void)arg, (void)cluster;
    hearthi_fatal("gateway", "%s", line);
}

static void
warn(void *arg, const char *line)
{
    (void)arg;
    hearthi_warn("gateway", "%s", line);
}

const struct hearthi_link_calls hearthi_gateway_link_calls = { message, up,
                                                               failed, warn };
