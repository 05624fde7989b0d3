/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What gateway.c walks: a page at home, on the link, at the gateway, and at
 * two ranks.
 */
#ifndef MODEL_GATEWAY_H
#define MODEL_GATEWAY_H

#include "search.h"

enum { HOME, ONE, TWO, ACTORS };
enum { LINK = ACTORS, STEPPERS }; /* the other gateway is an actor, too */
enum { TURNS = 3, QUEUE = 4 };

enum rule {
    GRANT_KEEPS,   /* a grant with a notice drops nothing */
    GRANT_FIRST,   /* ... is handed to the rank before it does */
    STORE_KEEPS,   /* bytes that pass to the home drop nothing */
    LATE_IS_KEPT,  /* a copy is kept though it was dropped on its way */
    READ_FIRST,    /* a page is read before its flag is set */
    NOT_TOLD,      /* the other gateway does not tell the home of a flag */
    MESSAGE_KEEPS, /* a message of the program's drops nothing */
    STORE_IS_LATE, /* a release does not wait until what was stored is home */
    NUMBER_FIRST,  /* who learns by a message draws the number that a mate's
                      fetch must follow before the gateway has dropped */
    TAKE_ANY,      /* a mate's copy is taken whenever it was fetched */
    RULES
};

enum at { OUT, AHEAD, TOLD, FETCH, READ, WRITE, GIVE, DONE };
enum kind { NOTHING, GET, PUT };

/* On the link to the other gateway, in order. */
struct ask {
    uint8_t kind, rank, first, value, step;
};

struct actor {
    uint8_t at, turns;
    uint8_t must;      /* what it has to find */
    uint8_t has, copy; /* a copy, and of which value */
    uint8_t first;     /* it is a first copy */
    uint8_t known;     /* the rank has announced the page before */
    uint8_t seen;      /* notices of the log that it has read */
    uint8_t waits;     /* for its answer */
    uint8_t fresh;     /* its fetch began after its mate's number was drawn */
    uint8_t written;   /* its copy was, and is not lent */
    uint8_t wrong;
};

struct state {
    uint8_t      page, flag, told, tracked; /* at home */
    uint8_t      noted, written;        /* by the home, since its release */
    uint8_t      lock;                  /* who has it, and 1 */
    uint8_t      latest;                /* of what was written under it */
    uint8_t      notices;               /* in its log */
    uint8_t      kept, content, coming; /* coming: for whom, and 1 */
    uint8_t      due; /* a grant was handed on, and the copy is to go */
    struct ask   ask[QUEUE];
    struct ask   back[ACTORS]; /* an answer on its way to a rank */
    struct actor actor[ACTORS];
};

/* gateway_mate.c: what a rank's mate fetches from now on is new enough for it;
 * does the mate lend what it has, and the copy of that. */
void gateway_number_draw(struct state *s, int me);
bool gateway_mate_lends(const struct state *s, int me);
void gateway_copy_take(struct state *s, struct actor *a, int me);

#endif
