/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who changes a flag is next: between nodes a ticket lock, a fair queue, whose
 * words waiters of the flag look at, too.  Only the holder writes `serving`
 * and the log.
 *
 * `serving` is read in a flush of its own after `next` was changed: read in
 * the same one it might come first and miss what was appended in between.
 */
#include "config.h"

#include "flag_ticket.h"

#include "base/clock.h"
#include "base/min.h"
#include "cluster.h"
#include "node/node_lock.h"
#include "rma_object.h"

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
    do
        hearthi_relax(&p->turn);
    while (hearthi_now() < gap);
}

void
hearthi_flag_ticket_enter(int sync)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_patience   p = { 0 };
    uint16_t                  before;

    hearthi_node_lock_acquire(sync, false);
    if (hearthi_cluster.nodes == 1)
        return;
    l->ticket = hearthi_ticket(
        hearthi_word_op(sync, HEARTHI_NEXT, MPI_SUM, HEARTHI_TICKET));
    while (l->word = hearthi_serving_get(sync),
           before =
               (uint16_t)(l->ticket - hearthi_serving_read(l->word).ticket),
           before != 0)
        hearthi_patience_pause(&p, before);
}

void
hearthi_flag_ticket_leave(int sync)
{
    struct hearthi_node_lock *l = hearthi_node_lock_of(sync);
    struct hearthi_serving    s = hearthi_serving_read(l->word);

    if (hearthi_cluster.nodes > 1) {
        s.ticket++;
        hearthi_word_op(sync, HEARTHI_SERVING, MPI_REPLACE,
                        hearthi_serving_make(s));
    }
    hearthi_node_lock_release(sync);
}
