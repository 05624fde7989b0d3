/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Condition variables, both sides: as over mpi, two counts.  Who enters learns
 * his place, inside the lock; when he has left it he waits in the manager's
 * queue until the second count has passed that place, which it may have by
 * then.
 */
#include "config.h"

#include "cond.h"

#include "client.h"
#include "cluster.h"
#include "count.h"
#include "liveness_probe.h"
#include "server.h"
#include "transport/log.h"

/* ---- the client's part ---- */

static uint64_t
ask(struct hearthi_udp_message m, const char *what)
{
    struct hearthi_udp_client *c = hearthi_udp_client_take();
    struct hearthi_udp_message answer;

    hearthi_udp_call(c, hearthi_manager((int)m.len, hearthi_cluster.size), &m,
                     what, &answer);
    hearthi_udp_client_give(c);
    return answer.at;
}

uint64_t
hearthi_udp_cond_enter(int sync)
{
    return ask((struct hearthi_udp_message){ .op = HEARTHI_UDP_WAIT,
                                             .kind = HEARTHI_UDP_ENTER,
                                             .len = (uint32_t)sync },
               "wait");
}

void
hearthi_udp_cond_wait(int sync, uint64_t place)
{
    hearthi_udp_liveness_wait_begin("wait");
    ask((struct hearthi_udp_message){ .op = HEARTHI_UDP_WAIT,
                                      .len = (uint32_t)sync,
                                      .at = place },
        "wait");
    hearthi_udp_liveness_wait_end();
}

void
hearthi_udp_cond_wake(int sync, bool all)
{
    ask((struct hearthi_udp_message){ .op = HEARTHI_UDP_REL,
                                      .kind = all ? HEARTHI_UDP_BROADCAST
                                                  : HEARTHI_UDP_SIGNAL,
                                      .len = (uint32_t)sync },
        "signal");
}

/* ---- the manager's part ---- */

static void
answer(uint32_t peer, unsigned op, uint64_t at)
{
    struct hearthi_udp_message m = { .op = (uint8_t)op, .at = at };

    hearthi_udp_answer(peer, &m);
}

/* Those who do not wait any more; the others stay in their order. */
static void
queue_serve(struct hearthi_udp_sync_object *o)
{
    uint32_t peer, last = o->tail;

    while (last != 0 && hearthi_udp_queue_take(o, &peer)) {
        if (hearthi_udp_served(peer)->epoch < o->woken)
            answer(peer, HEARTHI_UDP_WAITGRANT, 0);
        else
            hearthi_udp_queue_put(o, peer);
        if (peer + 1 == last)
            break;
    }
}

void
hearthi_udp_cond_serve(struct hearthi_udp_sync_object *o, uint32_t peer,
                       const struct hearthi_udp_message *m)
{
    if (m->op == HEARTHI_UDP_WAIT && m->kind == HEARTHI_UDP_ENTER) {
        answer(peer, HEARTHI_UDP_WAITGRANT, o->entered++);
    } else if (m->op == HEARTHI_UDP_WAIT) {
        hearthi_udp_served(peer)->epoch = m->at;
        hearthi_udp_queue_put(o, peer);
        queue_serve(o);
    } else if (m->op == HEARTHI_UDP_REL && m->kind >= HEARTHI_UDP_SIGNAL) {
        if (m->kind == HEARTHI_UDP_BROADCAST)
            o->woken = o->entered;
        else if (o->woken < o->entered)
            o->woken++;
        queue_serve(o);
        answer(peer, HEARTHI_UDP_NULL, 0);
    } else {
        hearthi_udp_count_refused(HEARTHI_UDP_BAD_OPERATION);
    }
}
