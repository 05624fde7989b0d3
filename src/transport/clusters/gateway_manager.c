/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ranks ask of managed objects (transport/sync/), and what they are
 * answered.
 */
#include "config.h"

#include "gateway_server.h"

#include <stdlib.h>

#include "base/assert.h"
#include "base/report.h"
#include "node/lock_names.h"
#include "space/heap.h"
#include "transport/sync/managed_object.h"
#include "world.h"

/* A rank that is not answered yet. */
struct waiter {
    struct hearthi_managed_client client; /* first */
    struct hearthi_wan_message    msg;
};

static struct hearthi_managed_client *
waiter_new(const struct hearthi_wan_message *msg)
{
    struct waiter *w = malloc(sizeof *w);

    if (w == NULL)
        hearthi_fatal("gateway", "no memory for a rank that waits");
    *w = (struct waiter){ .client = { .at = msg->at,
                                      .pos = msg->n,
                                      .rank = msg->rank,
                                      .try = msg->kind & HEARTHI_WAN_TRY,
                                      .write = msg->kind & HEARTHI_WAN_WRITE },
                          .msg = *msg };
    return &w->client;
}

/* Its answer, to be filled. */
static struct hearthi_wan_message
waiter_end(struct hearthi_managed_client *c)
{
    struct waiter             *w = (struct waiter *)c;
    struct hearthi_wan_message msg = w->msg;

    free(w);
    return msg;
}

/* ---- answers ---- */

static void
grant(const struct hearthi_managed_object *o, struct hearthi_managed_client *c,
      const struct hearthi_managed_grant *g)
{
    struct hearthi_notice      notice[HEARTHI_LOG];
    struct hearthi_wan_message msg = waiter_end(c);
    uint32_t n = hearthi_managed_notices(o, g->news, notice, HEARTHI_LOG);

    HEARTHI_ASSERT(g->lock == (msg.op == HEARTHI_WAN_ACQUIRE));
    msg.kind =
        (uint8_t)(HEARTHI_WAN_TAKEN | (g->again ? HEARTHI_WAN_AGAIN : 0) |
                  (g->lost ? HEARTHI_WAN_INVALIDATE_ALL : 0) |
                  (g->ahead ? HEARTHI_WAN_AHEAD : 0));
    msg.at = g->epoch;
    msg.n = g->pos;
    hearthi_gateway_answer(msg, notice, n * sizeof *notice);
}

static void
refuse(struct hearthi_managed_client *c)
{
    struct hearthi_wan_message msg = waiter_end(c);

    msg.kind = 0;
    hearthi_gateway_answer(msg, NULL, 0);
}

static void
woken(struct hearthi_managed_client *c)
{
    hearthi_gateway_answer(waiter_end(c), NULL, 0);
}

static int
group(uint32_t rank)
{
    return hearthi_cluster_of((int)rank);
}

/* ---- start and end ---- */

static const struct hearthi_managed_driver driver = {
    .grant = grant, .refuse = refuse, .woken = woken, .group = group
};

static struct hearthi_managed_objects managed;

static size_t
managed_bytes(void)
{
    return hearthi_managed_bytes(hearthi_gateway_server.conf->n,
                                 hearthi_syncs);
}

void
hearthi_gateway_manager_open(void)
{
    managed = (struct hearthi_managed_objects){
        .driver = &driver,
        .me = hearthi_gateway_server.me,
        .managers = hearthi_gateway_server.conf->n,
        .reads = true,
        .object = hearthi_sparse(managed_bytes()),
    };
    hearthi_managed_open(&managed);
}

void
hearthi_gateway_manager_close(void)
{
    hearthi_sparse_free(managed.object, managed_bytes());
}

/* ---- what is asked ---- */

void
hearthi_gateway_manager_serve(const struct hearthi_wan_message *msg)
{
    struct hearthi_managed_object *o =
        hearthi_managed_object(&managed, (int)msg->to);
    const struct hearthi_notice *notices = hearthi_wan_message_body(msg);
    struct hearthi_wan_message   done = *msg;

    switch ((enum hearthi_wan_op)msg->op) {
    case HEARTHI_WAN_ACQUIRE:
        hearthi_managed_acquire(o, waiter_new(msg));
        return;
    case HEARTHI_WAN_WAIT:
        hearthi_managed_flag_wait(o, waiter_new(msg));
        return;
    case HEARTHI_WAN_SLEEP:
        hearthi_managed_cond_wait(o, waiter_new(msg));
        return;
    case HEARTHI_WAN_ENTER: done.at = hearthi_managed_cond_enter(o); break;
    case HEARTHI_WAN_RELEASE:
        hearthi_managed_release(o, msg->rank, msg->at, notices, msg->n);
        break;
    case HEARTHI_WAN_SET:
        hearthi_managed_flag_set(o, msg->at, notices, msg->n);
        break;
    case HEARTHI_WAN_RESET: hearthi_managed_flag_reset(o); break;
    case HEARTHI_WAN_WAKE:
        hearthi_managed_cond_wake(o, (msg->kind & HEARTHI_WAN_ALL) != 0);
        break;
    default: return;
    }
    hearthi_gateway_answer(done, NULL, 0);
}
