/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The model of messages: its state, and who takes steps.
 */
#ifndef HEARTH_MODEL_MAIL_H
#define HEARTH_MODEL_MAIL_H

#include "search.h"

enum { WRITERS = 2, PLACES = 2, BYTES = 5, OWN = 4, LOSSES = 1 };
enum { HELPER = WRITERS, HOME, NET, ACTORS, TORN = 8 };

/* Of a writer's Puts: the halves of each message, `sent`, and a byte. */
enum { SENT = 2 * PLACES, PUT, PIECES };
enum { CHOICES = WRITERS * PIECES };

enum rule {
    SURE,
    REUSE_EARLY,    /* a place is written while its message is not done */
    SENT_EARLY,     /* `sent` is put before the messages have arrived */
    READ_EARLY,     /* the helper reads a message before it looks at `sent` */
    COUNT_FIRST,    /* a message counts as done before it is stored */
    NO_WAIT,        /* a release does not wait for messages */
    NO_PUT_WAIT,    /* ... nor for Puts */
    TWICE,          /* a byte goes by a message and a Put of one flush */
    WHOLE_WORD,     /* the helper writes the bytes beside, too */
    TRUST_SENT,     /* it believes whatever `sent` says */
    TRUST_DONE,     /* who waits believes whatever `done` says */
    RING_ONCE,      /* ... and does not ring again */
    LOOK_EARLY,     /* who sends looks at `done` before `sent` is there */
    NO_SECOND_LOOK, /* the helper looks at `sent` before it counts only */
    REST_UNSERVED,  /* it forgets who has rung just before it sleeps */
    RULES
};

/* What writers do: a message or a Put of a byte, a flush in the middle of a
 * release, which an eviction makes, the release's flush, and the release. */
enum what { MESSAGE, PLAIN, EVICT, FLUSH, RELEASE, END };

enum { OPS = 11 };
struct op {
    uint8_t what, byte, value;
};
extern const struct op program[WRITERS][OPS];

/* Where a writer is inside an operation: settling (diff_aggregate.c). */
enum at { BEGIN, TELL, ARRIVE, LOOK_DONE, RING };

struct writer {
    uint8_t op, at;
    uint8_t put, sent, told, done; /* as in mail.c */
    uint8_t way[PIECES];           /* what is under way; 0: nothing */
    uint8_t torn;                  /* half of `sent` has arrived */
};

enum { ASLEEP, LOOK, STORE, WRITE, COUNT, REST };

struct state {
    struct writer writer[WRITERS];
    uint8_t       half[WRITERS][2 * PLACES]; /* of the messages at the home */
    uint8_t       sent[WRITERS], done[WRITERS];
    uint8_t       memory[BYTES], published[BYTES];
    uint8_t       bell, ringing; /* a bit for each writer */
    uint8_t       lost;
    uint8_t       at, of, until, served[WRITERS]; /* the helper */
    uint8_t       read[2], copy[BYTES];
    uint8_t       wrong;
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

/* mail_home.c: a step of what is under way, and of the home's helper. */
bool arrive(struct state *s, int choice);
bool helper_step(struct state *s, int choice);

#endif
