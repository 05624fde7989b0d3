/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank with which a lock stays is told that a client waits (RECALL).  If the
 * client only tries, and a thread is inside, the rank is to say so (BUSY).
 * That goes from server to server, without an answer: the service thread sends
 * it again until no rank waits.  What comes late or twice does no harm: RECALL
 * to a rank that keeps nothing is forgotten, and BUSY has the number of the
 * stay that it is about.
 */
#include "config.h"

#include "udp.h"

#include <stdatomic.h>

#include "base/clock.h"
#include "base/min.h"
#include "base/mutex.h"
#include "cluster.h"
#include "node/lock_delegation.h"
#include "server.h"
#include "timer.h"
#include "udp_job.h"

enum { AGAIN = 5000000, AGAIN_MOST = 320000000 }; /* nanoseconds */

static struct hearthi_managed_object *recalled; /* some need no more */
static atomic_int stays; /* locks that stay on other nodes */

void
hearthi_udp_delegations_open(void)
{
    recalled = NULL;
    stays = 0;
}

static void
recall_send(struct hearthi_managed_object *o)
{
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_INV,
                                     .kind = HEARTHI_UDP_RECALL,
                                     .len = (uint32_t)o->sync,
                                     .at = o->stay,
                                     .pos = hearthi_managed_is_tried(o) };

    hearthi_udp_server_tell((int)o->keeper - 1,
                            (struct in_addr){ o->recall.to }, &m);
}

static bool
is_far(uint32_t rank)
{
    return hearthi_cluster.node_of[rank] != hearthi_cluster.node;
}

/* Of this node: nothing can be lost. */
static bool
recall_near(struct hearthi_managed_object *o)
{
    int      rank = (int)o->keeper - 1;
    unsigned byte;

    if (is_far(o->keeper - 1))
        return false;
    byte = hearthi_delegation_want_of(hearthi_cluster.node_rank_of[rank],
                                      o->sync);
    if (byte & HEARTHI_DELEGATION_USED)
        hearthi_managed_used(o, (uint32_t)rank, o->stay);
    return true;
}

/* Ranks that ask from other nodes ask again, but ranks of this one do not, and
 * they cannot wake the service thread for certain: so it looks now and then as
 * long as a lock stays elsewhere. */
void
hearthi_udp_delegation_recall(struct hearthi_managed_object *o)
{
    HEARTHI_ASSERT_HAS(SERVER);
    HEARTHI_ASSERT(o->keeper != 0);
    if (recall_near(o))
        return;
    recall_send(o);
    o->recall.again = hearthi_udp_time_out((int)o->keeper - 1);
    o->recall.again = o->recall.again > AGAIN ? o->recall.again : AGAIN;
    o->recall.due = hearthi_now() + o->recall.again;
    for (struct hearthi_managed_object *r = recalled; r != NULL;
         r = r->recall.next)
        if (r == o)
            return;
    o->recall.next = recalled;
    recalled = o;
    hearthi_udp_server_nudge();
}

uint64_t
hearthi_udp_recall_again(void)
{
    uint64_t                        now, first;
    struct hearthi_managed_object **at, *o;

    if (atomic_load(&stays) == 0)
        return UINT64_MAX;
    hearthi_mutex_lock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    now = hearthi_now();
    first = now + AGAIN_MOST;
    for (at = &recalled; (o = *at) != NULL;) {
        if (o->keeper == 0 || o->head == NULL) {
            *at = o->recall.next;
            continue;
        }
        if (now >= o->recall.due) {
            recall_send(o);
            o->recall.again *= o->recall.again < AGAIN_MOST ? 2 : 1;
            o->recall.due = now + o->recall.again;
        }
        first = hearthi_min(first, o->recall.due);
        at = &o->recall.next;
    }
    hearthi_mutex_unlock(&hearthi_udp_mutex, HEARTHI_MUTEX_SERVER);
    return first;
}

void
hearthi_udp_delegation_end(const struct hearthi_managed_object *o)
{
    HEARTHI_ASSERT_HAS(SERVER);
    stays -= o->keeper != 0 && is_far(o->keeper - 1);
    HEARTHI_ASSERT(stays >= 0);
}

/* A client that waits already is served by a release. */
void
hearthi_udp_delegation_begin(struct hearthi_managed_object *o, uint32_t peer)
{
    uint32_t                   rank = peer / HEARTHI_UDP_SLOTS;
    struct hearthi_udp_message m = { .op = HEARTHI_UDP_NULL,
                                     .at = hearthi_managed_keep(o, rank) };

    HEARTHI_ASSERT_HAS(SERVER);
    if (m.at != 0) {
        stays += is_far(rank);
        o->recall.to = hearthi_udp_served(peer)->address.sin_addr.s_addr;
        m.len = 1;
    }
    hearthi_udp_answer(peer, &m);
}
