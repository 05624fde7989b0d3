/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Waiters of a flag over MPI (src/transport/mpi/wait_slot.c and flag.c): each
 * Fetch_and_op is a step.  One actor sets the flag a few times and resets it
 * in between; the others wait for it, more than once.
 */
#include "search.h"

enum { WAITERS = 3, SETTER = WAITERS, ACTORS, TURNS = 2, SETS = 3 };

enum rule {
    NO_LOOK,    /* who has entered does not look whether he has to wait */
    GO_AT_ONCE, /* who sees then that he need not goes */
    NO_FORWARD, /* who is woken does not wake the one before */
    WAKE_FIRST, /* the flag is set after the waiters were woken */
    KEEP_CHAIN, /* who wakes leaves the chain where it is */
    RULES
};

static const char *const rules[RULES + 1] = {
    [NO_LOOK] = "--no-look",       [GO_AT_ONCE] = "--go-at-once",
    [NO_FORWARD] = "--no-forward", [WAKE_FIRST] = "--wake-first",
    [KEEP_CHAIN] = "--keep-chain",
};

/* Where an actor is, named by its next step. */
enum at { OUT, LOOK, ENTER, LOOK_AGAIN, DETACH, WAKE, WAIT, FORWARD, SET };

struct actor {
    uint8_t at, turns;
    uint8_t before, found; /* 1 + a waiter, or 0 */
    uint8_t woken;
};

struct state {
    uint8_t      last; /* 1 + who entered last, or 0 */
    uint8_t      set, wrong;
    struct actor actor[ACTORS];
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

static void
turn_end(struct actor *a)
{
    *a = (struct actor){ .at = OUT, .turns = a->turns };
}

static void
wake(struct state *s, uint8_t name)
{
    struct actor *a = &s->actor[name - 1];

    s->wrong |= a->woken || a->at < LOOK_AGAIN || a->at > WAIT;
    a->woken = 1;
}

static void
detach(struct state *s, struct actor *a)
{
    a->found = s->last;
    if (!broken(KEEP_CHAIN))
        s->last = 0;
    a->at = WAKE;
}

static bool
waiter_step(struct state *s, struct actor *a, uint8_t me)
{
    switch (a->at) {
    case OUT:
        if (a->turns == TURNS)
            return false;
        a->turns++;
        a->at = LOOK;
        break;
    case LOOK:
        if (s->set)
            turn_end(a);
        else
            a->at = ENTER;
        break;
    case ENTER:
        a->before = s->last;
        s->last = me;
        a->woken = 0;
        a->at = broken(NO_LOOK) ? WAIT : LOOK_AGAIN;
        break;
    case LOOK_AGAIN:
        a->at = s->set ? DETACH : WAIT;
        if (s->set && broken(GO_AT_ONCE))
            turn_end(a);
        break;
    case DETACH: detach(s, a); break;
    case WAKE:
        if (a->found != 0)
            wake(s, a->found);
        a->at = WAIT;
        break;
    case WAIT:
        if (!a->woken)
            return false;
        a->woken = 0;
        a->at = FORWARD;
        break;
    default:
        if (a->before != 0 && !broken(NO_FORWARD))
            wake(s, a->before);
        a->before = a->found = 0;
        a->at = LOOK;
    }
    return true;
}

/* Set and wake, and reset if there is a set to come. */
static bool
setter_step(struct state *s, struct actor *a)
{
    bool first = broken(WAKE_FIRST);

    switch (a->at) {
    case OUT:
        if (a->turns == SETS)
            return false;
        s->set = 0;
        a->turns++;
        a->at = first ? DETACH : SET;
        break;
    case SET:
        s->set = 1;
        a->at = first ? OUT : DETACH;
        break;
    case DETACH: detach(s, a); break;
    default:
        if (a->found != 0)
            wake(s, a->found);
        a->found = 0;
        a->at = first ? SET : OUT;
    }
    return true;
}

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;
    struct actor *a = &s->actor[actor];

    return choice == 0 &&
           (actor == SETTER ? setter_step(s, a)
                            : waiter_step(s, a, (uint8_t)(actor + 1)));
}

static const char *
fault(const void *state)
{
    return ((const struct state *)state)->wrong
               ? "a word is written for which nobody waits"
               : NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < ACTORS; i++)
        if (s->actor[i].at != OUT)
            return false;
    return true;
}

int
main(int argc, char **argv)
{
    static const struct search model = {
        sizeof(struct state), ACTORS, 1, step, fault, is_end, rules, NULL
    };
    struct state start = { 0 };

    return search_main(argc, argv, &model, &start);
}
