/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The queue of a lock between ranks, by the steps of transport/mpi/mcs_lock.c:
 * a word names the last place of the queue; a rank swaps its own place in,
 * adds its name to the word of the place before, and waits for its grant if
 * the lock does not rest there.  To release is to swap REST in, and whoever
 * gets out a name grants it.  What was written inside must be seen by the next
 * one inside.  (That a place is clear before it is in the queue relacy does
 * not say: it keeps stores in the order in which they are made.)
 */
#ifndef HEARTH_TESTS_ORDER_CHAIN_H
#define HEARTH_TESTS_ORDER_CHAIN_H

#include "order.h"

struct chain : rl::test_suite<chain, 3> {
    enum { RANKS = 3, EMPTY = 0, REST = 1, NAME = 2 };

    rl::atomic<int> last, word[RANKS + 1], grant[RANKS + 1];
    rl::var<int>    data;

    void before()
    {
        for (int i = 0; i <= RANKS; i++) {
            /* As the use before has left it. */
            word[i].store(i == 0 ? REST : NAME, RELAXED);
            grant[i].store(1, RELAXED);
        }
        last.store(0, RELAXED);
        data($) = 0;
    }

    void take(int me)
    {
        int before;

        word[me].store(EMPTY, RELAXED); /* place_clear() */
        grant[me].store(0, RELAXED);
        rl::atomic_thread_fence(rl::mo_seq_cst, $);
        before = last.exchange(me, rl::mo_seq_cst, $);
        if (word[before].fetch_add(NAME * me, ORDER(1, mo_acquire)) == REST)
            return;
        while (grant[me].load(ORDER(2, mo_acquire)) == 0) /* grant_wait() */
            rl::yield(1, $);
    }

    void give(int me)
    {
        int out = word[me].exchange(REST, ORDER(3, mo_release));

        if (out != EMPTY)
            grant[out / NAME].exchange(1, ORDER(4, mo_release));
    }

    void thread(unsigned who)
    {
        int me = (int)who + 1;

        take(me);
        data($) = data($) + 1;
        give(me);
    }

    void after()
    {
        RL_ASSERT(data($) == RANKS);
    }
};

#endif
