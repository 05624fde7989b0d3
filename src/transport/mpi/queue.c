/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who is next.
 *
 * Inside a node a ticket lock on C11 atomics stands in front; the rank that
 * has it competes for the lock between nodes, or inherits it from the rank of
 * its node that had it last if no other node waits.
 *
 * Between nodes the lock is a ticket lock, a fair queue, of two words at its
 * manager, moved by MPI_Fetch_and_op only:
 *
 *   next     tickets given (48 bits) and tries under way (16 bits above)
 *   serving  ticket served (16 bits), epoch (16 bits), end of the log (32)
 *
 * One Fetch_and_op on `serving` therefore tells whether it is our turn and
 * whether the log has news.  Only the holder writes `serving` and the log;
 * the log is written and flushed first.
 *
 * A try adds one to the tries.  It has the lock if no other try was under way
 * and every ticket given had been served; else it takes its one back: it
 * never holds a ticket that it would have to wait for.  A rank that draws a
 * ticket while a try is under way waits until there is none: from then on
 * tries fail, since its ticket is not served.  `serving` is read in a flush of
 * its own after `next` was changed: read in the same one it might come first
 * and miss what a try appended in between.
 */
#include "config.h"

#include "queue.h"

#include "managed.h"
#include "world.h"

#define TRY      (UINT64_C(1) << 48)
#define NO_TRIES (TRY - 1)

/* ---- inside the node ---- */

struct hearthi_node_lock *
hearthi_node_lock_of(int sync)
{
    return &hearthi_mpi.node->lock[sync];
}

static bool
node_acquire(struct hearthi_node_lock *l, bool try)
{
    unsigned mine, turn = 0;

    if (try) {
        mine = atomic_load(&l->serving);
        return atomic_compare_exchange_strong(&l->next, &mine, mine + 1);
    }
    mine = atomic_fetch_add(&l->next, 1);
    while (atomic_load_explicit(&l->serving, memory_order_acquire) != mine)
        hearthi_relax(&turn);
    return true;
}

static void
node_release(struct hearthi_node_lock *l)
{
    atomic_fetch_add_explicit(&l->serving, 1, memory_order_release);
}

static bool
node_mate_waits(const struct hearthi_node_lock *l)
{
    return atomic_load(&l->next) - atomic_load(&l->serving) > 1;
}

/* ---- between nodes ---- */

/* Wait in step with the number of tickets that come before ours, so that a
 * crowd does not load the manager. */
static void
queue_pause(unsigned before, unsigned *turn)
{
    for (unsigned i = 0; i < 16 * before; i++)
        hearthi_relax(turn);
}

static uint64_t
turn_wait(int sync, uint16_t ticket)
{
    uint64_t serving;
    unsigned turn = 0;

    while (serving = hearthi_serving_get(sync),
           hearthi_serving_read(serving).ticket != ticket)
        queue_pause((ticket - hearthi_serving_read(serving).ticket) &
                        HEARTHI_TICKETS,
                    &turn);
    return serving;
}

static void
queue_acquire(int sync, struct hearthi_node_lock *l)
{
    uint64_t next = hearthi_word_op(sync, HEARTHI_NEXT, MPI_SUM, 1);
    unsigned turn = 0;

    l->ticket = (uint16_t)(next & HEARTHI_TICKETS);
    l->word = turn_wait(sync, l->ticket);
    l->tried = false;
    if (next <= NO_TRIES)
        return;
    while (hearthi_word_op(sync, HEARTHI_NEXT, MPI_NO_OP, 0) > NO_TRIES)
        queue_pause(1, &turn);
    l->word = hearthi_serving_get(sync);
}

static bool
queue_try(int sync, struct hearthi_node_lock *l)
{
    uint64_t next = hearthi_word_op(sync, HEARTHI_NEXT, MPI_SUM, TRY);
    uint64_t serving = hearthi_serving_get(sync);

    l->ticket = (uint16_t)(next & HEARTHI_TICKETS);
    if (next > NO_TRIES || hearthi_serving_read(serving).ticket != l->ticket) {
        hearthi_word_op(sync, HEARTHI_NEXT, MPI_SUM, -TRY);
        return false;
    }
    l->word = serving;
    l->tried = true;
    return true;
}

/* Has another node drawn a ticket behind the one that we hold? */
static bool
other_node_waits(int sync, const struct hearthi_node_lock *l)
{
    uint64_t next = hearthi_word_op(sync, HEARTHI_NEXT, MPI_NO_OP, 0);

    return (next & HEARTHI_TICKETS) !=
           ((l->ticket + !l->tried) & HEARTHI_TICKETS);
}

/* A try leaves the ticket as it is, for the rank that may have drawn it. */
static void
queue_release(int sync, struct hearthi_node_lock *l)
{
    struct hearthi_serving w = hearthi_serving_read(l->word);

    if (!l->tried)
        w.ticket++;
    hearthi_word_op(sync, HEARTHI_SERVING, MPI_REPLACE,
                    hearthi_serving_make(w));
    if (l->tried)
        hearthi_word_op(sync, HEARTHI_NEXT, MPI_SUM, -TRY);
}

bool
hearthi_queue_enter(int sync, bool try)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);

    if (!node_acquire(l, try))
        return false;
    if (hearthi_world.nodes == 1 || l->ours)
        return true;
    if (!try)
        queue_acquire(sync, l);
    else if (!queue_try(sync, l)) {
        node_release(l);
        return false;
    }
    l->ours = true;
    return true;
}

void
hearthi_queue_yield(int sync)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);

    queue_release(sync, l);
    l->ours = false;
    node_release(l);
}

void
hearthi_queue_leave(int sync)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);

    if (hearthi_world.nodes > 1 &&
        (!node_mate_waits(l) || other_node_waits(sync, l)))
        hearthi_queue_yield(sync);
    else
        node_release(l);
}
