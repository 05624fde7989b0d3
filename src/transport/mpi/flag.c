/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Flags.
 *
 * A flag is changed by the rank that has its turn, as a lock is; and ranks
 * that wait for it read it without a turn, while others may change it.
 *
 * Which rank changes a flag next: between nodes a ticket lock, a fair queue,
 * whose words waiters of the flag look at, too.  Only the holder writes
 * `serving` and the log.
 *
 * `serving` is read in a flush of its own after `next` was changed: read in
 * the same one it might come first and miss what was appended in between.
 */
#include "config.h"

#include "flag.h"

#include "base/assert.h"
#include "base/clock.h"
#include "base/min.h"
#include "cluster.h"
#include "node/node.h"
#include "node/relax.h"
#include "rma_object.h"
#include "wait_slot.h"

/* ---- turns ---- */

/* Between looks: a part of the time so far, more where more come before. */
enum { PART = 16, BEFORE_MOST = 4, GAP_MOST = 1000000 };

void
hearthi_patience_pause(struct hearthi_patience *p, unsigned before)
{
    uint64_t now = hearthi_now(), gap;

    if (p->begin == 0)
        p->begin = now;
    gap = (now - p->begin) * hearthi_min(before, BEFORE_MOST) / PART;
    gap = now + hearthi_min(gap, GAP_MOST);
    do {
        hearthi_crowd_relax(&p->turn, gap - now);
        now = hearthi_now();
    } while (now < gap);
}

/* Wait for the turn: the serving word is in the node's lock then. */
static void
ticket_enter(int sync)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_patience   p = { 0 };
    uint16_t                  before;

    hearthi_node_lock_acquire(sync, false);
    l->ticket = hearthi_ticket(
        hearthi_word_op(sync, HEARTHI_NEXT, HEARTHI_OP_ADD, HEARTHI_TICKET));
    while (l->word = hearthi_serving_get(sync),
           before =
               (uint16_t)(l->ticket - hearthi_serving_read(l->word).ticket),
           before != 0)
        hearthi_patience_pause(&p, before);
}

/* Pass it on. */
static void
ticket_leave(int sync)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_serving    s = hearthi_serving_read(l->word);

    HEARTHI_ASSERT(s.ticket == l->ticket);
    s.ticket++;
    hearthi_word_op(sync, HEARTHI_SERVING, HEARTHI_OP_SWAP,
                    hearthi_serving_make(s));
    hearthi_node_lock_release(sync);
}

/* ---- changing ---- */

/* The fence pairs with that of hearthi_mpi_flag_wait(), by way of `serving`:
 * as for locks (sync.c). */
void
hearthi_flag_change(int sync, bool set, const struct hearthi_notice *n,
                    size_t count)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_serving    s;

    atomic_thread_fence(memory_order_release);
    ticket_enter(sync);
    s = hearthi_serving_read(l->word);
    hearthi_log_put(sync, &s, NULL, hearthi_epochs.release, n, count);
    s.set = set;
    l->word = hearthi_serving_make(s);
    ticket_leave(sync);
    if (set)
        hearthi_waiters_wake(sync);
}

void
hearthi_mpi_flag_set(int sync, const struct hearthi_notice *n, size_t count)
{
    hearthi_flag_change(sync, true, n, count);
}

void
hearthi_mpi_flag_reset(int sync)
{
    hearthi_flag_change(sync, false, NULL, 0);
}

bool
hearthi_mpi_flag_is_set(int sync)
{
    return hearthi_serving_own(sync).set;
}

/* ---- waiting ---- */

/* Is this ticket drawn and not served?  No node has two of those. */
static bool
is_open(uint16_t ticket, struct hearthi_serving s)
{
    uint16_t before = (uint16_t)(ticket - s.ticket);

    return before > 0 && before <= hearthi_cluster.nodes;
}

/* Wait until every set that was under way has said so in `serving`, which is
 * returned.  What is written before a set moves `serving` cannot be seen
 * there; but it drew its ticket, and that step was complete, before it wrote
 * anything.  So the rank that wrote what a Get that is complete has seen holds
 * a ticket below the one that `next` tells now.
 *
 * Tickets may have gone round since: then the one told first may look open
 * for ever.  But `serving`, read after `next` and equal to it, has passed all
 * tickets that were drawn until then, however often they went round. */
static struct hearthi_serving
sets_wait(int sync)
{
    uint16_t first = hearthi_ticket(
        hearthi_word_op(sync, HEARTHI_NEXT, HEARTHI_OP_READ, 0));
    uint16_t               now = first;
    struct hearthi_serving s;
    unsigned               turn = 0;

    while (s = hearthi_serving_now(sync),
           s.ticket != now && is_open(first, s)) {
        hearthi_relax(&turn);
        now = hearthi_ticket(
            hearthi_word_op(sync, HEARTHI_NEXT, HEARTHI_OP_READ, 0));
    }
    return s;
}

/* Is what was read, the last g->n positions when `serving` was `was`, what was
 * there then?  A set overwrites the position that is as many before its end as
 * the ring holds, be it with what is new or with all of the log, merged; or it
 * begins the log anew.  The latter shows in the epoch as long as this rank
 * stays in its own, since a log is at most two ahead then. */
static bool
is_intact(int sync, struct hearthi_serving was, struct hearthi_serving now,
          const struct hearthi_grant *g)
{
    uint32_t from = was.end - (uint32_t)g->n;

    return now.epoch == was.epoch && hearthi_epochs.acquire == g->epoch &&
           (g->n == 0 || now.end - from <= hearthi_log_room(sync));
}

/* A log that looked as if it were of this epoch, or of one ahead, may have
 * been an old one that was begun anew meanwhile.  Then there was a set. */
static bool
is_same(struct hearthi_serving was, struct hearthi_serving now)
{
    return now.ticket == was.ticket && now.end == was.end;
}

/* What does not depend on where the log was thought to end: that the log is
 * ahead, or that it has lost some while it was known to be of this epoch. */
static bool
is_final(const struct hearthi_grant *g, uint64_t known)
{
    return g->ahead > 0 || (g->invalidate_all && known == g->epoch);
}

/* A reader that was disturbed again and again while the log was of its epoch
 * takes it for everything, or would have to be faster than the ranks that set.
 */
enum { LOOKS_MOST = 4 };

static bool
is_given_up(struct hearthi_grant *g, uint64_t known, unsigned looks)
{
    if (looks < LOOKS_MOST || known != g->epoch)
        return false;
    g->invalidate_all = true;
    g->n = 0;
    return true;
}

/* Read the log until that was not disturbed.  `known` is an epoch that the log
 * was seen to have reached: as long as that is not this rank's, the end that
 * was read may be that of another time, and `epoch` of this one.  After a
 * disturbance the next look finds that its epoch or this rank's is another, or
 * it knows that the log is not an old one: so it ends. */
void
hearthi_flag_log(int sync, struct hearthi_serving s, struct hearthi_grant *g)
{
    uint64_t               known = g->pos > 0 ? g->epoch : 0;
    struct hearthi_serving was;
    struct hearthi_log     log;
    uint32_t               from;
    bool                   intact;
    unsigned               looks = 0;

    do {
        was = s;
        hearthi_grant_refresh(g);
        from = g->pos;
        if (!hearthi_log_get(sync, was, g, &log) || is_final(g, known) ||
            is_given_up(g, known, looks++))
            return;
        s = sets_wait(sync);
        intact = (g->invalidate_all || is_intact(sync, was, s, g)) &&
                 (known == g->epoch || is_same(was, s));
        known = log.epoch;
        if (!intact)
            g->pos = from;
    } while (!intact);
}

/* Looks at the manager's word take turns with others' for so long, in
 * nanoseconds; a thread that waits for longer is woken. */
enum { LOOKS = 50000 };

/* Of each node one waits to be woken, and the others for that.  It may be held
 * up, by a handler of the program's, say: so they look themselves after so
 * many nanoseconds. */
enum { LOOK_AGAIN = 100000000 };

static void
set_await(int sync, struct hearthi_node_lock *l, struct hearthi_patience *p)
{
    bool                  watched = false;
    struct hearthi_event *e = hearthi_node_lock_event(sync, 0);
    uint64_t              end = hearthi_now() + LOOK_AGAIN;
    uint32_t              name = 0, before, seen;

    if (!atomic_compare_exchange_strong(&l->watched, &watched, true)) {
        while (seen = hearthi_event_value(e),
               atomic_load(&l->watched) && hearthi_now() < end)
            hearthi_crowd_wait(e, seen, &p->turn);
        return;
    }
    name = hearthi_wait_slot_begin();
    if (name == 0) {
        hearthi_patience_pause(p, 1);
    } else {
        hearthi_waiters_enter(sync, name, &before);
        if (hearthi_serving_now(sync).set)
            hearthi_waiters_wake(sync);
        hearthi_waiters_wait(name, before);
    }
    atomic_store(&l->watched, false);
    hearthi_event_raise(e);
}

void
hearthi_mpi_flag_wait(int sync, struct hearthi_grant *g)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_serving    s;
    struct hearthi_patience   p = { 0 };

    while (s = hearthi_serving_now(sync), !s.set)
        if (p.begin == 0 || hearthi_now() - p.begin < LOOKS)
            hearthi_patience_pause(&p, 1);
        else
            set_await(sync, l, &p);
    hearthi_flag_log(sync, s, g);
    atomic_thread_fence(memory_order_acquire);
}
