/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Lines: each rank has a TCP connection to the next one, in a ring.  A process
 * that ends closes its lines, whatever ended it; the kernel tells the other
 * end at once.
 */
#ifndef HEARTHI_LIVENESS_LINE_H
#define HEARTHI_LIVENESS_LINE_H

#include <stdbool.h>
#include <stdint.h>

#include "base/network.h"
#include "transport/lock_key.h"
#include "wait_graph.h"

enum hearthi_said {
    HEARTHI_SAID_BEAT = 1, /* I am here */
    HEARTHI_SAID_CLAIM,    /* `by` knows that `about` is gone */
    HEARTHI_SAID_ENDING,   /* `by` has said why the job ends */
    HEARTHI_SAID_BYE,      /* the line will end, and all is well */
    HEARTHI_SAID_LOCKS,    /* which are lost with `about`, so far */
    HEARTHI_SAID_HELLO,    /* first on a line, and its answer: by, about: to */
    HEARTHI_SAID_WHERE,    /* `by` waits in a collective call: who is where? */
    HEARTHI_SAID_STALLED,  /* `by` waits in another call, as `weight` ranks
                              do */
    HEARTHI_SAID_DEADLOCK, /* does every rank wait?  (deadlock.h) */
    HEARTHI_SAID_WAITS     /* what a thread of `by` waits for, or has */
};

/* A call of a rank's that all ranks make, or else what it waits in. */
struct hearthi_where {
    uint64_t number; /* among those calls, from 1 on */
    int32_t  inside; /* not left yet */
    int32_t  n;      /* arguments */
    uint64_t arg[2];
    char     call[40];
};

enum { HEARTHI_HASHES = 4 };

/* The call is where.number; hash has it and those before it; found is what the
 * rank `about` knows that decides. */
struct hearthi_asked_where {
    struct hearthi_where where, found;
    uint64_t             hash[HEARTHI_HASHES];
};

struct hearthi_record {
    uint64_t word; /* of this job */
    int32_t  said, by, about;
    int32_t  weight; /* of a claim; the lightest speaks */
    union {
        struct hearthi_abandoned_locks lost;
        struct hearthi_asked_where     ask;
        struct hearthi_deadlock_asked  deadlock;
        struct hearthi_thread_wait     wait;
    };
};

enum hearthi_which { HEARTHI_LINE_PREV, HEARTHI_LINE_NEXT, HEARTHI_LINES };

struct hearthi_liveness_line {
    int                   fd;   /* -1: there is none, or it has ended */
    int                   rank; /* at the other end */
    int                   pid;  /* its process */
    char                  host[64];
    union hearthi_address at;      /* at the other end, as the system has it */
    bool                  heard;   /* since the last beat */
    bool                  greeted; /* hello was said or answered */
    bool                  bye;
    bool                  shut;   /* by this rank, after half a record */
    bool                  lost;   /* by an error that tells of no death */
    bool                  warned; /* of its silence */
    uint64_t              silent; /* nanoseconds */
    unsigned              have;   /* bytes of the record that comes */
    struct hearthi_record part;
};

extern uint64_t hearthi_liveness_lines_word; /* of this job */
extern struct hearthi_liveness_line hearthi_liveness_line[HEARTHI_LINES];

/* Never waits, and any thread may, even in a signal handler: a record that
 * the kernel cannot take is lost, and with a part of one the line, as all that
 * came after it would be misread. */
void hearthi_liveness_line_send(struct hearthi_liveness_line *line,
                                enum hearthi_said said, int by, int about,
                                int weight);

/* The same for a record that is filled but for the word. */
void hearthi_liveness_line_pass(struct hearthi_liveness_line *line,
                                struct hearthi_record         r);

/* A question that goes round all ranks, to the next of them.  By the line, or,
 * over several clusters, by what their transport sets here. */
void hearthi_next_tell(struct hearthi_record r);
extern void (*hearthi_next_hook)(const struct hearthi_record *r);

/* To both lines but one, or -1. */
void hearthi_liveness_lines_tell(int but, enum hearthi_said said, int by,
                                 int about, int weight);

/* Any record, to any connection; false if only a part of it has gone. */
bool hearthi_record_send(int fd, const struct hearthi_record *r);

enum hearthi_heard {
    HEARTHI_HEARD_NOTHING,
    HEARTHI_HEARD_RECORD,
    HEARTHI_HEARD_END, /* the line was closed at the other end, as by a process
                    that ends */
    HEARTHI_HEARD_LOST /* the line is no more, which says nothing of the
                          process */
};

/* Take a record, if there is one. */
enum hearthi_heard
     hearthi_liveness_line_take(struct hearthi_liveness_line *line,
                                struct hearthi_record        *r);
void hearthi_liveness_line_close(struct hearthi_liveness_line *line);

/* It has this connection from now on. */
void hearthi_liveness_line_renew(struct hearthi_liveness_line *line, int fd);

/* Say that this rank is here. */
void hearthi_liveness_line_beat(struct hearthi_liveness_line *line);

/* ---- liveness_rx.c ----
 *
 * What the thread that watches a line does about what it hears, or does not.
 */

/* How long a rank that finds another silent waits for others that do;
 * nanoseconds. */
uint64_t hearthi_liveness_moment(void);

/* And how much longer, until others have said which locks are lost. */
uint64_t hearthi_liveness_moment_locks(void);

/* Take all that is there. */
void hearthi_liveness_line_read(struct hearthi_liveness_line *line);

/* Nothing has come over it for longer than HEARTH_UDP_GIVEUP. */
void hearthi_liveness_line_silent(struct hearthi_liveness_line *line);

#endif
