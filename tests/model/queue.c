/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The lock between nodes of src/transport/mpi/queue.c: each node takes it a
 * few times, by a ticket or by a try, and each Fetch_and_op is a step.
 */
#include "search.h"

enum { NODES = 3, TURNS = 2, LOCK = 0, TRY = 1, CHOICES = 2 };

enum rule {
    NO_SWAP,       /* every try is a candidate */
    NO_STEPS_WAIT, /* who draws a ticket does not wait for a candidate */
    WAIT_FOR_EVEN, /* ... waits until there is none */
    CLEAR_FIRST,   /* a candidate clears `try` before it adds its step */
    KEEP_TRY,      /* ... never clears it */
    READ_EARLY,    /* `serving` is read in the flush that draws a ticket */
    NO_REREAD,     /* what was read before the candidate's end is used */
    RULES
};

static const char *const rules[RULES + 1] = {
    [NO_SWAP] = "--no-swap",
    [NO_STEPS_WAIT] = "--no-steps-wait",
    [WAIT_FOR_EVEN] = "--wait-for-even",
    [CLEAR_FIRST] = "--clear-first",
    [KEEP_TRY] = "--keep-try",
    [READ_EARLY] = "--read-early",
    [NO_REREAD] = "--no-reread",
};

/* Where a node is.  What has no way but one is named by its next step. */
enum at { IDLE, DRAW, TURN, STEPS, REREAD, CANDIDATE, LOOK, HOLD, ADD, CLEAR };

struct node {
    uint8_t at, turns;
    uint8_t ticket, steps; /* as `next` told */
    uint8_t log;           /* as `serving` told */
    uint8_t early;         /* the ticket that it told (--read-early) */
    uint8_t tried;
    uint8_t blocker; /* 1 + the candidate that it waits for */
};

struct state {
    uint8_t     next, steps, serving, log, try; /* the manager's words */
    uint8_t     appended;                       /* what `log` must be */
    struct node node[NODES];
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

static bool
is_candidate(const struct node *n)
{
    return n->at == LOOK || (n->at == HOLD && n->tried) || n->at == ADD;
}

static uint8_t
candidate(const struct state *s)
{
    for (int i = 0; i < NODES; i++)
        if (is_candidate(&s->node[i]))
            return (uint8_t)(i + 1);
    return 0;
}

static void
hold(struct node *n, uint8_t log, bool tried)
{
    n->log = log;
    n->tried = tried;
    n->at = HOLD;
}

static void
turn_end(struct node *n)
{
    *n = (struct node){ .at = IDLE, .turns = n->turns };
}

/* ---- steps ---- */

static bool
begin(struct state *s, struct node *n, int choice)
{
    if (n->turns == TURNS)
        return false;
    n->turns++;
    if (choice == LOCK) {
        n->early = s->serving;
        n->log = s->log;
        n->at = DRAW;
    } else if (s->try && !broken(NO_SWAP)) {
        turn_end(n);
    } else {
        s->try = 1;
        n->at = CANDIDATE;
    }
    return true;
}

static void
draw(struct state *s, struct node *n)
{
    n->ticket = s->next++;
    n->steps = s->steps;
    n->blocker = s->steps % 2 ? candidate(s) : 0;
    n->at = TURN;
    if (broken(READ_EARLY) && n->early == n->ticket && n->steps % 2 == 0)
        hold(n, n->log, false);
}

static bool
turn(struct state *s, struct node *n)
{
    if (s->serving != n->ticket)
        return false;
    n->log = s->log;
    if (n->steps % 2 == 0 || broken(NO_STEPS_WAIT))
        hold(n, s->log, false);
    else
        n->at = STEPS;
    return true;
}

static bool
steps_wait(struct state *s, struct node *n)
{
    if (broken(WAIT_FOR_EVEN) ? s->steps % 2 != 0 : s->steps == n->steps)
        return false;
    if (broken(NO_REREAD))
        hold(n, n->log, false);
    else
        n->at = REREAD;
    return true;
}

static void
look(struct state *s, struct node *n)
{
    if (s->serving == n->ticket)
        hold(n, s->log, true);
    else
        n->at = broken(CLEAR_FIRST) ? CLEAR : ADD;
}

static void
release(struct state *s, struct node *n)
{
    s->appended++;
    s->log = (uint8_t)(n->log + 1);
    s->serving = (uint8_t)(n->ticket + !n->tried);
    if (n->tried)
        n->at = broken(CLEAR_FIRST) ? CLEAR : ADD;
    else
        turn_end(n);
}

static void
candidate_end(struct state *s, struct node *n)
{
    bool    add = n->at == ADD;
    uint8_t me = (uint8_t)(n - s->node + 1);

    if (add)
        s->steps++;
    else if (!broken(KEEP_TRY))
        s->try = 0;
    for (int i = 0; i < NODES && add; i++)
        if (s->node[i].blocker == me)
            s->node[i].blocker = 0;
    if (add != broken(CLEAR_FIRST))
        n->at = add ? CLEAR : ADD;
    else
        turn_end(n);
}

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;
    struct node  *n = &s->node[actor];

    if (n->at == IDLE)
        return begin(s, n, choice);
    if (choice > 0)
        return false;
    switch (n->at) {
    case DRAW: draw(s, n); break;
    case TURN: return turn(s, n);
    case STEPS: return steps_wait(s, n);
    case REREAD: hold(n, s->log, false); break;
    case CANDIDATE:
        n->ticket = s->next;
        s->steps++;
        n->at = LOOK;
        break;
    case LOOK: look(s, n); break;
    case HOLD: release(s, n); break;
    default: candidate_end(s, n);
    }
    return true;
}

/* ---- what must hold ---- */

/* Kept waiting by a candidate that came after its ticket was drawn. */
static bool
is_starved(const struct state *s, const struct node *n)
{
    struct state copy = *s;
    struct node  mine = *n;

    return n->at == STEPS && n->blocker == 0 && !steps_wait(&copy, &mine);
}

static bool
is_passed_by(const struct state *s, const struct node *holder)
{
    for (int i = 0; i < NODES; i++)
        if (s->node[i].at == TURN && s->node[i].ticket < holder->ticket)
            return true;
    return false;
}

static const char *
fault(const void *state)
{
    const struct state *s = state;
    int                 holders = 0, tries = 0;

    for (int i = 0; i < NODES; i++) {
        const struct node *n = &s->node[i];

        holders += n->at == HOLD;
        tries += n->at == CANDIDATE || n->at == CLEAR || is_candidate(n);
        if (n->at == HOLD && n->log != s->appended)
            return "a holder has not seen all of the log";
        if (n->at == HOLD && is_passed_by(s, n))
            return "a try or a ticket comes before one drawn earlier";
        if (is_starved(s, n))
            return "who has a ticket is kept waiting by a later try";
    }
    if (s->try && tries == 0)
        return "no try can succeed any more";
    return holders > 1 ? "two nodes hold the lock" : NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < NODES; i++)
        if (s->node[i].at != IDLE)
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

    return search_main(argc, argv, &model, &start);
}
