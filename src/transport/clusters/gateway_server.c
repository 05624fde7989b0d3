/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where questions and answers go.
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
#include "hidden_rank.h"
#include "link/gateway_connection.h"
#include "node/lock_names.h"
#include "notice/notice.h"
#include "remote_request.h"
#include "space/heap.h"
#include "space/segment.h"
#include "transport/log.h"
#include "wan_validate.h"
#include "world.h"

/* Bytes that are not held back for others to join them. */
enum { MUCH = 1 << 20 };

struct hearthi_gateway_server hearthi_gateway_server;

/* Which cluster manages a synchronisation object. */
static int
cluster_of_sync(uint32_t sync)
{
    return hearthi_manager((int)sync, hearthi_gateway_server.conf->n);
}

void
hearthi_gateway_pass(int cluster, const struct hearthi_wan_message *msg,
                     const void *body)
{
    struct hearthi_message_stream *b = &hearthi_gateway_server.batch[cluster];
    size_t                         round = hearthi_wan_round(msg->len);
    char *to = hearthi_message_stream_room(b, sizeof *msg + round);

    memcpy(to, msg, sizeof *msg);
    to += sizeof *msg;
    memset(to + round - (round > 0 ? 8 : 0), 0, round > 0 ? 8 : 0);
    if (msg->len > 0)
        memcpy(to, body, msg->len);
    b->end += sizeof *msg + round;
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

/* Of what is the same in all clusters. */
static const char *
fault_of(const struct hearthi_wan_message *msg, size_t there, bool far)
{
    const struct hearthi_bounds b = {
        .clusters = hearthi_gateway_server.conf->n,
        .me = hearthi_gateway_server.me,
        .first = hearthi_world.first_of,
        .syncs = (uint32_t)hearthi_syncs,
        .pages = hearthi_heap.pages,
        .frames = hearthi_segments.frames,
        .frames_at = hearthi_segments.frames_at,
        .segment = hearthi_segments.bytes,
        .shift = hearthi_heap.shift,
        .longest = HEARTHI_CONNECTION_LONGEST,
    };
    const char *why = hearthi_wan_message_fault(msg, there, far, &b);

    if (why == NULL && msg->answer && !hearthi_remote_request_expects(msg))
        return "an answer that is not as long as what was asked";
    return why;
}

/* Which cluster does it. */
static int
cluster_for(const struct hearthi_wan_message *msg)
{
    switch ((enum hearthi_wan_op)msg->op) {
    case HEARTHI_WAN_FETCH:
    case HEARTHI_WAN_KEEP:
    case HEARTHI_WAN_STORE:
    case HEARTHI_WAN_READ:
    case HEARTHI_WAN_ATOMIC: return hearthi_cluster_of((int)msg->to);
    default: return cluster_of_sync(msg->to);
    }
}

static void
serve(const struct hearthi_wan_message *msg)
{
    if (msg->op <= HEARTHI_WAN_ATOMIC)
        hearthi_gateway_homes_serve(msg);
    else
        hearthi_gateway_manager_serve(msg);
}

/* Of those that end the job one speaks, the first (hear.h). */
static void
ending_take(const struct hearthi_wan_message *msg)
{
    struct hearthi_wan_message head = *msg;

    head.kind = hearthi_gateway_ending(hearthi_wan_message_body(msg))
                    ? HEARTHI_WAN_TAKEN
                    : 0;
    hearthi_gateway_answer(head, NULL, 0);
}

static void
tell_pass(const struct hearthi_wan_message *msg)
{
    struct hearthi_wan_message head = *msg;
    int                        cluster = hearthi_cluster_of((int)msg->to);

    if (cluster != hearthi_gateway_server.me) {
        hearthi_gateway_pass(cluster, msg, hearthi_wan_message_body(msg));
        return;
    }
    head.rank = msg->to;
    head.slot = HEARTHI_WAN_HEARS;
    hearthi_gateway_hand(&head, hearthi_wan_message_body(msg));
}

static void
gate_take(const struct hearthi_wan_message *msg, bool far)
{
    int cluster;

    if (msg->answer) {
        hearthi_gateway_answered(msg);
        hearthi_remote_request_hand(msg, hearthi_wan_message_body(msg));
        return;
    }
    switch ((enum hearthi_wan_op)msg->op) {
    case HEARTHI_WAN_GATHER:
    case HEARTHI_WAN_BARRIER: hearthi_global_collective_take(msg, far); return;
    case HEARTHI_WAN_FORGET: hearthi_remote_request_forget(msg); return;
    case HEARTHI_WAN_ATTEND:
    case HEARTHI_WAN_CALL:
    case HEARTHI_WAN_COUNTS: hearthi_hidden_rank_take(msg); return;
    case HEARTHI_WAN_BYE:
        hearthi_gateway_bye(hearthi_gateway_place(msg->rank));
        hearthi_gateway_answer(*msg, NULL, 0);
        return;
    case HEARTHI_WAN_ENDING: ending_take(msg); return;
    case HEARTHI_WAN_TELL: tell_pass(msg); return;
    default: break;
    }
    cluster = cluster_for(msg);
    if (cluster == hearthi_gateway_server.me)
        serve(msg);
    else if (!far)
        hearthi_remote_request_pass(cluster, msg);
}

void
hearthi_gateway_take_own(const struct hearthi_wan_message *msg)
{
    const char *why =
        fault_of(msg, sizeof *msg + hearthi_wan_round(msg->len), false);

    if (why != NULL)
        hearthi_fatal("gateway", "rank %u: its ask %u makes no sense: %s",
                      msg->rank, msg->op, why);
    gate_take(msg, false);
}

/* ---- the link ---- */

static void
message(void *arg, int cluster, const void *body, size_t len)
{
    const char *at = body, *end = at + len;

    (void)arg;
    while (at < end) {
        const struct hearthi_wan_message *msg = (const void *)at;
        const char *why = fault_of(msg, (size_t)(end - at), true);

        if (why != NULL)
            hearthi_fatal("gateway",
                          "cluster %s: what its gateway sends makes no sense: "
                          "%s",
                          hearthi_gateway_server.conf->cluster[cluster].name,
                          why);
        at += sizeof *msg + hearthi_wan_round(msg->len);
        gate_take(msg, true);
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
