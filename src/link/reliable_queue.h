/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Messages between two clusters: each arrives once and in order, whatever
 * becomes of the connections that carry them.  Nothing here reads or writes.
 *
 * The argument.  A message has the next number when it is given, and is kept
 * until the other side has said that it has all up to that number.  A
 * connection that breaks gives back what it was given and what is still kept,
 * so each kept message is on a connection that works or waits for one:
 * nothing is lost.  The receiver passes on number got + 1 alone, and got
 * counts with it: nothing is done twice, and nothing out of order.  What it
 * says it has is got, so nothing is forgotten that was not passed on.
 *
 * tests/transport/link/link_reliable_queue.c breaks each of these.
 */
#ifndef HEARTHI_RELIABLE_QUEUE_H
#define HEARTHI_RELIABLE_QUEUE_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/uio.h>

enum { HEARTHI_NO_CONNECTION = -1 };

/* In front of each message on a connection, in the byte order of both. */
struct hearthi_frame {
    uint32_t len; /* of the body; the next frame begins at a multiple of 8 */
    uint32_t kind;
    uint64_t number; /* of a message, from 1; 0: of none */
    uint64_t ack;    /* all messages up to this one have come */
};

/* One that goes out. */
struct hearthi_queued_message {
    struct hearthi_queued_message *next;
    struct hearthi_frame           head;
    const void                    *body;
    void (*release)(void *); /* of the body; NULL: it is behind this */
    int  conn;               /* that carries it */
    bool writing;            /* it is not whole on its connection yet */
    bool dropped;            /* and is not wanted any more */
    bool lost;               /* with a connection that carried it */
};

/* One that came before its turn. */
struct hearthi_early {
    struct hearthi_early *next;
    struct hearthi_frame  head;
    max_align_t           body[];
};

struct hearthi_reliable_queue {
    struct hearthi_queued_message *first, *last; /* kept, in order */
    struct hearthi_queued_message *waiting;      /* none before it waits */
    uint64_t                       given, acked; /* last numbers */
    size_t                         bytes;        /* of what is kept */
    uint64_t                       got;
    struct hearthi_early          *early;        /* in order */
    uint64_t                       again, twice; /* sent so, came so */
};

/* A message of kind with a copy of the parts, or with body itself, which is
 * released when it is not needed any more.  NULL: no memory. */
struct hearthi_queued_message *
hearthi_queued_message_copy(uint32_t kind, const struct iovec *part, int n);
struct hearthi_queued_message *
hearthi_queued_message_take(uint32_t kind, void *body, size_t len,
                            void (*release)(void *));

void hearthi_reliable_queue_give(struct hearthi_reliable_queue *p,
                                 struct hearthi_queued_message *m);

/* The next that waits, now on this connection; or NULL. */
struct hearthi_queued_message *
hearthi_reliable_queue_next(struct hearthi_reliable_queue *p, int conn);

/* It is whole on its connection. */
void hearthi_reliable_queue_written(struct hearthi_queued_message *m);

/* The connection is no more; m is what it was writing, or NULL. */
void hearthi_reliable_queue_lane_lost(struct hearthi_reliable_queue *p,
                                      int                            conn,
                                      struct hearthi_queued_message *m);

/* The other side has all up to this number. */
void hearthi_reliable_queue_acked(struct hearthi_reliable_queue *p,
                                  uint64_t                       ack);

/* A message has come.  IN_ORDER: pass it on, and what is early and follows.
 * TWICE: it is here already.  EARLY: keep it. */
enum hearthi_turn {
    HEARTHI_FRAME_IN_ORDER,
    HEARTHI_FRAME_TWICE,
    HEARTHI_FRAME_EARLY
};
enum hearthi_turn hearthi_reliable_queue_came(struct hearthi_reliable_queue *p,
                                              uint64_t number);

/* Keep a message that is early, if it is not kept already.  False: no memory,
 * and it must not be lost, since it comes again only if its connection
 * breaks. */
bool hearthi_reliable_queue_keep(struct hearthi_reliable_queue *p,
                                 const struct hearthi_frame    *head,
                                 const void                    *body);

/* The early one whose turn it is, to be freed by free(); or NULL. */
struct hearthi_early *
hearthi_reliable_queue_follows(struct hearthi_reliable_queue *p);

void hearthi_reliable_queue_clear(struct hearthi_reliable_queue *p);

#endif
