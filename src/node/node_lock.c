/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Inside the node a ticket lock on C11 atomics stands in front; the rank that
 * has it competes for the lock between nodes, or inherits it from the rank of
 * its node that had it last.
 *
 * A rank that keeps a lock says so to its node before it keeps it.  Only a
 * holder writes that, so that it names the keeper as long as there is one, and
 * at other times whoever kept it last.  So whoever does not get the lock wants
 * it from the keeper, by the keeper's doorbell, again and again.
 *
 * A try must have a lock that is kept and idle: it looks at the keeper's byte,
 * wants the lock if it is idle, and tries again when it is not any more.  The
 * keeper, who can only give it or enter, does so soon.  It may have given it
 * between the try and the look, so only a thread inside makes this try the
 * last.
 */
#include "config.h"

#include "node_lock.h"

#include "base/clock.h"
#include "base/min.h"
#include "cluster.h"
#include "node/lock_delegation.h"
#include "space/segment.h"
#include "transport/mpi/progress.h"
#include "transport/mpi/transfer.h"

/* In nanoseconds. */
enum { WANT_AGAIN = 200000, WANT_MOST = 100000000 };

struct hearthi_node_lock *
hearthi_node_lock_of(int sync)
{
    return &hearthi_mpi.lock[sync];
}

/* ---- who keeps it ---- */

void
hearthi_want_from(struct hearthi_want *w, int rank, int lock)
{
    uint64_t now;

    if (hearthi_cluster.node_of[rank] == hearthi_cluster.node) {
        hearthi_delegation_want_of(hearthi_cluster.node_rank_of[rank], lock);
        return;
    }
    now = hearthi_now();
    if (now < w->at)
        return;
    hearthi_doorbell_want(rank, lock);
    w->again =
        w->again == 0 ? WANT_AGAIN : hearthi_min(2 * w->again, WANT_MOST);
    w->at = now + w->again;
}

/* Of this node, or -1. */
static int
keeper_near(int sync)
{
    int keeper = atomic_load(&hearthi_node_lock_of(sync)->keeper);

    return keeper == 0 ? -1 : hearthi_cluster.node_member[keeper - 1];
}

static unsigned
byte_at(int rank, int lock)
{
    size_t  at = hearthi_segments.keep_at + hearthi_delegation_byte_at(lock);
    uint8_t byte;

    if (hearthi_cluster.node_of[rank] == hearthi_cluster.node)
        byte = __atomic_load_n(
            &hearthi_segments.base[hearthi_cluster.node_rank_of[rank]][at],
            __ATOMIC_SEQ_CST);
    else
        hearthi_look(rank, at, &byte, sizeof byte);
    return byte;
}

bool
hearthi_want_idle(int rank, int lock)
{
    struct hearthi_want w = { 0 };
    unsigned            turn = 0, byte = HEARTHI_DELEGATION_AWAY;

    while (rank >= 0 &&
           hearthi_delegation_is_idle(byte = byte_at(rank, lock))) {
        hearthi_want_from(&w, rank, lock);
        hearthi_relax(&turn);
    }
    return !(byte & HEARTHI_DELEGATION_USED);
}

/* ---- the node's turns ---- */

static bool
near_try(struct hearthi_node_lock *l)
{
    uint64_t mine = atomic_load(&l->serving);

    return atomic_compare_exchange_strong(&l->next, &mine, mine + 1);
}

bool
hearthi_node_lock_acquire(int sync, bool try)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_want       w = { 0 };
    unsigned                  turn = 0;
    uint64_t                  mine;

    if (try)
        return near_try(l) ||
               (hearthi_want_idle(keeper_near(sync), sync) && near_try(l));
    mine = atomic_fetch_add(&l->next, 1);
    while (atomic_load_explicit(&l->serving, memory_order_acquire) != mine) {
        if (keeper_near(sync) >= 0)
            hearthi_want_from(&w, keeper_near(sync), sync);
        hearthi_relax(&turn);
    }
    return true;
}

void
hearthi_node_lock_release(int sync)
{
    atomic_fetch_add_explicit(&hearthi_node_lock_of(sync)->serving, 1,
                              memory_order_release);
}

bool
hearthi_node_lock_is_waited_for(int sync)
{
    const struct hearthi_node_lock *l = hearthi_node_lock_of(sync);

    return atomic_load(&l->next) - atomic_load(&l->serving) > 1;
}
