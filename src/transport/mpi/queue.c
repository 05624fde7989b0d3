/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who is next.
 *
 * Inside a node a ticket lock on C11 atomics stands in front; the rank that
 * has it competes for the lock between nodes, or inherits it from the rank of
 * its node that had it last if no other node waits.
 *
 * Between nodes the lock is a ticket lock, a fair queue.  Only the holder
 * writes `serving` and the log.
 *
 * A try must not hold a ticket that it would have to wait for, must not keep
 * those waiting who hold one, and of several that begin while the lock is free
 * one must get it.  (One that begins while another, which found the lock
 * taken, has not ended yet may fail though the lock is free by then.)  So tries first compete among themselves, by a swap of the word `try`: who
 * finds it 0 is the *candidate*, and there is one at most.  Who loses leaves
 * no trace.
 *
 * The candidate adds one to the steps in `next`, which makes them odd, and
 * learns in the same step which tickets were drawn.  It has the lock if all of
 * them were served.  When it gives the lock back, or at once if it has not got
 * it, it adds another one and then clears `try`.  All changes of `next` have
 * one order: a ticket drawn before the candidate's step must have been served,
 * or the candidate fails; who draws one after it finds the steps odd, and
 * waits for its turn and for the steps to change.  That is a wait for this one
 * candidate, which is about to fail or is a holder like others: candidates
 * that come later find a ticket that is not served.
 *
 * `serving` is read in a flush of its own after `next` was changed: read in
 * the same one it might come first and miss what was appended in between; and
 * it is read again after the steps have changed, for what the candidate has
 * appended.
 */
#include "config.h"

#include "queue.h"

#include "managed.h"
#include "world.h"

#define STEPS (HEARTHI_TICKET - 1)

/* ---- inside the node ---- */

struct hearthi_node_lock *
hearthi_node_lock_of(int sync)
{
    return &hearthi_mpi.node->lock[sync];
}

static bool
node_acquire(struct hearthi_node_lock *l, bool try)
{
    uint64_t mine;
    unsigned turn = 0;

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
next_read(int sync)
{
    return hearthi_word_op(sync, HEARTHI_NEXT, MPI_NO_OP, 0);
}

static uint64_t
turn_wait(int sync, uint16_t ticket)
{
    uint64_t word;
    unsigned turn = 0;
    uint16_t before;

    while (word = hearthi_serving_get(sync),
           before = (uint16_t)(ticket - hearthi_serving_read(word).ticket),
           before != 0)
        queue_pause(before, &turn);
    return word;
}

static void
queue_acquire(int sync, struct hearthi_node_lock *l)
{
    uint64_t next =
        hearthi_word_op(sync, HEARTHI_NEXT, MPI_SUM, HEARTHI_TICKET);
    unsigned turn = 0;

    l->ticket = hearthi_ticket(next);
    l->word = turn_wait(sync, l->ticket);
    l->tried = false;
    if (next % 2 == 0)
        return;
    while ((next_read(sync) & STEPS) == (next & STEPS))
        queue_pause(1, &turn);
    l->word = hearthi_serving_get(sync);
}

/* ---- tries ---- */

/* In this order: whoever finds `try` 0 finds the steps even. */
static void
candidate_end(int sync)
{
    hearthi_word_op(sync, HEARTHI_NEXT, MPI_SUM, 1);
    hearthi_word_op(sync, HEARTHI_TRY, MPI_REPLACE, 0);
}

/* A candidate that fails takes five steps and may detain who draws a ticket,
 * so that who was refused just looks until the lock seems free. */
static bool
seems_free(int sync)
{
    uint16_t drawn = hearthi_ticket(next_read(sync));

    return hearthi_serving_read(hearthi_serving_get(sync)).ticket == drawn;
}

static bool
queue_try(int sync, struct hearthi_node_lock *l)
{
    bool refused = l->refused;

    l->refused = true;
    if (refused && !seems_free(sync))
        return false;
    if (hearthi_word_op(sync, HEARTHI_TRY, MPI_REPLACE, 1) != 0)
        return false;
    l->ticket =
        hearthi_ticket(hearthi_word_op(sync, HEARTHI_NEXT, MPI_SUM, 1));
    l->word = hearthi_serving_get(sync);
    if (hearthi_serving_read(l->word).ticket != l->ticket) {
        candidate_end(sync);
        return false;
    }
    l->tried = true;
    l->refused = false;
    return true;
}

/* ---- passing on ---- */

/* Has another node drawn a ticket behind the one that we hold? */
static bool
other_node_waits(int sync, const struct hearthi_node_lock *l)
{
    return hearthi_ticket(next_read(sync)) !=
           (uint16_t)(l->ticket + !l->tried);
}

/* A try leaves the ticket as it is, for the rank that may have drawn it. */
static void
queue_release(int sync, struct hearthi_node_lock *l)
{
    struct hearthi_serving s = hearthi_serving_read(l->word);

    if (!l->tried)
        s.ticket++;
    hearthi_word_op(sync, HEARTHI_SERVING, MPI_REPLACE,
                    hearthi_serving_make(s));
    if (l->tried)
        candidate_end(sync);
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
