/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Where asks and answers go.
 *
 * What goes to another cluster is gathered: all that comes in one turn of the
 * handler, from whichever ranks, leaves in one message, unless it is much.
 */
#include "config.h"

#include "gate.h"

#include <string.h>

#include "attend.h"
#include "base/report.h"
#include "base/stat.h"
#include "far.h"
#include "homes.h"
#include "kept.h"
#include "manage.h"
#include "notice/notice.h"
#include "round.h"
#include "transport/log.h"
#include "world.h"

/* Bytes that are not held back for others to join them. */
enum { MUCH = 1 << 20 };

struct hearthi_gate hearthi_gate;

int
hearthi_cluster_of_sync(uint32_t sync)
{
    return hearthi_manager((int)sync, hearthi_gate.conf->n);
}

void
hearthi_gate_pass(int cluster, const struct hearthi_ask *ask, const void *body)
{
    struct hearthi_bytes *b = &hearthi_gate.batch[cluster];
    size_t                round = hearthi_ask_round(ask->len);
    char                 *to = hearthi_bytes_room(b, sizeof *ask + round);

    memcpy(to, ask, sizeof *ask);
    to += sizeof *ask;
    memset(to + round - (round > 0 ? 8 : 0), 0, round > 0 ? 8 : 0);
    if (ask->len > 0)
        memcpy(to, body, ask->len);
    b->end += sizeof *ask + round;
    if (hearthi_bytes_left(b) > MUCH)
        hearthi_gate_send(cluster);
    hearthi_count(far_requests, 1);
}

void
hearthi_gate_answer(struct hearthi_ask head, const void *body, size_t len)
{
    int cluster = hearthi_cluster_of((int)head.rank);

    head.answer = 1;
    head.len = (uint32_t)len;
    if (cluster == hearthi_gate.me)
        hearthi_far_hand(&head, body);
    else
        hearthi_gate_pass(cluster, &head, body);
}

static struct hearthi_bytes scratch;

char *
hearthi_gate_body(size_t len)
{
    scratch.at = scratch.end = 0;
    return hearthi_bytes_room(&scratch, len);
}

void
hearthi_gate_answer_body(struct hearthi_ask head, size_t len)
{
    hearthi_gate_answer(head, scratch.p, len);
}

/* Which cluster does it. */
static int
cluster_for(const struct hearthi_ask *ask)
{
    switch ((enum hearthi_ask_op)ask->op) {
    case HEARTHI_ASK_FETCH:
    case HEARTHI_ASK_KEEP:
    case HEARTHI_ASK_STORE:
    case HEARTHI_ASK_READ:
    case HEARTHI_ASK_ATOMIC: return hearthi_cluster_of((int)ask->to);
    default: return hearthi_cluster_of_sync(ask->to);
    }
}

static void
serve(const struct hearthi_ask *ask)
{
    if (ask->op <= HEARTHI_ASK_ATOMIC)
        hearthi_homes_serve(ask);
    else
        hearthi_manage(ask);
}

void
hearthi_gate_take(const struct hearthi_ask *ask, bool far)
{
    int cluster;

    if (ask->answer) {
        hearthi_gate_answered(ask);
        hearthi_far_hand(ask, hearthi_ask_body(ask));
        return;
    }
    switch ((enum hearthi_ask_op)ask->op) {
    case HEARTHI_ASK_GATHER:
    case HEARTHI_ASK_BARRIER: hearthi_round_take(ask, far); return;
    case HEARTHI_ASK_FORGET: hearthi_far_forget(ask); return;
    case HEARTHI_ASK_ATTEND:
    case HEARTHI_ASK_CALL:
    case HEARTHI_ASK_COUNTS: hearthi_attend_take(ask); return;
    case HEARTHI_ASK_BYE:
        hearthi_gate_bye(hearthi_gate_place(ask->rank));
        hearthi_gate_answer(*ask, NULL, 0);
        return;
    case HEARTHI_ASK_ENDING:
        hearthi_gate_ending(hearthi_ask_body(ask));
        hearthi_gate_answer(*ask, NULL, 0);
        return;
    default: break;
    }
    cluster = cluster_for(ask);
    if (cluster == hearthi_gate.me)
        serve(ask);
    else if (!far)
        hearthi_far_pass(cluster, ask);
}

/* ---- the link ---- */

static void
message(void *arg, int cluster, const void *body, size_t len)
{
    const char *at = body, *end = at + len;

    (void)arg, (void)cluster;
    while (at < end) {
        const struct hearthi_ask *ask = (const void *)at;

        at += sizeof *ask + hearthi_ask_round(ask->len);
        hearthi_gate_take(ask, true);
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

const struct hearthi_link_calls hearthi_gate_calls = { message, up, failed,
                                                       warn };
