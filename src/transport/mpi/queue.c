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
 * taken, has not ended yet may fail though the lock is free by then.)  So
 * tries first compete among themselves, by a swap of the word `try`: who finds
 * it 0 is the *candidate*, and there is one at most.  Who loses leaves no
 * trace.
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
 * A rank that keeps a lock (keep.h) holds its ticket.  It says so in `keeper`,
 * and to its node in the node's lock, before it keeps it: only a holder writes
 * them, so that they name the keeper as long as there is one, and at other
 * times whoever kept it last.  So whoever is next and does not get it wants it
 * from the keeper, by the keeper's doorbell, again and again.
 *
 * A try must have a lock that is kept and idle: it looks at the keeper's byte,
 * wants the lock if it is idle, and tries again when it is not any more.  The
 * keeper, who can only give it or enter, does so soon.  It may have given it
 * between the try and the look, so only a thread inside makes this try the
 * last.
 *
 * `serving` is read in a flush of its own after `next` was changed: read in
 * the same one it might come first and miss what was appended in between; and
 * it is read again after the steps have changed, for what the candidate has
 * appended.
 */
#include "config.h"

#include "queue.h"

#include "base/clock.h"
#include "base/least.h"
#include "managed.h"
#include "progress.h"
#include "space/segment.h"
#include "transfer.h"
#include "transport/keep.h"
#include "world.h"

#define STEPS (HEARTHI_TICKET - 1)

/* In nanoseconds. */
enum { WANT_AGAIN = 200000, WANT_MOST = 10000000 };
enum { LOOKS = 8 }; /* at `serving` for one at `keeper` */

/* Between looks: a part of the time so far, more where more come before. */
enum { PART = 16, BEFORE_MOST = 4, GAP_MOST = 1000000 };

/* ---- who keeps it ---- */

struct want {
    uint64_t at, again;
    unsigned looks;
};

/* Now and then, since a datagram may be lost, and hints be stale. */
static void
want_from(struct want *w, int rank, int lock)
{
    uint64_t now = hearthi_now();

    if (hearthi_world.node_of[rank] == hearthi_world.node) {
        hearthi_keep_want_of(hearthi_world.node_rank_of[rank], lock);
        return;
    }
    if (w->again != 0 && now < w->at)
        return;
    hearthi_bell_want(rank, lock);
    w->again =
        w->again == 0 ? WANT_AGAIN : hearthi_least(2 * w->again, WANT_MOST);
    w->at = now + w->again;
}

/* Of this node, or -1. */
static int
keeper_near(const struct hearthi_node_lock *l)
{
    int keeper = atomic_load(&((struct hearthi_node_lock *)l)->keeper);

    return keeper == 0 ? -1 : hearthi_world.node_member[keeper - 1];
}

static bool
may_be_kept(int sync)
{
    return sync < HEARTH_LOCKS && hearthi_help.listens;
}

/* Of any. */
static int
keeper_far(int lock)
{
    return !may_be_kept(lock)
               ? -1
               : (int)hearthi_word_op(lock, HEARTHI_KEEPER, MPI_NO_OP, 0) - 1;
}

/* For who is next and looks at the manager's words. */
static void
want_far(struct want *w, int lock)
{
    int keeper = w->looks++ % LOOKS == 1 ? keeper_far(lock) : -1;

    if (keeper >= 0)
        want_from(w, keeper, lock);
}

static unsigned
byte_at(int rank, int lock)
{
    size_t at = hearthi_segments.keep_at +
                offsetof(struct hearthi_keep, lock) + (size_t)lock;
    uint8_t byte;

    if (hearthi_world.node_of[rank] == hearthi_world.node)
        byte = __atomic_load_n(
            &hearthi_segments.base[hearthi_world.node_rank_of[rank]][at],
            __ATOMIC_SEQ_CST);
    else
        hearthi_look(rank, at, &byte, sizeof byte);
    return byte;
}

/* For a try that was refused: false if a thread of the keeper is inside. */
static bool
may_be_free(int rank, int lock)
{
    struct want w = { 0 };
    unsigned    turn = 0, byte = HEARTHI_AWAY;

    while (rank >= 0 && hearthi_keep_is_idle(byte = byte_at(rank, lock))) {
        want_from(&w, rank, lock);
        hearthi_relax(&turn);
    }
    return !(byte & HEARTHI_USED);
}

/* ---- inside the node ---- */

struct hearthi_node_lock *
hearthi_node_lock_of(int sync)
{
    return &hearthi_mpi.node->lock[sync];
}

static bool
node_acquire(int sync, struct hearthi_node_lock *l, bool try)
{
    uint64_t    mine;
    unsigned    turn = 0;
    struct want w = { 0 };

    if (try) {
        mine = atomic_load(&l->serving);
        return atomic_compare_exchange_strong(&l->next, &mine, mine + 1);
    }
    mine = atomic_fetch_add(&l->next, 1);
    while (atomic_load_explicit(&l->serving, memory_order_acquire) != mine) {
        if (keeper_near(l) >= 0)
            want_from(&w, keeper_near(l), sync);
        hearthi_relax(&turn);
    }
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

void
hearthi_patience_pause(struct hearthi_patience *p, unsigned before)
{
    uint64_t now = hearthi_now(), gap;

    if (p->begin == 0)
        p->begin = now;
    gap = (now - p->begin) * hearthi_least(before, BEFORE_MOST) / PART;
    gap = now + hearthi_least(gap, GAP_MOST);
    do
        hearthi_relax(&p->turn);
    while (hearthi_now() < gap);
}

static uint64_t
next_read(int sync)
{
    return hearthi_word_op(sync, HEARTHI_NEXT, MPI_NO_OP, 0);
}

static uint64_t
turn_wait(int sync, uint16_t ticket)
{
    struct hearthi_patience p = { 0 };
    struct want             w = { 0 };
    uint64_t                word;
    uint16_t                before;

    while (word = hearthi_serving_get(sync),
           before = (uint16_t)(ticket - hearthi_serving_read(word).ticket),
           before != 0) {
        if (before == 1)
            want_far(&w, sync);
        hearthi_patience_pause(&p, before);
    }
    return word;
}

static void
queue_acquire(int sync, struct hearthi_node_lock *l)
{
    uint64_t next =
        hearthi_word_op(sync, HEARTHI_NEXT, MPI_SUM, HEARTHI_TICKET);
    struct hearthi_patience p = { 0 };
    struct want             w = { 0 };

    l->ticket = hearthi_ticket(next);
    l->word = turn_wait(sync, l->ticket);
    l->tried = false;
    if (next % 2 == 0)
        return;
    while ((next_read(sync) & STEPS) == (next & STEPS)) {
        want_far(&w, sync);
        hearthi_patience_pause(&p, 1);
    }
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

    if (l->told != 0)
        hearthi_word_op(sync, HEARTHI_KEEPER, MPI_REPLACE, 0);
    l->told = 0;
    if (!l->tried)
        s.ticket++;
    l->after = s.ticket;
    hearthi_word_op(sync, HEARTHI_SERVING, MPI_REPLACE,
                    hearthi_serving_make(s));
    if (l->tried)
        candidate_end(sync);
}

bool
hearthi_queue_enter(int sync, bool try)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);

    if (!node_acquire(sync, l, try) &&
        !(may_be_free(keeper_near(l), sync) && node_acquire(sync, l, true)))
        return false;
    if (hearthi_world.nodes == 1 || l->ours)
        return true;
    if (!try)
        queue_acquire(sync, l);
    else if (!queue_try(sync, l) &&
             !(may_be_kept(sync) && may_be_free(keeper_far(sync), sync) &&
               queue_try(sync, l))) {
        node_release(l);
        return false;
    }
    l->ours = true;
    if (l->ticket != l->after)
        l->last = 0;
    return true;
}

/* A thread of Hearth's may give it at once, so what is to be done with the
 * lock comes before keep_begin: a thread that is late would name this rank
 * when the next one keeps it, and nobody could ask that for it. */
bool
hearthi_queue_keep(int lock)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(lock);

    if (!hearthi_help.listens || node_mate_waits(l))
        return false;
    if (l->told != hearthi_world.rank + 1) {
        if (other_node_waits(lock, l))
            return false;
        l->told = hearthi_world.rank + 1;
        hearthi_word_op(lock, HEARTHI_KEEPER, MPI_REPLACE, (uint64_t)l->told);
    }
    atomic_store(&l->keeper, hearthi_world.node_rank + 1);
    return hearthi_keep_begin(lock);
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
