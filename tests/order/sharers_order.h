/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A rank reads a page for the first time while its home publishes a store:
 * page/sharer_notify.c and coherence/sharer_flags.c.  The reader sets a flag
 * at the home, then tells of it in a word, then reads; the home stores, and
 * then looks for the word, and if that is new for the flag.  One of them must
 * see what the other did: the reader the store, or the home the flag.
 */
#ifndef HEARTH_TESTS_ORDER_SHARERS_H
#define HEARTH_TESTS_ORDER_SHARERS_H

#include "order.h"

struct sharers : rl::test_suite<sharers, 2> {
    rl::atomic<int> flag, told, page;
    int             seen, published, known;

    void before()
    {
        flag.store(0, RELAXED);
        told.store(0, RELAXED);
        page.store(0, RELAXED);
        seen = published = known = 0;
    }

    void read()
    {
        flag.store(1, RELAXED);
        told.store(1, ORDER(1, mo_release)); /* the flag is there before */
        FENCE(2, mo_seq_cst); /* hearthi_sharer_notify_fence() */
        seen = page.load(RELAXED);
    }

    /* Flags are looked at if the word is another than it was. */
    void scan()
    {
        int now;

        FENCE(3, mo_seq_cst); /* hearthi_sharer_flags_scan() */
        now = told.load(RELAXED);
        if (now == known)
            return;
        known = now;
        FENCE(4, mo_acquire); /* told_changed() */
        published = flag.load(RELAXED);
    }

    void write()
    {
        scan(); /* the interval before */
        page.store(1, RELAXED);
        scan();
    }

    void thread(unsigned who)
    {
        if (who == 0)
            read();
        else
            write();
    }

    void after()
    {
        RL_ASSERT(seen == 1 || published == 1);
    }
};

#endif
