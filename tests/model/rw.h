/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The model of reader-writer locks, between its files.
 */
#ifndef HEARTH_MODEL_RW_H
#define HEARTH_MODEL_RW_H

#include "search.h"

enum { THREADS = 3, TURNS = 2 };

/* The choices of who begins. */
enum way { READ, WRITE, TRY_READ, TRY_WRITE, WAYS };

enum rule {
    NO_WAIT,        /* a reader enters whatever the phase */
    WAIT_FOR_EVEN,  /* ... waits until no writer is there */
    COUNT_LATE,     /* a writer waits for readers who came behind him, too */
    IGNORE_TRIES,   /* ... does not wait for tries under way */
    GONE_FIRST,     /* ... lets the next one in before the phase is even */
    TELL_LATE,      /* who leaves tells what he knows when he has left */
    LEARN_EARLY,    /* the log is read before who enters has come */
    LOOK_ONCE,      /* a try to read announces itself and looks no more */
    NO_ANNOUNCE,    /* ... does not announce itself */
    ANNOUNCE_FIRST, /* ... does not look before it does */
    TRY_ARRIVES,    /* ... comes as a reader and goes if it is refused */
    TRY_GIVES_UP,   /* a try to write is refused if another is under way */
    PHASE_BACK,     /* ... puts the phase back when it is refused */
    NO_LOOK,        /* a reader who may be woken does not look whether he must
                       wait */
    TRUST_WOKEN,    /* ... does not look when he is woken */
    WAKE_FIRST,     /* a writer wakes readers before the phase is even */
    NAME_BLIND,     /* a writer who has left his name does not look */
    TRUST_CALLED,   /* ... does not look when he is woken */
    KEEP_NAME,      /* ... leaves it there when he need not wait */
    RULES
};

/* Where a thread is, named by its next step. */
enum at {
    OUT,
    ARRIVE,
    PHASE,
    PHASE_LOOK,
    PHASE_WAKE,
    PHASE_SLEEP,
    PHASE_AGAIN,
    LOOK,
    ANNOUNCE,
    LOOK_AGAIN,
    BECOME,
    WITHDRAW,
    DRAW,
    TURN,
    FREE_ARRIVED,
    FREE_LEFT,
    CLAIM,
    PRESENT,
    READERS,
    SAY,
    NAME,
    NAME_LOOK,
    NAME_BACK,
    SLEEP,
    SLEEP_AGAIN,
    UNSAY,
    LEARN,
    INSIDE,
    LEAVE,
    ABSENT,
    WAKE_READERS,
    GONE,
    CALL,
    LATE
};

struct thread {
    uint8_t at, turns, way;
    uint8_t phase, ticket, arrived; /* as the words told */
    uint8_t log;                    /* what it has read */
    uint8_t asleep; /* its name is where those who wait for the phase are */
    uint8_t named;  /* ... or where the writer's is */
    uint8_t woken;
    uint8_t then;    /* after CALL */
    uint8_t refused; /* it leaves without having been inside */
    uint8_t excused; /* somebody else did something meanwhile */
    uint8_t passed;  /* writers that a reader has waited for */
    uint8_t behind;  /* a try that began behind a writer whose turn it was */
};

struct state {
    uint8_t arrived, phase, left, trying; /* the words */
    uint8_t waited, goal;        /* a writer waits until so many have left */
    uint8_t drawn, served, held; /* the writers' turn */
    uint8_t log, written;        /* written: by the last writer */
    uint8_t ever;                /* somebody has been inside */
    uint8_t wrong; /* a try failed though all others were out, or one was woken
                      who does not wait */
    struct thread thread[THREADS];
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

static inline bool
is_try(const struct thread *t)
{
    return t->way == TRY_READ || t->way == TRY_WRITE;
}

static inline bool
is_writer(const struct thread *t)
{
    return t->way == WRITE || t->way == TRY_WRITE;
}

/* For the phase to end. */
static inline bool
is_waiting(const struct thread *t)
{
    return t->at >= PHASE && t->at <= PHASE_AGAIN;
}

static inline bool
is_inside(const struct thread *t)
{
    return !t->refused && (t->at == LEARN || t->at == INSIDE ||
                           t->at == LEAVE || t->at == ABSENT);
}

/* The next step of one that is not out; and from there, in one of the ways. */
bool rw_begin(struct state *s, struct thread *t, int way);
bool rw_step(struct state *s, struct thread *t);

#endif
