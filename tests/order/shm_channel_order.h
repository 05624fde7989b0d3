/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Requests and answers between ranks of a node: node/shm_channel.c.  A rank
 * writes its request into its box and the box's number into the lane to the
 * other rank, which takes it from there, and writes the answer and then its
 * length.  Two threads of a rank ask at the same time, with a box each, and
 * twice: so places of the lane, and the boxes, are used again.
 */
#ifndef HEARTH_TESTS_ORDER_SHM_CHANNEL_H
#define HEARTH_TESTS_ORDER_SHM_CHANNEL_H

#include "order.h"

struct shm_channel : rl::test_suite<shm_channel, 3> {
    enum { BOXES = 2, TURNS = 2 };

    rl::atomic<unsigned> tail;
    rl::atomic<int>      slot[BOXES], answer_len[BOXES];
    rl::var<int>         request[BOXES], answer[BOXES];

    void before()
    {
        tail.store(0, RELAXED);
        for (int i = 0; i < BOXES; i++) {
            slot[i].store(0, RELAXED);
            answer_len[i].store(0, RELAXED);
        }
    }

    void ask(int box, int what)
    {
        unsigned at = tail.fetch_add(1, rl::mo_seq_cst, $) % BOXES;

        RL_ASSERT(slot[at].load(RELAXED) == 0);
        request[box]($) = what;
        answer_len[box].store(0, RELAXED);
        slot[at].store(box + 1, ORDER(1, mo_release));
        while (answer_len[box].load(ORDER(2, mo_acquire)) == 0)
            rl::yield(1, $);
        RL_ASSERT(answer[box]($) == what + 1);
    }

    void serve()
    {
        for (unsigned head = 0; head < BOXES * TURNS; head++) {
            int box;

            while (box = slot[head % BOXES].load(ORDER(3, mo_acquire)),
                   box == 0)
                rl::yield(1, $);
            slot[head % BOXES].store(0, rl::mo_seq_cst, $);
            answer[box - 1]($) = request[box - 1]($) + 1;
            answer_len[box - 1].store(1, ORDER(4, mo_release));
        }
    }

    void thread(unsigned who)
    {
        if (who == BOXES)
            serve();
        else
            for (int i = 0; i < TURNS; i++)
                ask((int)who, 10 * (int)who + i);
    }
};

#endif
