/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What ranks ask their gateway, and gateways each other: a head and a body,
 * whose length is a multiple of 8.  An answer is the head of what was asked,
 * changed where it says so, and goes to the rank and the slot that asked.
 * All clusters have the same byte order (link/gateway_hello.h).
 */
#ifndef HEARTHI_WAN_MESSAGE_H
#define HEARTHI_WAN_MESSAGE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

enum hearthi_wan_op {
    /* Of a rank to its own gateway, at first: which connection it is.  kind:
     * AGAIN for one that was there before; at, and of the answer: bytes that
     * were taken from the other side (connection_replay.h); value: the
     * number of the call, of those for this connection. */
    HEARTHI_WAN_HELLO = 1,

    /* Memory of another cluster.  `to` is a rank there. */
    HEARTHI_WAN_FETCH,  /* body: runs; answer: their pages */
    HEARTHI_WAN_KEEP,   /* the same, of a gateway for its ranks to come */
    HEARTHI_WAN_STORE,  /* body: runs of bytes; answer: they are there */
    HEARTHI_WAN_READ,   /* body: runs of bytes; answer: the bytes */
    HEARTHI_WAN_ATOMIC, /* of a word, at `at`; answer: `value` was there */

    /* Synchronisation objects.  `to` is the object.  A grant has the log's
     * epoch in `at`, the position in `n`, and its notices. */
    HEARTHI_WAN_ACQUIRE, /* at: epoch, n: position; kind: how */
    HEARTHI_WAN_RELEASE, /* at: epoch, n: notices, in the body unless more
                            than a log holds */
    HEARTHI_WAN_WAIT,    /* for a flag */
    HEARTHI_WAN_SET,
    HEARTHI_WAN_RESET,
    HEARTHI_WAN_ENTER, /* a condition variable; answer: the place in `at` */
    HEARTHI_WAN_SLEEP, /* until the place in `at` was woken */
    HEARTHI_WAN_WAKE,  /* kind: all */

    HEARTHI_WAN_FORGET, /* pages that the gateway keeps; body: a notice */

    /* Together.  A body of each rank; the answer has those of all, one behind
     * the other, in the order of ranks; or the notices of all. */
    HEARTHI_WAN_GATHER,
    HEARTHI_WAN_BARRIER,

    /* What a handler that is a rank joins in (hidden_rank.h).  kind: what; at:
     * frames. */
    HEARTHI_WAN_ATTEND, /* of that rank; answer: the next call */
    HEARTHI_WAN_CALL,   /* of another */
    HEARTHI_WAN_COUNTS, /* answer: a tally, which begins anew */

    /* What one rank tells another, `to`, whose connection for it this goes to
     * (hear.h).  Body: a record of life/liveness_line.h; not answered. */
    HEARTHI_WAN_TELL,

    /* The end of a rank, in order or with a line. */
    HEARTHI_WAN_BYE,
    HEARTHI_WAN_ENDING, /* body: the line; kind of the answer: TAKEN if no
                           rank here has said one before */
    HEARTHI_WAN_OPS,

    /* Of one connection between a rank and its own gateway, either way: `at`
     * bytes were taken from it (connection_replay.h); not answered. */
    HEARTHI_WAN_HEARD = HEARTHI_WAN_OPS
};

enum {
    HEARTHI_WAN_TRY = 1, /* of ACQUIRE */
    HEARTHI_WAN_WRITE = 2,
    HEARTHI_WAN_TAKEN = 4,           /* of its answer */
    HEARTHI_WAN_AGAIN = 8,           /* and of HELLO */
    HEARTHI_WAN_INVALIDATE_ALL = 16, /* and of BARRIER */
    HEARTHI_WAN_AHEAD = 32,
    HEARTHI_WAN_ALL = 64 /* of WAKE */
};

struct hearthi_wan_message {
    uint32_t len; /* of the body */
    uint8_t  op, kind, answer, narrow;
    uint32_t rank, slot; /* who asks, of all ranks; behind them, of gateways */
    uint32_t to, n;
    uint64_t at, value, expected;
};

/* Of FETCH. */
struct hearthi_wan_run {
    uint64_t page, frame;
    uint32_t count, home;
    uint16_t announce, announce_behind; /* set sharer flags (data_ops.h) */
    uint32_t behind; /* pages that are likely to be fetched next */
};

/* Of READ; and of STORE, where the bytes follow, up to a multiple of 8. */
struct hearthi_wan_bytes {
    uint64_t at; /* in the home's segment */
    uint32_t home, len;
};

static inline size_t
hearthi_wan_round(size_t n)
{
    return (n + 7) & ~(size_t)7;
}

/* How many slots a rank has: for so many threads that wait; for what it is
 * told unasked (hear.h); and for the thread that ends the job. */
enum {
    HEARTHI_WAN_THREADS = 255,
    HEARTHI_WAN_HEARS = HEARTHI_WAN_THREADS,
    HEARTHI_WAN_ENDS,
    HEARTHI_WAN_SLOTS
};

#endif
