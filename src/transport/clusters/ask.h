/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ranks ask their gateway, and gateways each other: a head and a body,
 * whose length is a multiple of 8.  An answer is the head of what was asked,
 * changed where it says so, and goes to the rank and the slot that asked.
 * All clusters have the same byte order (link/hello.h).
 */
#ifndef HEARTHI_CLUSTERS_ASK_H
#define HEARTHI_CLUSTERS_ASK_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hearthi_ask_op {
    /* Of a rank to its own gateway, at first: which connection it is. */
    HEARTHI_ASK_HELLO = 1,

    /* Memory of another cluster.  `to` is a rank there. */
    HEARTHI_ASK_FETCH,  /* body: runs; answer: their pages */
    HEARTHI_ASK_KEEP,   /* the same, of a gateway for its ranks to come */
    HEARTHI_ASK_STORE,  /* body: runs of bytes; answer: they are there */
    HEARTHI_ASK_READ,   /* body: runs of bytes; answer: the bytes */
    HEARTHI_ASK_ATOMIC, /* of a word, at `at`; answer: `value` was there */

    /* Synchronisation objects.  `to` is the object.  A grant has the log's
     * epoch in `at`, the position in `n`, and its notices. */
    HEARTHI_ASK_ACQUIRE, /* at: epoch, n: position; kind: how */
    HEARTHI_ASK_RELEASE, /* at: epoch, n: notices, in the body unless more
                            than a log holds */
    HEARTHI_ASK_WAIT,    /* for a flag */
    HEARTHI_ASK_SET,
    HEARTHI_ASK_RESET,
    HEARTHI_ASK_ENTER, /* a condition variable; answer: the place in `at` */
    HEARTHI_ASK_SLEEP, /* until the place in `at` was woken */
    HEARTHI_ASK_WAKE,  /* kind: all */

    HEARTHI_ASK_FORGET, /* pages that the gateway keeps; body: a notice */

    /* Together.  A body of each rank; the answer has those of all, one behind
     * the other, in the order of ranks; or the notices of all. */
    HEARTHI_ASK_GATHER,
    HEARTHI_ASK_BARRIER,

    /* What a handler that is a rank joins in (attend.h).  kind: what; at:
     * frames. */
    HEARTHI_ASK_ATTEND, /* of that rank; answer: the next call */
    HEARTHI_ASK_CALL,   /* of another */
    HEARTHI_ASK_COUNTS, /* answer: a tally, which begins anew */

    /* The end of a rank, in order or with a line. */
    HEARTHI_ASK_BYE,
    HEARTHI_ASK_ENDING,
    HEARTHI_ASK_OPS
};

enum {
    HEARTHI_ASK_TRY = 1, /* of ACQUIRE */
    HEARTHI_ASK_WRITE = 2,
    HEARTHI_ASK_TAKEN = 4, /* of its answer */
    HEARTHI_ASK_AGAIN = 8,
    HEARTHI_ASK_EVERYTHING = 16, /* and of BARRIER */
    HEARTHI_ASK_AHEAD = 32,
    HEARTHI_ASK_ALL = 64 /* of WAKE */
};

struct hearthi_ask {
    uint32_t len; /* of the body */
    uint8_t  op, kind, answer, narrow;
    uint32_t rank, slot; /* who asks, of all ranks; behind them, of gateways */
    uint32_t to, n;
    uint64_t at, value, expected;
};

/* Of FETCH. */
struct hearthi_ask_run {
    uint64_t page, frame;
    uint32_t count, home;
    uint16_t announce, announce_behind; /* set shared flags (transport.h) */
    uint32_t behind; /* pages that are likely to be fetched next */
};

/* Of READ; and of STORE, where the bytes follow, up to a multiple of 8. */
struct hearthi_ask_bytes {
    uint64_t at; /* in the home's segment */
    uint32_t home, len;
};

static inline size_t
hearthi_ask_round(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* How many slots a rank has: for so many threads that wait. */
enum { HEARTHI_ASK_SLOTS = 256 };

#endif
