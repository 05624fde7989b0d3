/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Flags.
 *
 * A flag is changed by who has its turn, as a lock is; and it is read by who
 * waits for it without a turn, while others may change it.
 */
#include "config.h"

#include "flag.h"

#include "base/clock.h"
#include "cluster.h"
#include "flag_ticket.h"
#include "node/node_lock.h"
#include "rma_object.h"
#include "wait_slot.h"

void
hearthi_flag_change(int sync, bool set, const struct hearthi_notice *n,
                    size_t count)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_serving    s;

    atomic_thread_fence(memory_order_release);
    hearthi_flag_ticket_enter(sync);
    if (hearthi_cluster.nodes > 1) {
        s = hearthi_serving_read(l->word);
        hearthi_log_put(sync, &s, NULL, hearthi_epochs.release, n, count);
        s.set = set;
        l->word = hearthi_serving_make(s);
    } else {
        atomic_store_explicit(&l->value, set, memory_order_release);
    }
    hearthi_flag_ticket_leave(sync);
    if (set && hearthi_cluster.nodes > 1)
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
 * anything.  So whoever wrote what a Get that is complete has seen holds a
 * ticket below the one that `next` tells now.
 *
 * Tickets may have gone round since: then the one told first may look open
 * for ever.  But `serving`, read after `next` and equal to it, has passed all
 * tickets that were drawn until then, however often they went round. */
static struct hearthi_serving
sets_wait(int sync)
{
    uint16_t first =
        hearthi_ticket(hearthi_word_op(sync, HEARTHI_NEXT, MPI_NO_OP, 0));
    uint16_t               now = first;
    struct hearthi_serving s;
    unsigned               turn = 0;

    while (s = hearthi_serving_now(sync),
           s.ticket != now && is_open(first, s)) {
        hearthi_relax(&turn);
        now =
            hearthi_ticket(hearthi_word_op(sync, HEARTHI_NEXT, MPI_NO_OP, 0));
    }
    return s;
}

/* Is what was read, the last g->n positions when `serving` was `was`, what was
 * there then?  A set overwrites the position that is as many before its end as
 * the ring holds, be it with what is new or with all of the log, merged; or it
 * begins the log anew.  The latter shows in the epoch as long as this rank
 * stays in its own, since a log is at most two ahead then. */
static bool
is_intact(struct hearthi_serving was, struct hearthi_serving now,
          const struct hearthi_grant *g)
{
    uint32_t from = was.end - (uint32_t)g->n;

    return now.epoch == was.epoch && hearthi_epochs.acquire == g->epoch &&
           (g->n == 0 || now.end - from <= HEARTHI_LOG);
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

/* Who was disturbed again and again while the log was of its epoch takes it
 * for everything, or would have to be faster than those who set. */
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
        intact = (g->invalidate_all || is_intact(was, s, g)) &&
                 (known == g->epoch || is_same(was, s));
        known = log.epoch;
        if (!intact)
            g->pos = from;
    } while (!intact);
}

/* Looks at the manager's word take turns with others' for so long, in
 * nanoseconds; who waits for longer is woken. */
enum { LOOKS = 50000 };

/* Of each node one waits to be woken, and the others for that. */
static void
set_await(int sync, struct hearthi_node_lock *l, struct hearthi_patience *p)
{
    bool     nobody = false;
    uint32_t name = 0, before;

    if (!atomic_compare_exchange_strong(&l->watched, &nobody, true)) {
        while (atomic_load(&l->watched))
            hearthi_relax(&p->turn);
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
}

void
hearthi_mpi_flag_wait(int sync, struct hearthi_grant *g)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_serving    s;
    struct hearthi_patience   p = { 0 };
    unsigned                  turn = 0;

    if (hearthi_cluster.nodes == 1) {
        while (!atomic_load_explicit(&l->value, memory_order_acquire))
            hearthi_relax(&turn);
        return;
    }
    while (s = hearthi_serving_now(sync), !s.set)
        if (p.begin == 0 || hearthi_now() - p.begin < LOOKS)
            hearthi_patience_pause(&p, 1);
        else
            set_await(sync, l, &p);
    hearthi_flag_log(sync, s, g);
    atomic_thread_fence(memory_order_acquire);
}
