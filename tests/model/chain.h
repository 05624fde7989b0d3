/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The chain of a lock: states, and the steps of who takes it (chain_take.c)
 * and passes it on (chain.c).
 */
#ifndef HEARTH_MODEL_CHAIN_H
#define HEARTH_MODEL_CHAIN_H

#include "search.h"

enum { NODES = 3, TURNS = 2, CHOICES = 2 };
enum { LOCK = 0, TRY = 1 }; /* choices */

enum rule {
    ONE_PLACE,   /* a node has one place, not two in turn */
    CLEAR_LATE,  /* it clears its place when it is in the chain */
    SWAP_NAME,   /* who asks leaves its name also where the lock rests */
    SWAP_BACK,   /* ... or who puts it back */
    DROP_NAME,   /* a try does not put back the name that it took out */
    REST_BLIND,  /* who puts the lock to rest does not look what comes out */
    GRANT_TAKEN, /* ... grants it without looking whether it is still there */
    NO_SETTLE,   /* who puts a name back does not look, either */
    KEEP_BLIND,  /* who keeps the lock does not look what comes out */
    NO_RING,     /* who waits does not ring */
    NO_WANT,     /* a try does not want a lock that is kept */
    DROP_KEPT,   /* a try does not put back that the lock is kept */
    RULES
};

/* What a word may be; NAME and more names a node. */
enum { REST = 0, EMPTY, KEPT, TAKEN, NAME };

/* Where a node is, named by its next step. */
enum at {
    OUT,
    CLEAR,
    JOIN,
    ASK,
    WAIT,
    TAIL,
    LOOK,
    WANT,
    LOOK_AGAIN,
    TAKE,
    PUT,
    HOLD,
    KEEP,
    KEEP_BACK,
    HAND_OVER,
    LAY_DOWN
};

struct node {
    uint8_t at, turns;
    uint8_t tries;  /* not waits */
    uint8_t passes; /* it releases, and does not take */
    uint8_t again;  /* it takes what rests where the node left it */
    uint8_t ours;   /* it rests there, as far as the node knows */
    uint8_t kept, wanted;
    uint8_t place;  /* its own, 0 or 1 */
    uint8_t target; /* the place at which it takes steps: 2 * node + place */
    uint8_t hand;   /* what it took out there */
    uint8_t saw;    /* sections that it knows of, with the token */
    uint8_t granted, grant;
    uint8_t excused;
};

struct state {
    uint8_t     tail;            /* 0: none yet, or 1 + a place */
    uint8_t     word[2 * NODES]; /* of each place */
    uint8_t     saw[2 * NODES];  /* with REST */
    uint8_t     sections, wrong;
    struct node node[NODES];
};

/* A step of who takes the lock; false if it cannot be taken. */
bool chain_take_step(struct state *s, struct node *n, int choice);

uint8_t chain_number(const struct state *s, const struct node *n);

/* Put something into the word where the node takes its steps: what came out.
 * The token comes with what it says. */
uint8_t chain_swap(struct state *s, struct node *n, uint8_t item);

/* The same for a name, which is added: if the token came out, nothing is there
 * then. */
uint8_t chain_name_add(struct state *s, struct node *n, uint8_t name);

void chain_turn_end(struct node *n);

/* Give the token to a name. */
void chain_grant(struct state *s, struct node *n, uint8_t name);

#endif
