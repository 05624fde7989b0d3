/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A flag of src/transport/mpi/flag.c: producers append to a ring of a few
 * slots, each in its turn, while a reader that waits for no turn reads it.  A
 * Fetch_and_op is a step, and so is each slot that a Put writes or a Get
 * reads, in any order within one flush.  Notices are named by their positions;
 * a producer may come in a later epoch, and begins the log anew then.
 */
#include "search.h"

enum { SLOTS = 3, PRODUCERS = 3, ACTORS = PRODUCERS + 1, READER = PRODUCERS };
enum { CHOICES = 2 * SLOTS, LATER = 64 }; /* added to positions of epoch 2 */

enum rule {
    LOOK_AT_SERVING, /* the reader does not look at tickets afterwards */
    NEXT_TOO_EARLY,  /* ... looks at them before it has read the log */
    NO_WAIT,         /* ... does not wait until they are served */
    TRUST_RING,      /* ... believes what it read in any case */
    TRUST_EPOCH,     /* ... does not look whether the log was begun anew */
    SERVING_FIRST,   /* a set moves `serving` before the log has arrived */
    WRITE_FIRST,     /* ... writes before it has drawn its ticket */
    RULES
};

static const char *const rules[RULES + 1] = {
    [LOOK_AT_SERVING] = "--look-at-serving",
    [NEXT_TOO_EARLY] = "--next-early",
    [NO_WAIT] = "--no-wait",
    [TRUST_RING] = "--trust-ring",
    [TRUST_EPOCH] = "--trust-epoch",
    [SERVING_FIRST] = "--serving-first",
    [WRITE_FIRST] = "--write-first",
};

static bool
broken(enum rule r)
{
    return search_broken >> r & 1;
}

enum at {
    START,
    TURN,
    WRITE, /* a producer, some slots */
    MOVE,
    READ, /* the reader, some slots */
    EARLY,
    NEXT,
    SERVED,
    DONE
};

struct serving {
    uint8_t ticket, epoch, end;
};

struct actor {
    uint8_t        at;
    uint8_t        todo; /* a bit for each slot to be written or read */
    uint8_t        count, epoch, ticket;
    struct serving was;
};

struct state {
    uint8_t        next;
    struct serving serving;
    uint8_t        slot[SLOTS], got[SLOTS];
    uint8_t        accepted;
    struct actor   actor[ACTORS];
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

static uint8_t
slots_of(unsigned from, unsigned end)
{
    unsigned bits = 0;

    for (unsigned p = from; p < end; p++)
        bits |= 1u << p % SLOTS;
    return (uint8_t)bits;
}

/* ---- a producer ---- */

static struct serving
end_of(const struct actor *a)
{
    bool anew = a->epoch > a->was.epoch;

    return (struct serving){ (uint8_t)(a->ticket + 1),
                             anew ? a->epoch : a->was.epoch,
                             (uint8_t)((anew ? 0 : a->was.end) + a->count) };
}

static void
notice_write(struct state *s, struct actor *a, unsigned slot)
{
    struct serving e = end_of(a);
    unsigned       p = e.end - a->count;

    while (p % SLOTS != slot)
        p++;
    s->slot[slot] = (uint8_t)(p + 1 + (e.epoch > 0 ? LATER : 0));
    a->todo &= (uint8_t) ~(1u << slot);
}

static void
write_begin(struct state *s, struct actor *a)
{
    struct serving e;

    a->was = s->serving;
    e = end_of(a);
    a->todo = slots_of(e.end - a->count, e.end);
    a->at = WRITE;
}

static bool
producer_step(struct state *s, struct actor *a, unsigned choice)
{
    switch (a->at) {
    case START:
        a->count = (uint8_t)(choice % SLOTS + 1);
        a->epoch = choice >= SLOTS;
        if (!broken(WRITE_FIRST)) {
            a->ticket = s->next++;
            a->at = TURN;
        } else {
            a->ticket = s->next;
            write_begin(s, a);
        }
        return true;
    case TURN:
        if (choice > 0 || s->serving.ticket != a->ticket)
            return false;
        write_begin(s, a);
        if (broken(SERVING_FIRST))
            s->serving = end_of(a);
        return true;
    case WRITE:
        if (a->todo == 0) {
            a->at = MOVE;
            return choice == 0;
        }
        if (choice >= SLOTS || !(a->todo >> choice & 1))
            return false;
        notice_write(s, a, choice);
        return true;
    case MOVE:
        if (choice > 0)
            return false;
        if (broken(WRITE_FIRST))
            s->next++;
        s->serving = end_of(a);
        a->at = DONE;
        return true;
    default: return false;
    }
}

/* ---- the reader ---- */

/* It has read nothing before, and is in the first epoch. */
static void
look(struct actor *a, struct serving now)
{
    a->was = now;
    a->todo = 0;
    if (now.epoch > 0 || now.end > SLOTS) {
        a->at = DONE; /* everything, which is always right */
        return;
    }
    a->todo = slots_of(0, now.end);
    a->at = broken(NEXT_TOO_EARLY) ? EARLY : READ;
}

static void
verdict(struct state *s, struct actor *a)
{
    struct serving now = s->serving;
    bool           same = broken(TRUST_EPOCH) || now.epoch == a->was.epoch;

    if ((same && now.end <= SLOTS) || broken(TRUST_RING)) {
        s->accepted = 1;
        a->at = DONE;
    } else {
        look(a, now);
    }
}

static void
tickets_read(const struct state *s, struct actor *a, enum at then)
{
    a->ticket = s->next;
    a->at = then;
}

static bool
reader_step(struct state *s, struct actor *a, unsigned choice)
{
    if (a->at == READ && a->todo != 0) {
        if (choice >= SLOTS || !(a->todo >> choice & 1))
            return false;
        s->got[choice] = s->slot[choice];
        a->todo &= (uint8_t) ~(1u << choice);
        return true;
    }
    if (choice > 0)
        return false;
    switch (a->at) {
    case START:
        if (s->serving.end == 0)
            return false; /* the flag is not set */
        look(a, s->serving);
        return true;
    case EARLY: tickets_read(s, a, READ); return true;
    case READ:
        a->at = NEXT;
        if (broken(NEXT_TOO_EARLY))
            a->at = SERVED;
        if (broken(LOOK_AT_SERVING))
            verdict(s, a);
        return true;
    case NEXT: tickets_read(s, a, SERVED); return true;
    case SERVED:
        if (s->serving.ticket < a->ticket && !broken(NO_WAIT))
            return false;
        verdict(s, a);
        return true;
    default: return false;
    }
}

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;
    struct actor *a = &s->actor[actor];

    return actor == READER ? reader_step(s, a, (unsigned)choice)
                           : producer_step(s, a, (unsigned)choice);
}

/* ---- what must hold ---- */

static const char *
fault(const void *state)
{
    const struct state *s = state;

    for (unsigned p = 0; s->accepted && p < s->actor[READER].was.end; p++)
        if (s->got[p] != p + 1)
            return "the reader believes a notice that is another";
    return NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < ACTORS; i++)
        if (s->actor[i].at != DONE)
            return false;
    return true;
}

int
main(int argc, char **argv)
{
    static const struct search model = {
        sizeof(struct state), ACTORS, CHOICES, step, fault, is_end, rules
    };
    struct state start = { 0 };

    return search_main(argc, argv, &model, &start);
}
