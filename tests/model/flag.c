/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A flag of src/transport/mpi/flag.c: producers append to a ring of a few
 * slots, each in its turn, while a reader that waits for no turn reads it.  A
 * Fetch_and_op is a step, and so is each slot that a Put writes or a Get
 * reads, in any order within one flush.  Notices are named by their positions;
 * a producer may come in a later epoch, and begins the log anew then; or the
 * log is full, and what it appends is all of it, merged.  Somebody
 * resets the flag as often as he likes, which takes turns and publishes
 * nothing: tickets go round meanwhile.
 */
#include "search.h"

enum { SLOTS = 3, PRODUCERS = 2, READER = PRODUCERS, RESETTER, ACTORS };
enum { TICKETS = ACTORS };                /* more than nodes */
enum { CHOICES = 2 * SLOTS, LATER = 64 }; /* added to positions of epoch 2 */

enum rule {
    LOOK_AT_SERVING, /* the reader does not look at tickets afterwards */
    NEXT_TOO_EARLY,  /* ... looks at them before it has read the log */
    NO_WAIT,         /* ... does not wait until they are served */
    TRUST_RING,      /* ... believes what it read in any case */
    TRUST_EPOCH,     /* ... does not look whether the log was begun anew */
    SERVING_FIRST,   /* a set moves `serving` before the log has arrived */
    WRITE_FIRST,     /* ... writes before it has drawn its ticket */
    NO_REREAD,       /* the reader waits for the tickets it saw first */
    NO_ROUND,        /* ... does not see that tickets have gone round */
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
    [NO_REREAD] = "--no-reread",
    [NO_ROUND] = "--no-round",
};

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
    uint8_t ticket, epoch, end, whole;
};

struct actor {
    uint8_t        at;
    uint8_t        todo; /* a bit for each slot to be written or read */
    uint8_t        count, epoch, ticket;
    uint8_t        pos, now, from; /* the reader's */
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

static uint8_t
after(uint8_t ticket)
{
    return (uint8_t)((ticket + 1) % TICKETS);
}

static uint8_t
ticket_draw(struct state *s)
{
    uint8_t ticket = s->next;

    s->next = after(s->next);
    return ticket;
}

/* ---- a producer ---- */

static struct serving
end_of(const struct actor *a)
{
    bool    anew = a->epoch > a->was.epoch;
    uint8_t all = (uint8_t)((anew ? 0 : a->was.whole) + a->count);

    return (struct serving){ after(a->ticket), anew ? a->epoch : a->was.epoch,
                             (uint8_t)((anew ? 0 : a->was.end) + a->count),
                             all <= SLOTS ? all : a->count };
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
            a->ticket = ticket_draw(s);
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
            ticket_draw(s);
        s->serving = end_of(a);
        *a = (struct actor){ .at = DONE };
        return true;
    default: return false;
    }
}

/* ---- who resets ---- */

static bool
resetter_step(struct state *s, struct actor *a, unsigned choice)
{
    switch (a->at) {
    case START:
        if (choice > 1)
            return false;
        a->at = choice == 0 ? TURN : DONE;
        a->ticket = choice == 0 ? ticket_draw(s) : 0;
        return true;
    case TURN:
        if (choice > 0 || s->serving.ticket != a->ticket)
            return false;
        s->serving.ticket = after(a->ticket);
        a->ticket = 0;
        a->at = START;
        return true;
    default: return false;
    }
}

/* ---- the reader ---- */

/* It has read up to a position, in the first epoch. */
static void
look(struct actor *a, struct serving now)
{
    a->was = now;
    a->was.ticket = a->was.whole = a->ticket = a->now = 0;
    a->todo = 0;
    a->from = a->pos;
    if (now.end - a->pos > SLOTS)
        a->from = (uint8_t)(now.end - now.whole);
    if (now.epoch > 0 || now.end == a->pos) {
        a->at = DONE; /* everything, which is always right, or nothing new */
        return;
    }
    a->todo = slots_of(a->from, now.end);
    a->at = broken(NEXT_TOO_EARLY) ? EARLY : READ;
}

static void
verdict(struct state *s, struct actor *a)
{
    struct serving now = s->serving;
    bool           same = broken(TRUST_EPOCH) || now.epoch == a->was.epoch;

    if ((same && now.end - a->from <= SLOTS) || broken(TRUST_RING)) {
        s->accepted = 1;
        a->at = DONE;
    } else {
        look(a, now);
    }
}

static void
tickets_read(const struct state *s, struct actor *a, enum at then)
{
    a->ticket = a->now = s->next;
    a->at = then;
}

/* An earlier wait had read everything. */
static bool
read_before(const struct state *s, struct actor *a)
{
    if (s->serving.epoch > 0 || s->serving.end == a->pos)
        return false;
    a->pos = s->serving.end;
    return true;
}

/* Tickets are looked at again as long as the first may not be served. */
static bool
look_again(const struct state *s, struct actor *a)
{
    if (broken(NO_REREAD) || s->next == a->now)
        return false;
    a->now = s->next;
    return true;
}

static bool
is_open(uint8_t ticket, const struct state *s)
{
    unsigned before = (unsigned)(ticket + TICKETS - s->serving.ticket);

    return before % TICKETS > 0 && before % TICKETS <= ACTORS - 1;
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
    if (choice == 1 && a->at == START)
        return read_before(s, a);
    if (choice == 1 && a->at == SERVED)
        return look_again(s, a);
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
        if ((broken(NO_ROUND) || s->serving.ticket != a->now) &&
            is_open(a->ticket, s) && !broken(NO_WAIT))
            return false;
        verdict(s, a);
        return true;
    default: return false;
    }
}

/* When the reader is done there is nothing more to be seen. */
static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;
    struct actor *a = &s->actor[actor];

    if (s->actor[READER].at == DONE)
        return false;
    if (actor == RESETTER)
        return resetter_step(s, a, (unsigned)choice);
    return actor == READER ? reader_step(s, a, (unsigned)choice)
                           : producer_step(s, a, (unsigned)choice);
}

/* ---- what must hold ---- */

static const char *
fault(const void *state)
{
    const struct state *s = state;
    const struct actor *a = &s->actor[READER];

    for (unsigned p = a->from; s->accepted && p < a->was.end; p++)
        if (s->got[p % SLOTS] != p + 1)
            return "the reader believes a notice that is another";
    return NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    return s->actor[READER].at == DONE;
}

int
main(int argc, char **argv)
{
    static const struct search model = {
        sizeof(struct state), ACTORS, CHOICES, step, fault, is_end, rules, NULL
    };
    struct state start = { 0 };

    return search_main(argc, argv, &model, &start);
}
