/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The chain of a lock between nodes over MPI (src/transport/mpi/chain.c): each
 * node takes the lock a few times, waiting or by a try, and may keep it; each
 * swap of a word is a step.  Node 0 is the manager.
 */
#include "search.h"

enum { NODES = 3, TURNS = 2, CHOICES = 2 };
enum { LOCK = 0, TRY = 1 }; /* choices */

enum rule {
    ONE_PLACE,   /* a node has one place, not two in turn */
    CLEAR_LATE,  /* it clears its place when it is in the chain */
    NO_COLLECT,  /* who finds the lock at rest leaves its name there */
    DROP_NAME,   /* a try does not put back the name that it took out */
    REST_BLIND,  /* who puts the lock to rest does not look what comes out */
    GRANT_TAKEN, /* ... grants it without looking whether it is still there */
    NO_SETTLE,   /* a try puts a name back and does not look, either */
    KEEP_BLIND,  /* who keeps the lock does not look what comes out */
    NO_RING,     /* who waits does not ring */
    NO_WANT,     /* a try does not want a lock that is kept */
    DROP_KEPT,   /* a try does not put back that the lock is kept */
    RULES
};

static const char *const rules[RULES + 1] = {
    [ONE_PLACE] = "--one-place",   [CLEAR_LATE] = "--clear-late",
    [NO_COLLECT] = "--no-collect", [DROP_NAME] = "--drop-name",
    [REST_BLIND] = "--rest-blind", [GRANT_TAKEN] = "--grant-taken",
    [NO_SETTLE] = "--no-settle",   [KEEP_BLIND] = "--keep-blind",
    [NO_RING] = "--no-ring",       [NO_WANT] = "--no-want",
    [DROP_KEPT] = "--drop-kept",
};

/* What a word may be; NAME and more names a node. */
enum { REST = 0, EMPTY, KEPT, NAME };

/* Where a node is, named by its next step. */
enum at {
    OUT,
    CLEAR,
    JOIN,
    ASK,
    COLLECT,
    WAIT,
    TAIL,
    LOOK,
    WANT,
    LOOK_AGAIN,
    TAKE,
    PUT,
    GATHER,
    HOLD,
    KEEP,
    KEEP_BACK,
    HAND_OVER,
    LAY_DOWN,
    TAKE_BACK
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

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

static uint8_t
number(const struct state *s, const struct node *n)
{
    return (uint8_t)(n - s->node);
}

static uint8_t
swap(struct state *s, struct node *n, uint8_t item)
{
    uint8_t out = s->word[n->target];

    s->word[n->target] = item;
    if (item == REST)
        s->saw[n->target] = n->saw;
    if (out == REST)
        n->saw = s->saw[n->target];
    return out;
}

/* For a try: is anybody inside, in the queue, or in a try that has something
 * in its hand? */
static bool
is_busy(const struct state *s, const struct node *me)
{
    for (int i = 0; i < NODES; i++) {
        const struct node *n = &s->node[i];

        if (n != me && n->at != OUT && n->at != CLEAR && n->at != JOIN &&
            n->at != TAIL && n->at != LOOK && n->at != WANT &&
            n->at != LOOK_AGAIN && n->at != TAKE)
            return true;
    }
    return false;
}

static void
turn_end(struct node *n)
{
    n->at = OUT;
    n->tries = n->passes = n->again = n->hand = n->saw = n->excused = 0;
    if (!n->ours && !n->kept)
        n->target = 0;
}

static void
hold(struct state *s, struct node *n)
{
    n->at = HOLD;
    n->ours = 1;
    n->hand = n->again = 0;
    s->wrong |= n->saw != s->sections;
}

static void
miss(struct state *s, struct node *n)
{
    n->hand = 0;
    n->ours = 0;
    if (n->again) {
        n->again = 0;
        n->at = n->tries ? TAIL : CLEAR;
    } else {
        s->wrong |= !n->excused;
        turn_end(n);
    }
}

/* ---- taking ---- */

static bool
begin(struct node *n, int choice)
{
    if (n->turns == TURNS || (n->kept && n->wanted))
        return false;
    n->turns++;
    n->tries = choice == TRY;
    if (n->kept) {
        n->at = HOLD;
        return choice == LOCK;
    }
    n->again = n->ours;
    n->at = n->ours ? TAKE : n->tries ? TAIL : CLEAR;
    return true;
}

static uint8_t
place_of(const struct state *s, const struct node *n)
{
    return (uint8_t)(2 * number(s, n) + n->place);
}

static void
clear(struct state *s, struct node *n)
{
    s->word[place_of(s, n)] = EMPTY;
    n->granted = n->grant = 0;
}

static void
chain_join(struct state *s, struct node *n)
{
    n->target = s->tail == 0 ? 0 : s->tail - 1;
    s->tail = (uint8_t)(place_of(s, n) + 1);
    n->at = ASK;
}

/* Its own place is where it holds the lock. */
static void
arrive(struct state *s, struct node *n)
{
    n->target = place_of(s, n);
    hold(s, n);
}

static void
ask(struct state *s, struct node *n)
{
    uint8_t out = swap(s, n, NAME + number(s, n));

    if (broken(CLEAR_LATE))
        clear(s, n);
    n->at = out != REST ? WAIT : COLLECT;
    if (n->at == COLLECT && broken(NO_COLLECT))
        arrive(s, n);
}

static void
ring(struct state *s, uint8_t place)
{
    s->node[place / 2].wanted |= s->node[place / 2].kept;
}

static bool
await(struct state *s, struct node *n, int choice)
{
    struct node *before = &s->node[n->target / 2];

    if (choice == 0 && n->granted) {
        n->saw = n->grant;
        arrive(s, n);
        return true;
    }
    if (choice == 0 || broken(NO_RING) || !before->kept || before->wanted)
        return false;
    ring(s, n->target);
    return true;
}

/* ---- tries ---- */

static void
look(struct state *s, struct node *n)
{
    uint8_t word = s->word[n->target];

    if (word == REST)
        n->at = TAKE;
    else if (word == KEPT && n->at == LOOK && !broken(NO_WANT))
        n->at = WANT;
    else
        miss(s, n);
}

static bool
want(struct state *s, struct node *n)
{
    struct node *keeper = &s->node[n->target / 2];

    if (keeper->kept && keeper->at == OUT) {
        if (keeper->wanted)
            return false;
        keeper->wanted = 1;
        return true;
    }
    n->at = LOOK_AGAIN;
    return true;
}

static void
take(struct state *s, struct node *n)
{
    n->hand = swap(s, n, EMPTY);
    if (n->hand == REST)
        hold(s, n);
    else if (n->hand == EMPTY || (broken(DROP_NAME) && n->hand >= NAME) ||
             (broken(DROP_KEPT) && n->hand == KEPT))
        miss(s, n);
    else
        n->at = PUT;
}

/* What a release has put back there is another's matter. */
static void
put_end(struct state *s, struct node *n)
{
    if (!n->passes) {
        miss(s, n);
        return;
    }
    n->ours = 0;
    turn_end(n);
}

static void
put(struct state *s, struct node *n)
{
    uint8_t out = swap(s, n, n->hand);

    if (out == REST && n->hand != KEPT && !broken(NO_SETTLE)) {
        n->at = GATHER;
    } else if (out == REST && n->hand == KEPT) {
        hold(s, n);
    } else if (out >= NAME) {
        n->hand = out;
    } else {
        if (out == KEPT && n->hand >= NAME)
            ring(s, n->target);
        put_end(s, n);
    }
}

static void
grant(struct state *s, struct node *n, uint8_t name)
{
    s->wrong |= s->node[name - NAME].granted;
    s->node[name - NAME].granted = 1;
    s->node[name - NAME].grant = n->saw;
}

/* With the token in its hand, and the name in the word or in a try's. */
static void
gather(struct state *s, struct node *n)
{
    uint8_t out = swap(s, n, EMPTY);

    if (out >= NAME) {
        grant(s, n, out);
        put_end(s, n);
    } else if (n->passes) {
        n->at = LAY_DOWN;
    } else {
        hold(s, n);
    }
}

/* ---- passing on ---- */

static void
leave(struct state *s, struct node *n)
{
    bool mine = n->target / 2 == number(s, n);

    n->passes = 1;
    n->at = mine && s->word[n->target] >= NAME ? HAND_OVER : LAY_DOWN;
}

static bool
section_end(struct state *s, struct node *n, int choice)
{
    if (choice == 0 || (n->kept && !n->wanted)) {
        n->saw = ++s->sections;
        if (n->kept && !n->wanted) {
            turn_end(n);
            return choice == 0;
        }
        n->kept = n->wanted = 0;
        leave(s, n);
        return true;
    }
    if (n->target / 2 != number(s, n) || n->kept || s->word[n->target] >= NAME)
        return false;
    n->saw = ++s->sections;
    n->at = KEEP;
    return true;
}

static void
keep(struct state *s, struct node *n)
{
    n->hand = swap(s, n, KEPT);
    if (n->hand >= NAME && !broken(KEEP_BLIND)) {
        n->at = KEEP_BACK;
    } else {
        n->kept = 1;
        turn_end(n);
    }
}

static void
hand_over(struct state *s, struct node *n)
{
    uint8_t out = swap(s, n, EMPTY);

    if (out >= NAME) {
        grant(s, n, out);
        n->ours = 0;
        turn_end(n);
    } else {
        n->at = LAY_DOWN;
    }
}

static void
lay_down(struct state *s, struct node *n)
{
    n->hand = swap(s, n, REST);
    if (n->hand < NAME || broken(REST_BLIND))
        turn_end(n);
    else
        n->at = TAKE_BACK;
}

static void
take_back(struct state *s, struct node *n)
{
    uint8_t name = n->hand;

    if (swap(s, n, EMPTY) == REST || broken(GRANT_TAKEN)) {
        grant(s, n, name);
        n->ours = 0;
        turn_end(n);
    } else {
        n->at = PUT;
    }
}

/* The thread that gives a kept lock away is the node's own here. */
static bool
give(struct state *s, struct node *n)
{
    if (!n->kept || !n->wanted)
        return false;
    n->kept = n->wanted = 0;
    n->saw = s->sections;
    leave(s, n);
    return true;
}

static bool
node_step(struct state *s, struct node *n, int choice)
{
    switch (n->at) {
    case OUT:
        if (n->kept && n->wanted)
            return choice == 0 && give(s, n);
        return begin(n, choice);
    case WAIT: return await(s, n, choice);
    case HOLD: return section_end(s, n, choice);
    case WANT: return choice == 0 && want(s, n);
    case CLEAR:
        if (!broken(ONE_PLACE))
            n->place ^= 1;
        if (!broken(CLEAR_LATE))
            clear(s, n);
        n->at = JOIN;
        break;
    case JOIN: chain_join(s, n); break;
    case ASK: ask(s, n); break;
    case COLLECT:
        if (swap(s, n, EMPTY) == NAME + number(s, n))
            arrive(s, n);
        break;
    case TAIL:
        n->target = s->tail == 0 ? 0 : s->tail - 1;
        n->at = LOOK;
        break;
    case LOOK:
    case LOOK_AGAIN: look(s, n); break;
    case TAKE: take(s, n); break;
    case PUT: put(s, n); break;
    case GATHER: gather(s, n); break;
    case KEEP: keep(s, n); break;
    case KEEP_BACK:
        swap(s, n, n->hand);
        leave(s, n);
        break;
    case HAND_OVER: hand_over(s, n); break;
    case LAY_DOWN: lay_down(s, n); break;
    case TAKE_BACK: take_back(s, n); break;
    default: return false;
    }
    return choice == 0;
}

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;
    bool          done = node_step(s, &s->node[actor], choice);

    for (int i = 0; i < NODES; i++) {
        struct node *n = &s->node[i];

        if (n->tries && n->at >= TAIL && n->at <= GATHER)
            n->excused |= is_busy(s, n);
    }
    return done;
}

/* ---- what must hold ---- */

static const char *
fault(const void *state)
{
    const struct state *s = state;
    int                 inside = 0;

    for (int i = 0; i < NODES; i++)
        inside += s->node[i].at == HOLD || s->node[i].kept;
    if (inside > 1)
        return "two nodes hold the lock";
    return s->wrong ? "a try failed although the lock was free, or a holder "
                      "has not seen all"
                    : NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < NODES; i++)
        if (s->node[i].at != OUT)
            return false;
    return true;
}

int
main(int argc, char **argv)
{
    static const struct search model = {
        sizeof(struct state), NODES, CHOICES, step, fault, is_end, rules, NULL
    };
    struct state start = { 0 };

    for (int i = 0; i < 2 * NODES; i++)
        start.word[i] = i == 0 ? REST : EMPTY;
    return search_main(argc, argv, &model, &start);
}
