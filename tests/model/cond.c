/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who waits for a condition over MPI, and who wakes
 * (src/transport/mpi/cond.c): each Fetch_and_op is a step.  Waiters enter in
 * any order and more than once, not all of them get a name, and somebody wakes
 * one or all, as long as there are any.
 */
#include "search.h"

enum { WAITERS = 3, WAKER = WAITERS, ACTORS, TURNS = 2, SLOTS = 2 };
enum { MARK = 255, NAMELESS = 254, NAMES = 2, PLACES = 5 };

enum rule {
    ANY_ROUND, /* nobody looks whether the round of his place has come */
    NO_END,    /* who comes second does not end the round */
    FIRST_END, /* who comes first does */
    NO_MARK,   /* who finds the mark waits */
    NO_NAME,   /* who finds a name does not wake it */
    COME_LATE, /* who has no name comes when the count has passed his place */
    NO_COUNT,  /* who has no name does not look at the count */
    RULES
};

static const char *const rules[RULES + 1] = {
    [ANY_ROUND] = "--any-round", [NO_END] = "--no-end",
    [FIRST_END] = "--first-end", [NO_MARK] = "--no-mark",
    [NO_NAME] = "--no-name",     [COME_LATE] = "--come-late",
    [NO_COUNT] = "--no-count",
};

/* Where an actor is, named by its next step. */
enum at { OUT, BEGIN, LOOK, MEET, END, WAIT, WAKE, COUNT };

struct actor {
    uint8_t at, turns, place, found, woken;
    uint8_t has;  /* a waiter: its name, or that it has none */
    uint8_t next; /* who wakes: behind the last place */
};

struct slot {
    uint8_t round, has;
};

struct state {
    uint8_t      entered, begun, woken, named, wrong;
    struct slot  slot[SLOTS];
    struct actor actor[ACTORS];
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

static void
turn_end(struct actor *a)
{
    *a = (struct actor){ .at = OUT, .turns = a->turns };
}

/* The three steps of slot_meet(). */
static bool
meet_step(struct state *s, struct actor *a, uint8_t mine, uint8_t then)
{
    struct slot *slot = &s->slot[a->place % SLOTS];
    uint8_t      round = a->place / SLOTS;

    switch (a->at) {
    case LOOK:
        if (slot->round != round && !broken(ANY_ROUND))
            return false;
        a->at = MEET;
        break;
    case MEET:
        a->found = slot->has;
        *slot = (struct slot){ round, mine };
        a->at = (a->found != 0 && !broken(NO_END)) || broken(FIRST_END) ? END
                                                                        : then;
        break;
    default: *slot = (struct slot){ (uint8_t)(round + 1), 0 }; a->at = then;
    }
    return true;
}

static bool
waiter_enter(struct state *s, struct actor *a)
{
    if (a->turns == TURNS || s->entered == PLACES)
        return false;
    a->turns++;
    a->place = s->entered++;
    a->at = BEGIN;
    return true;
}

/* Is what it waits for there?  The count passes its place, or it is woken. */
static bool
waiter_may_go(const struct state *s, const struct actor *a)
{
    if (a->found != 0 && !broken(NO_MARK))
        return true;
    return a->has == NAMELESS ? broken(NO_COUNT) || s->woken > a->place
                              : a->woken;
}

static bool
waiter_step(struct state *s, struct actor *a, uint8_t me)
{
    switch (a->at) {
    case OUT: return waiter_enter(s, a);
    case BEGIN:
        a->has = s->named < NAMES ? me : NAMELESS;
        s->named += a->has == me;
        a->at = LOOK;
        return true;
    case WAIT:
        if (!waiter_may_go(s, a))
            return false;
        s->wrong |= a->place >= s->begun; /* no rank has begun to wake it */
        s->named -= a->has == me;
        turn_end(a);
        return true;
    default:
        if (broken(COME_LATE) && a->has == NAMELESS && s->woken <= a->place)
            return false;
        return meet_step(s, a, a->has, WAIT);
    }
}

static void
wake(struct state *s, const struct actor *a)
{
    struct actor *found = &s->actor[a->found - 1];

    s->wrong |= found->at != WAIT || found->place != a->place;
    found->woken = 1;
}

/* One, or all if that is another choice. */
static bool
waker_begin(struct state *s, struct actor *a, bool all)
{
    if (s->entered < s->woken + 1 + all)
        return false;
    a->next = all ? s->entered : s->woken + 1;
    a->place = s->woken;
    a->at = LOOK;
    return true;
}

static bool
waker_step(struct state *s, struct actor *a, int choice)
{
    if (a->at == OUT)
        return waker_begin(s, a, choice == 1);
    if (choice != 0)
        return false;
    switch (a->at) {
    case WAKE:
        if (a->found == MARK)
            s->wrong = 1;
        else if (a->found != 0 && a->found != NAMELESS && !broken(NO_NAME))
            wake(s, a);
        a->at = ++a->place < a->next ? LOOK : COUNT;
        return true;
    case COUNT:
        s->woken = a->next;
        *a = (struct actor){ .at = OUT };
        return true;
    default: s->begun = a->place + 1; return meet_step(s, a, MARK, WAKE);
    }
}

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;
    struct actor *a = &s->actor[actor];

    if (actor == WAKER)
        return waker_step(s, a, choice);
    return choice == 0 && waiter_step(s, a, (uint8_t)(actor + 1));
}

static const char *
fault(const void *state)
{
    return ((const struct state *)state)->wrong
               ? "a waiter is woken out of its turn"
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
        sizeof(struct state), ACTORS, 2, step, fault, is_end, rules, NULL
    };
    struct state start = { 0 };

    return search_main(argc, argv, &model, &start);
}
