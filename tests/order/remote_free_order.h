/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Objects that a rank frees for another go through a ring at their owner:
 * malloc/remote_free.c and malloc/remote_free_owner.c.  The freer stores
 * slots, then a word that says how many it has sent; the owner loads the
 * slots, then stores a word that says how many it has taken, after which the
 * freer stores to them again.  The steps on the words may be an MPI's, which
 * order nothing: so fences do.
 */
#ifndef HEARTH_TESTS_ORDER_REMOTE_FREE_H
#define HEARTH_TESTS_ORDER_REMOTE_FREE_H

#include "order.h"

struct remote_free : rl::test_suite<remote_free, 2> {
    enum { RING = 1, OBJECTS = 2 };

    rl::atomic<int> sent, taken;
    rl::var<int>    slot[RING];

    void before()
    {
        sent.store(0, RELAXED);
        taken.store(0, RELAXED);
    }

    void give()
    {
        for (int i = 0; i < OBJECTS; i++) {
            while (i - taken.load(ORDER(1, mo_acquire)) ==
                   RING) /* room_at() */
                rl::yield(1, $);
            slot[i % RING]($) = i + 1;
            FENCE(2, mo_seq_cst); /* batch_write() */
            sent.store(i + 1, RELAXED);
        }
    }

    void take()
    {
        for (int i = 0; i < OBJECTS; i++) {
            while (sent.load(ORDER(3, mo_acquire)) == i) /* batch_take() */
                rl::yield(1, $);
            RL_ASSERT(slot[i % RING]($) == i + 1);
            FENCE(4, mo_release); /* batch_take() */
            taken.store(i + 1, RELAXED);
        }
    }

    void thread(unsigned who)
    {
        if (who == 0)
            give();
        else
            take();
    }
};

#endif
