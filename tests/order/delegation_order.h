/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A lock that stays with its rank: node/lock_delegation.h and
 * coherence/lock_recall.c. Two threads of the rank enter and leave by one step
 * on its byte; another rank wants it, and then whoever finds it idle, or was
 * inside, gives it up.  What was written inside must be seen by the next one
 * inside, and by the rank that gets it.
 */
#ifndef HEARTH_TESTS_ORDER_DELEGATION_H
#define HEARTH_TESTS_ORDER_DELEGATION_H

#include "order.h"

struct delegation : rl::test_suite<delegation, 3> {
    enum { AWAY = 0, IDLE = 1, USED = 2, WANTED = 4 };

    rl::atomic<int> byte, uses;
    rl::var<int>    data;

    void before()
    {
        byte.store(IDLE, RELAXED);
        uses.store(0, RELAXED);
        data($) = 0;
    }

    /* What the transport does is ordered by the transport. */
    void give()
    {
        data($) = data($) + 1; /* hearthi_interval_end() looks at it */
        byte.store(AWAY, rl::mo_seq_cst, $);
    }

    void use()
    {
        int is = IDLE;

        if (!byte.compare_exchange_strong(is, USED, ORDER(1, mo_acquire),
                                          RELAXED))
            return;
        data($) = data($) + 1;
        is = USED;
        if (byte.compare_exchange_strong(is, IDLE, ORDER(2, mo_release),
                                         RELAXED))
            return;
        is = USED | WANTED;
        RL_ASSERT(byte.compare_exchange_strong(is, IDLE | WANTED,
                                               rl::mo_seq_cst, $, RELAXED));
        give();
    }

    void want()
    {
        if (byte.fetch_or(WANTED, ORDER(3, mo_acq_rel)) == IDLE)
            give(); /* the giver's thread was told */
    }

    void thread(unsigned who)
    {
        if (who < 2)
            use();
        else
            want();
    }
};

#endif
