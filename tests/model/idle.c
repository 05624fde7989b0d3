/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A lock that is kept and idle as a barrier begins (lock_recall.c): given in
 * that barrier it is passed on with what was told before, if no thread has
 * entered it since.  One thread of the rank comes to barriers, and another
 * keeps the lock, enters it and gives it, several times.  The first has the
 * table's lock from its look at the bit to the end of its interval, and the
 * second as it gives.
 */
#include "search.h"

enum { BARRIERS = 2, STAYS = 3, SECTIONS = 2 };
enum { ARRIVES, HOLDS, ACTORS };

enum rule {
    RESET_USES, /* the count begins anew with each stay */
    BYTE_FIRST, /* the byte is looked at before the count */
    RULES
};

static const char *const rules[RULES + 1] = {
    [RESET_USES] = "--reset-uses",
    [BYTE_FIRST] = "--byte-first",
};

enum at { OUT, FIRST, SECOND, END, IN_BARRIER }; /* who arrives */
enum holds { AWAY, KEEP, STAYS_IN, COUNT, WRITE, LEAVE, GIVE }; /* who holds */
enum byte { NOT_KEPT, IDLE, USED, CLAIMED };

struct state {
    uint8_t at, barriers, table; /* table: has its lock */
    uint8_t seen_idle, seen_uses;
    uint8_t holds, stays, sections;
    uint8_t bit, byte, uses;
    uint8_t noted, noted_uses; /* in which barrier */
    uint8_t untold, wrong;
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

static void
look(struct state *s, bool byte)
{
    if (byte)
        s->seen_idle = s->byte == IDLE;
    else
        s->seen_uses = s->uses;
}

static bool
arrives_step(struct state *s)
{
    switch (s->at) {
    case OUT:
        if (s->barriers == BARRIERS)
            return false;
        s->barriers++;
        s->table = 1;
        s->at = s->bit ? FIRST : END;
        break;
    case FIRST:
        look(s, broken(BYTE_FIRST));
        s->at = SECOND;
        break;
    case SECOND:
        look(s, !broken(BYTE_FIRST));
        s->noted = s->seen_idle ? s->barriers : 0;
        s->noted_uses = s->seen_uses;
        s->at = END;
        break;
    case END:
        s->untold = 0;
        s->table = 0;
        s->at = IN_BARRIER;
        break;
    default: s->at = OUT;
    }
    return true;
}

/* Either what was told before will do, or the interval ends. */
static void
give(struct state *s)
{
    bool idle = s->at == IN_BARRIER && s->noted == s->barriers &&
                s->noted_uses == s->uses;

    s->wrong |= idle && s->untold;
    s->untold = 0;
    s->byte = NOT_KEPT;
    s->sections = 0;
    s->holds = AWAY;
}

static bool
idle_step(struct state *s, int choice)
{
    if (choice == 0 && s->sections == SECTIONS)
        return false;
    s->sections += choice == 0;
    s->byte = choice == 0 ? USED : CLAIMED;
    if (choice == 1)
        s->bit = 0;
    s->holds = choice == 0 ? COUNT : GIVE;
    return true;
}

static bool
holds_step(struct state *s, int choice)
{
    if (s->holds == STAYS_IN)
        return idle_step(s, choice);
    if (choice != 0)
        return false;
    switch (s->holds) {
    case AWAY:
        if (s->stays == STAYS)
            return false;
        s->stays++;
        s->noted = 0;
        s->bit = 1;
        s->holds = KEEP;
        break;
    case KEEP:
        if (broken(RESET_USES))
            s->uses = 0;
        s->byte = IDLE;
        s->holds = STAYS_IN;
        break;
    case COUNT:
        s->uses++;
        s->holds = WRITE;
        break;
    case WRITE:
        s->untold = 1;
        s->holds = LEAVE;
        break;
    case LEAVE:
        s->byte = IDLE;
        s->holds = STAYS_IN;
        break;
    default:
        if (s->table)
            return false;
        give(s);
    }
    return true;
}

static bool
step(void *state, int actor, int choice)
{
    return actor == HOLDS ? holds_step(state, choice)
                          : choice == 0 && arrives_step(state);
}

static const char *
fault(const void *state)
{
    return ((const struct state *)state)->wrong
               ? "what a section wrote is not told of"
               : NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    return s->at == OUT && s->barriers == BARRIERS && s->holds == AWAY &&
           s->stays == STAYS;
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
