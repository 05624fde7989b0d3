/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A thread sleeps until another has changed something: node/event.h and
 * node/event.c. The one raises a value, then looks for sleepers; the other
 * counts itself as a sleeper, then looks whether the value is the one that it
 * has seen (as the kernel does once more before it sleeps).  One of them must
 * see what the other did.  (The code asks the same of the steps: all are
 * seq_cst.)
 */
#ifndef HEARTH_TESTS_ORDER_EVENT_H
#define HEARTH_TESTS_ORDER_EVENT_H

#include "order.h"

struct event : rl::test_suite<event, 2> {
    rl::atomic<int> value, sleepers, changed;
    bool            sleeps, woken;

    void before()
    {
        value.store(0, RELAXED);
        sleepers.store(0, RELAXED);
        changed.store(0, RELAXED);
        sleeps = woken = false;
    }

    void raise()
    {
        changed.store(1, RELAXED);
        value.fetch_add(1, ORDER(1, mo_seq_cst)); /* hearthi_event_raise() */
        FENCE(3, mo_seq_cst);
        woken = sleepers.load(RELAXED) > 0;
    }

    void wait()
    {
        int seen = value.load(ORDER(2, mo_acquire));

        if (changed.load(RELAXED) != 0)
            return;
        if (value.load(RELAXED) != seen)
            return;
        sleepers.fetch_add(1, RELAXED); /* sleep_at() */
        FENCE(4, mo_seq_cst);
        sleeps = value.load(RELAXED) == seen;
    }

    void thread(unsigned who)
    {
        if (who == 0)
            raise();
        else
            wait();
    }

    void after()
    {
        RL_ASSERT(!sleeps || woken);
    }
};

#endif
