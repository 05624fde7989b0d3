/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Names of locks at their manager (src/transport/lock_directory.c): each word
 * is read or written by a step.  Each actor asks for two names, which belong
 * to the same place of the table, one after the other, and uses the lock that
 * it is told.
 */
#include "search.h"

enum { ACTORS = 3, NAMES = 2, PLACES = 4, NUMBERS = 5 };

enum rule {
    NO_LOCK,      /* who gives a name takes no lock */
    NO_LOOK,      /* ... and does not look again when he has it */
    NUMBER_FIRST, /* the number is there before the name */
    BEGIN_LAST,   /* ... and before the lock is ready */
    COUNT_LATE,   /* how many there are is written after the lock was left */
    RULES
};

static const char *const rules[RULES + 1] = {
    [NO_LOCK] = "--no-lock",           [NO_LOOK] = "--no-look",
    [NUMBER_FIRST] = "--number-first", [BEGIN_LAST] = "--begin-last",
    [COUNT_LATE] = "--count-late",
};

/* Where an actor is, named by its next step. */
enum at { LOOK, CHECK, LOCK, COUNT, BEGIN, NAME, NUMBER, TOTAL, LEAVE, USE };

struct actor {
    uint8_t at, asked; /* how many names it has asked for before */
    uint8_t place, number, again, gives;
};

struct state {
    uint8_t      table[PLACES], name[NUMBERS], count;
    uint8_t      held, wrong;
    uint8_t      ready[NUMBERS], used[NUMBERS]; /* for a name */
    uint8_t      told[NAMES + 1];               /* number of each name */
    struct actor actor[ACTORS];
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

/* From 1 on; every other actor begins with the other one. */
static uint8_t
name_of(const struct actor *a, int actor)
{
    return (uint8_t)(1 + (a->asked + actor) % NAMES);
}

static void
look(const struct state *s, struct actor *a)
{
    a->number = s->table[a->place];
    a->at = a->number != 0 ? CHECK : a->again ? COUNT : LOCK;
}

static void
check(const struct state *s, struct actor *a, uint8_t name)
{
    if (s->name[a->number] == name) {
        a->at = a->again ? LEAVE : USE;
        return;
    }
    a->place = (uint8_t)((a->place + 1) % PLACES);
    a->at = LOOK;
}

static bool
lock(struct state *s, struct actor *a)
{
    if (s->held && !broken(NO_LOCK))
        return false;
    s->held = 1;
    a->again = 1;
    a->at = broken(NO_LOOK) ? COUNT : LOOK;
    return true;
}

/* What who gives a name does after this, in an order that rules decide. */
static uint8_t
next_of(uint8_t at)
{
    static const uint8_t order[RULES + 1][6] = {
        [NUMBER_FIRST] = { COUNT, BEGIN, NUMBER, NAME, TOTAL, LEAVE },
        [BEGIN_LAST] = { COUNT, NAME, NUMBER, BEGIN, TOTAL, LEAVE },
        [COUNT_LATE] = { COUNT, BEGIN, NAME, NUMBER, LEAVE, TOTAL },
        [RULES] = { COUNT, BEGIN, NAME, TOTAL, NUMBER, LEAVE },
    };
    int rule = broken(NUMBER_FIRST) ? NUMBER_FIRST
               : broken(BEGIN_LAST) ? BEGIN_LAST
               : broken(COUNT_LATE) ? COUNT_LATE
                                    : RULES;

    for (int i = 0; i < 5; i++)
        if (order[rule][i] == at)
            return order[rule][i + 1];
    return USE;
}

/* As it is at first: nobody may have it by then. */
static void
begin(struct state *s, const struct actor *a)
{
    s->wrong |= s->used[a->number] != 0;
    s->ready[a->number] = 1;
}

static void
give(struct state *s, struct actor *a, uint8_t name)
{
    switch (a->at) {
    case COUNT:
        a->number = (uint8_t)(s->count + 1);
        s->wrong |= a->number >= NUMBERS;
        a->number %= NUMBERS;
        a->gives = 1;
        break;
    case BEGIN: begin(s, a); break;
    case NAME: s->name[a->number] = name; break;
    case NUMBER: s->table[a->place] = a->number; break;
    case TOTAL: s->count = a->number; break;
    default: s->held = 0;
    }
    a->at = a->gives ? next_of(a->at) : USE;
}

static void
use(struct state *s, struct actor *a, uint8_t name)
{
    s->wrong |= !s->ready[a->number] ||
                (s->used[a->number] != 0 && s->used[a->number] != name) ||
                (s->told[name] != 0 && s->told[name] != a->number);
    s->used[a->number] = name;
    s->told[name] = a->number;
    *a = (struct actor){ .asked = (uint8_t)(a->asked + 1) };
}

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;
    struct actor *a = &s->actor[actor];
    uint8_t       wants = name_of(a, actor);

    if (choice != 0 || a->asked == NAMES)
        return false;
    switch (a->at) {
    case LOOK: look(s, a); break;
    case CHECK: check(s, a, wants); break;
    case LOCK: return lock(s, a);
    case USE: use(s, a, wants); break;
    default: give(s, a, wants);
    }
    return true;
}

static const char *
fault(const void *state)
{
    return ((const struct state *)state)->wrong
               ? "two locks of a name, a lock of two, or one that is not ready"
               : NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < ACTORS; i++)
        if (s->actor[i].asked < NAMES)
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
