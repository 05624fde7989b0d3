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

#include "transport/abandoned_locks.h"

enum hearthi_said {
    HEARTHI_SAID_BEAT = 1, /* I am here */
    HEARTHI_SAID_CLAIM,    /* `by` knows that `about` is gone */
    HEARTHI_SAID_ENDING,   /* `by` has said why the job ends */
    HEARTHI_SAID_BYE,      /* the line will end, and all is well */
    HEARTHI_SAID_LOCKS, /* which are lost with `about`, as far as it has come
                         */
    HEARTHI_SAID_HELLO  /* first on a line, and its answer: by, about: to */
};

struct hearthi_record {
    uint64_t word; /* of this job */
    int32_t  said, by, about;
    int32_t  weight; /* of a claim; the lightest speaks */
    struct hearthi_abandoned_locks lost;
};

enum hearthi_which { HEARTHI_LINE_PREV, HEARTHI_LINE_NEXT, HEARTHI_LINES };

struct hearthi_liveness_line {
    int                   fd;   /* -1: there is none, or it has ended */
    int                   rank; /* at the other end */
    int                   pid;  /* its process */
    char                  host[64];
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

/* To both lines but one, or -1. */
void hearthi_liveness_lines_tell(int but, enum hearthi_said said, int by,
                                 int about, int weight);

/* Any record, to any connection; false if only a part of it has gone. */
bool hearthi_record_send(int fd, const struct hearthi_record *r);

enum hearthi_heard {
    HEARTHI_HEARD_NOTHING,
    HEARTHI_HEARD_RECORD,
    HEARTHI_HEARD_END, /* the process at the other end has closed the line */
    HEARTHI_HEARD_LOST /* the line is no more, which says nothing of the
                          process */
};

/* Take a record, if there is one. */
enum hearthi_heard
     hearthi_liveness_line_take(struct hearthi_liveness_line *line,
                                struct hearthi_record        *r);
void hearthi_liveness_line_close(struct hearthi_liveness_line *line);

#endif
