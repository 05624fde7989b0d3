/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Inside the node a ticket lock on C11 atomics stands in front; the rank that
 * has it competes for the lock between nodes, or inherits it from the rank of
 * its node that had it last.
 *
 * Threads that wait sleep at events of the node's memory, by lock and ticket,
 * where they are more than cores (relax.c).  The rank that passes the turn on
 * raises the one of the next ticket, if any is drawn: either it sees that
 * ticket, or the thread that draws it then sees that it is its turn.
 *
 * A rank that keeps a lock says so to its node before it keeps it.  Only a
 * holder writes that, so that it names the keeper as long as there is one, and
 * at other times the rank that kept it last.  So a rank that does not get the
 * lock wants it from the keeper, again and again; if it sleeps, each time that
 * it is woken.  A rank that keeps a lock wakes the
 * next one behind that step: a want that came before may be forgotten, or may
 * have found no keeper named.  From then on it is not, as the byte holds it
 * (tests/model/stay.c, --asleep).
 *
 * A try must have a lock that is kept and idle: it looks at the keeper's byte,
 * wants the lock if it is idle, and tries again when it is not any more.  The
 * keeper, which can only give it or enter, does so soon.  It may have given it
 * between the try and the look, so only a thread inside makes this try the
 * last.
 */
#include "config.h"

#include "base/assert.h"
#include "lock_delegation.h"
#include "node.h"
#include "relax.h"

/* ---- the keeper ---- */

void
hearthi_node_lock_want(int sync)
{
    int keeper = atomic_load(&hearthi_node_lock_of(sync)->keeper);

    if (keeper != 0)
        hearthi_delegation_want_of(keeper - 1, sync);
}

/* False if a thread of the keeper is inside. */
static bool
keeper_gives(int sync)
{
    int keeper = atomic_load(&hearthi_node_lock_of(sync)->keeper);

    return keeper == 0 || hearthi_delegation_want_idle(keeper - 1, sync);
}

/* ---- turns ---- */

static bool
turn_try(struct hearthi_node_lock *l)
{
    uint64_t mine = atomic_load(&l->serving);

    return atomic_compare_exchange_strong(&l->next, &mine, mine + 1);
}

struct hearthi_event *
hearthi_node_lock_event(int sync, uint64_t which)
{
    size_t i = ((size_t)sync * 37 + which) % HEARTHI_TURN_EVENTS;

    return &hearthi_node.area->turn[i];
}

static void
turn_wait(int sync, uint64_t mine)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_event     *e = hearthi_node_lock_event(sync, mine);
    unsigned                  turn = 0;
    uint32_t                  seen;

    HEARTHI_ASSERT(l->serving <= mine && mine < l->next);
    while (seen = hearthi_event_value(e), atomic_load(&l->serving) != mine) {
        hearthi_node_lock_want(sync);
        hearthi_crowd_wait(e, seen, &turn);
    }
}

bool
hearthi_node_lock_acquire(int sync, bool try)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    uint64_t                  mine;

    if (try)
        return turn_try(l) || (keeper_gives(sync) && turn_try(l));
    mine = atomic_fetch_add(&l->next, 1);
    if (atomic_load(&l->serving) != mine)
        turn_wait(sync, mine);
    HEARTHI_ASSERT(l->serving == mine);
    return true;
}

void
hearthi_node_lock_release(int sync)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    uint64_t                  now = atomic_fetch_add(&l->serving, 1) + 1;

    HEARTHI_ASSERT(now <= l->next);
    if (atomic_load(&l->next) > now)
        hearthi_event_raise(hearthi_node_lock_event(sync, now));
}

void
hearthi_node_lock_kept(int sync, uint64_t mine)
{
    if (atomic_load(&hearthi_node_lock_of(sync)->next) > mine + 1)
        hearthi_event_raise(hearthi_node_lock_event(sync, mine + 1));
}

bool
hearthi_node_lock_is_waited_for(int sync)
{
    const struct hearthi_node_lock *l = hearthi_node_lock_of(sync);

    return atomic_load(&l->next) - atomic_load(&l->serving) > 1;
}
