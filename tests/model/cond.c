/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Who waits for a condition over MPI, and who wakes
 * (src/transport/mpi/cond.c): each Fetch_and_op is a step.  Waiters enter in
 * any order and more than once, and somebody wakes them one by one, as long as
 * there are any.
 */
#include "search.h"

enum { WAITERS = 3, WAKER = WAITERS, ACTORS, TURNS = 2, SLOTS = 2 };
enum { MARK = 255 };

enum rule {
    ANY_ROUND, /* nobody looks whether the round of his place has come */
    NO_END,    /* who comes second does not end the round */
    FIRST_END, /* who comes first does */
    NO_MARK,   /* who finds the mark waits */
    NO_NAME,   /* who finds a name does not wake it */
    RULES
};

static const char *const rules[RULES + 1] = {
    [ANY_ROUND] = "--any-round", [NO_END] = "--no-end",
    [FIRST_END] = "--first-end", [NO_MARK] = "--no-mark",
    [NO_NAME] = "--no-name",
};

/* Where an actor is, named by its next step. */
enum at { OUT, LOOK, MEET, END, WAIT, WAKE, COUNT };

struct actor {
    uint8_t at, turns, place, found, woken;
};

struct slot {
    uint8_t round, has;
};

struct state {
    uint8_t      entered, woken, wrong;
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
waiter_step(struct state *s, struct actor *a, uint8_t me)
{
    if (a->at >= LOOK && a->at <= END)
        return meet_step(s, a, me, WAIT);
    if (a->at == OUT) {
        if (a->turns == TURNS)
            return false;
        a->turns++;
        a->place = s->entered++;
        a->at = LOOK;
        return true;
    }
    if (!a->woken && (a->found == 0 || broken(NO_MARK)))
        return false;
    s->wrong |= a->place > s->woken; /* whom nobody has begun to wake */
    turn_end(a);
    return true;
}

static bool
waker_step(struct state *s, struct actor *a)
{
    if (a->at >= LOOK && a->at <= END)
        return meet_step(s, a, MARK, WAKE);
    switch (a->at) {
    case OUT:
        if (s->woken == s->entered)
            return false;
        a->place = s->woken;
        a->at = LOOK;
        break;
    case WAKE:
        if (a->found == MARK)
            s->wrong = 1;
        else if (a->found != 0 && !broken(NO_NAME)) {
            s->wrong |= s->actor[a->found - 1].at != WAIT ||
                        s->actor[a->found - 1].place != a->place;
            s->actor[a->found - 1].woken = 1;
        }
        a->at = COUNT;
        break;
    default: s->woken++; a->at = OUT;
    }
    return true;
}

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;
    struct actor *a = &s->actor[actor];

    return choice == 0 &&
           (actor == WAKER ? waker_step(s, a)
                           : waiter_step(s, a, (uint8_t)(actor + 1)));
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
        sizeof(struct state), ACTORS, 1, step, fault, is_end, rules, NULL
    };
    struct state start = { 0 };

    return search_main(argc, argv, &model, &start);
}
