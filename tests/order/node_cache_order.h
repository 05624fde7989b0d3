/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank copies a page from another of its node, whose copy may go meanwhile:
 * page/node_cache.c.  The word of the page is that of a sequence lock: its
 * owner says there that it lends, and takes that back before it stores to the
 * frame; whoever has copied the frame looks whether the word is the same
 * still.  Bytes of a frame are loaded while they are stored, and then not
 * used.
 */
#ifndef HEARTH_TESTS_ORDER_NODE_CACHE_H
#define HEARTH_TESTS_ORDER_NODE_CACHE_H

#include "order.h"

struct node_cache : rl::test_suite<node_cache, 2> {
    enum { WORDS = 2, TIMES = 2 };

    rl::atomic<int> word, frame[WORDS];

    void before()
    {
        word.store(0, RELAXED);
        for (int i = 0; i < WORDS; i++)
            frame[i].store(0, RELAXED);
    }

    void lend()
    {
        for (int number = 1; number <= TIMES; number++) {
            word.store(0, RELAXED); /* hearthi_node_tags_keep() */
            FENCE(1, mo_acq_rel);
            for (int i = 0; i < WORDS; i++)
                frame[i].store(number, RELAXED);
            word.store(number, ORDER(2, mo_release)); /* word_set() */
        }
    }

    void take() /* hearthi_node_cache_take() */
    {
        int before = word.load(ORDER(3, mo_acquire)), copy[WORDS];

        if (before == 0)
            return;
        for (int i = 0; i < WORDS; i++)
            copy[i] = frame[i].load(RELAXED);
        FENCE(4, mo_acquire);
        if (word.load(RELAXED) != before)
            return;
        for (int i = 0; i < WORDS; i++)
            RL_ASSERT(copy[i] == before);
    }

    void thread(unsigned who)
    {
        if (who == 0)
            lend();
        else
            take();
    }
};

#endif
