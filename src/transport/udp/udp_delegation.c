/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A lock may stay with the rank that had it last (node/lock_delegation.h). Who
 * asks for it then stands in the queue, tries too, and the rank is told
 * (RECALL). It gives the lock soon, which serves the queue; or a thread is
 * inside, and then tries are refused, for which it is asked to say so (BUSY).
 * That goes from server to server, answered by nobody: the service thread
 * sends it again until nobody waits.  What comes late or twice does no harm:
 * RECALL to who keeps nothing is forgotten, and BUSY has the number of the
 * stay that it is about.
 */
#include "config.h"

#include "udp_delegation.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/min.h"
#include "cluster.h"
#include "node/lock_delegation.h"
#include "server.h"
#include "sync_object.h"
#include "udp_job.h"

enum { AGAIN = 5000000, AGAIN_MOST = 320000000 }; /* nanoseconds */

static struct hearthi_udp_sync_object
                 *recalled; /* some of them need no more */
static atomic_int stays;    /* locks that stay on other nodes */

void
hearthi_udp_delegations_open(void)
{
    recalled = NULL;
    stays = 0;
}

void
hearthi_udp_refuse(uint32_t peer)
{
    struct hearthi_udp_message no = { .op = HEARTHI_UDP_ACQGRANT };

    hearthi_udp_answer(peer, &no);
}

/* The others stay in their order. */
static void
tries_refuse(struct hearthi_udp_sync_object *o)
{
    uint32_t peer, next = o->head;

    o->head = o->tail = 0;
    while (next != 0) {
        peer = next - 1;
        next = hearthi_udp_served(peer)->next;
        if (hearthi_udp_served(peer)->try)
            hearthi_udp_refuse(peer);
        else
            hearthi_udp_queue_put(o, peer);
    }
}

static bool
has_tries(const struct hearthi_udp_sync_object *o)
{
    for (uint32_t p = o->head; p != 0; p = hearthi_udp_served(p - 1)->next)
        if (hearthi_udp_served(p - 1)->try)
            return true;
    return false;
}

static void
recall_send(struct hearthi_udp_sync_object *o)
{
    int                        rank = (int)o->keeper - 1;
    bool                       tries = has_tries(o);
    struct hearthi_udp_message m = {
        .op = HEARTHI_UDP_INV,
        .kind = HEARTHI_UDP_RECALL,
        .len = (uint32_t)hearthi_udp_sync_object_number(o),
        .at = o->stay,
        .pos = tries
    };

    hearthi_udp_server_tell(rank, o->keeper_at, &m);
}

static bool
is_far(uint32_t rank)
{
    return hearthi_cluster.node_of[rank] != hearthi_cluster.node;
}

/* Of this node: nothing can be lost. */
static bool
recall_near(struct hearthi_udp_sync_object *o)
{
    int      rank = (int)o->keeper - 1;
    unsigned byte;

    if (is_far(o->keeper - 1))
        return false;
    byte = hearthi_delegation_want_of(hearthi_cluster.node_rank_of[rank],
                                      hearthi_udp_sync_object_number(o));
    if (byte & HEARTHI_DELEGATION_USED)
        tries_refuse(o);
    return true;
}

/* Those who ask from other nodes ask again, but ranks of this one do not, and
 * they cannot wake the service thread for certain: so it looks now and then as
 * long as a lock stays elsewhere. */
void
hearthi_udp_delegation_recall(struct hearthi_udp_sync_object *o)
{
    if (recall_near(o))
        return;
    recall_send(o);
    o->again = AGAIN;
    o->due = hearthi_now() + AGAIN;
    for (struct hearthi_udp_sync_object *r = recalled; r != NULL;
         r = r->recalled)
        if (r == o)
            return;
    o->recalled = recalled;
    recalled = o;
    hearthi_udp_server_nudge();
}

uint64_t
hearthi_udp_recall_again(void)
{
    uint64_t                         now, first;
    struct hearthi_udp_sync_object **at, *o;

    if (atomic_load(&stays) == 0)
        return UINT64_MAX;
    pthread_mutex_lock(&hearthi_udp_mutex);
    now = hearthi_now();
    first = now + AGAIN_MOST;
    for (at = &recalled; (o = *at) != NULL;) {
        if (o->keeper == 0 || o->head == 0) {
            *at = o->recalled;
            continue;
        }
        if (now >= o->due) {
            recall_send(o);
            o->again = hearthi_min(2 * o->again, AGAIN_MOST);
            o->due = now + o->again;
        }
        first = hearthi_min(first, o->due);
        at = &o->recalled;
    }
    pthread_mutex_unlock(&hearthi_udp_mutex);
    return first;
}

void
hearthi_udp_recalled(const struct hearthi_udp_message *m)
{
    int                             lock = (int)m->len;
    struct hearthi_udp_sync_object *o;

    if (m->kind == HEARTHI_UDP_RECALL) {
        struct hearthi_udp_message busy = { .op = HEARTHI_UDP_INV,
                                            .kind = HEARTHI_UDP_BUSY,
                                            .len = m->len,
                                            .at = m->at };

        if ((hearthi_delegation_want(lock) & HEARTHI_DELEGATION_USED) &&
            m->pos > 0)
            hearthi_udp_server_tell(
                (int)m->from, hearthi_udp.server[m->from].sin_addr, &busy);
        return;
    }
    if (hearthi_manager(lock, hearthi_cluster.size) != hearthi_cluster.rank)
        return;
    o = hearthi_udp_sync_object(lock);
    if (o->keeper == m->from + 1 && o->stay == m->at)
        tries_refuse(o);
}

/* With this rank + 1 from now on, or with none. */
void
hearthi_udp_delegation_set(struct hearthi_udp_sync_object *o, uint32_t keeper)
{
    stays -= o->keeper != 0 && is_far(o->keeper - 1);
    o->keeper = keeper;
    stays += keeper != 0 && is_far(keeper - 1);
}

/* Who waits already is served by a release. */
void
hearthi_udp_delegation_begin(struct hearthi_udp_sync_object *o, uint32_t peer)
{
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_NULL };

    if (o->head == 0) {
        hearthi_udp_delegation_set(o, peer / HEARTHI_UDP_SLOTS + 1);
        o->keeper_at = hearthi_udp_served(peer)->address.sin_addr;
        m.at = ++o->stay;
        m.len = 1;
    }
    hearthi_udp_answer(peer, &m);
}
