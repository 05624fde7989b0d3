/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks that stay with their last holder (src/node/lock_delegation.h):
 * one lock, and three ranks.  The first has two threads and the second one;
 * they take the lock a few times, and may keep it.  The third one tries.  The
 * transport is a queue, and a hint that names who keeps the lock (chain.c).
 * Who wants it reads the hint and asks later; that may be lost, and may come
 * when nobody wants it any more.
 *
 * With --asleep the waiters are of one node, sleep between their looks
 * (src/node/node_lock.c), and none tries.
 */
#include "search.h"

enum { THREADS = 4, TRIER = 3, KEEPERS = 2, GIVER = THREADS };
enum { NOISE = GIVER + KEEPERS, ACTORS, CHOICES = 3, NOISES = 1, LOSSES = 1 };

static const uint8_t rank_of[THREADS] = { 0, 0, 1, 2 };
static const uint8_t turns_of[THREADS] = { 2, 2, 1, 1 };

/* The byte. */
enum { AWAY = 0, FREE = 1, USED = 2, WANTED = 4 };

enum rule {
    NO_OUT,        /* who leaves a wanted lock passes it on as it is */
    HINT_LATE,     /* the hint is written when the lock is kept */
    NO_SECOND_TRY, /* a try needs to see the lock idle to try again */
    END_FIRST,     /* the byte is AWAY before the lock is passed on */
    ENTER_WANTED,  /* who enters does not look whether it is wanted */
    WANT_ONCE,     /* who waits wants it once */
    NO_WAKE,       /* who wants it while nobody is inside wakes nobody */
    ASLEEP,        /* who waits looks once and sleeps; no want is lost */
    NO_RAISE,      /* who keeps the lock does not wake the next */
    RAISE_FIRST,   /* ... wakes it before that step */
    PASS_UNRAISED, /* who passes the lock on does not wake the next */
    RULES
};

static const char *const rules[RULES + 1] = {
    [NO_OUT] = "--no-out",
    [HINT_LATE] = "--hint-late",
    [NO_SECOND_TRY] = "--no-second-try",
    [END_FIRST] = "--end-first",
    [ENTER_WANTED] = "--enter-wanted",
    [WANT_ONCE] = "--want-once",
    [NO_WAKE] = "--no-wake",
    [ASLEEP] = "--asleep",
    [NO_RAISE] = "--no-raise",
    [RAISE_FIRST] = "--raise-first",
    [PASS_UNRAISED] = "--pass-unraised",
};

/* Where a thread is, named by its next step; INSIDE by the transport, or KEPT.
 * From there on it is in the section or in the call that leaves it. */
enum at {
    OUT,
    ASK,
    DRAW,
    WAIT,
    TRY,
    LOOK,
    BYTE,
    TRY_AGAIN,
    INSIDE,
    KEPT,
    HINT,
    BEGIN,
    LATE,
    RAISE,
    PASS,
    END
};

struct thread {
    uint8_t at, turns, ticket;
    uint8_t target;  /* 1 + the rank that the hint named */
    uint8_t asked;   /* it wanted the lock in this wait */
    uint8_t ends;    /* after it has passed the lock on, the stay ends */
    uint8_t excused; /* a try, and somebody was inside meanwhile */
    uint8_t raised;  /* since it looked */
    uint8_t looked, sleeps;
};

struct state {
    uint8_t       next, serving, hint; /* hint: 1 + a rank */
    uint8_t       byte[KEEPERS], wanted[KEEPERS], giver[KEEPERS];
    uint8_t       noises, lost;
    uint8_t       called; /* a giver was called for nothing */
    uint8_t       wrong;  /* a try failed although the lock was free */
    struct thread thread[THREADS];
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

/* For a try: has anybody the lock who did not return from unlock? */
static bool
is_busy(const struct state *s)
{
    for (int i = 0; i < THREADS; i++) {
        const struct thread *t = &s->thread[i];

        if (t->at >= INSIDE || (t->at == WAIT && t->ticket == s->serving))
            return true;
    }
    return false;
}

static bool
turn_end(struct thread *t)
{
    *t = (struct thread){ .at = OUT, .turns = t->turns };
    return true;
}

/* ---- wanting ---- */

static bool
want(struct state *s, int rank)
{
    uint8_t old = s->byte[rank];

    if (old & WANTED)
        return false;
    s->byte[rank] |= WANTED;
    if (old == FREE && !broken(NO_WAKE))
        s->wanted[rank] = 1;
    return true;
}

/* Who waits with a ticket is woken, or does not sleep. */
static void
raise(struct state *s, uint8_t ticket)
{
    for (int i = 0; i < THREADS; i++)
        if (s->thread[i].at == WAIT && s->thread[i].ticket == ticket) {
            s->thread[i].raised = 1;
            s->thread[i].sleeps = 0;
        }
}

static void
serving_next(struct state *s)
{
    s->serving++;
    if (!broken(PASS_UNRAISED))
        raise(s, s->serving);
}

/* It reads the event, looks whether it is its turn, wants the lock if a keeper
 * is named, and sleeps unless the event was raised. */
static bool
asleep_wait(struct state *s, struct thread *t)
{
    if (t->sleeps)
        return false;
    switch (t->looked++) {
    case 0: t->raised = 0; return true;
    case 1:
        if (t->ticket == s->serving) {
            t->at = INSIDE;
            t->looked = 0;
        }
        return true;
    case 2: t->target = s->hint; return true;
    case 3:
        if (t->target != 0)
            want(s, t->target - 1);
        return true;
    default:
        t->sleeps = !t->raised;
        t->looked = 0;
        return true;
    }
}

static bool
turn_wait(struct state *s, struct thread *t, int choice)
{
    if (broken(ASLEEP))
        return choice == 0 && asleep_wait(s, t);
    if (t->ticket == s->serving) {
        t->at = INSIDE;
        return choice == 0;
    }
    if (choice == 0) {
        bool same = t->target == s->hint;

        t->target = s->hint;
        return !same;
    }
    if (t->target == 0 || (broken(WANT_ONCE) && t->asked))
        return false;
    t->asked = 1;
    if (choice == 1)
        return want(s, t->target - 1);
    return s->lost++ < LOSSES;
}

/* ---- tries ---- */

static bool
try_take(struct state *s, struct thread *t)
{
    if (s->next != s->serving)
        return false;
    t->ticket = s->next++;
    t->at = INSIDE;
    return true;
}

static bool
try_fail(struct state *s, struct thread *t)
{
    s->wrong |= !t->excused;
    return turn_end(t);
}

static bool
keeper_look(struct state *s, struct thread *t)
{
    uint8_t byte = t->target == 0 ? AWAY : s->byte[t->target - 1];

    if ((byte & ~WANTED) == FREE) {
        t->asked = 1;
        return want(s, t->target - 1);
    }
    if (byte & USED || (broken(NO_SECOND_TRY) && !t->asked))
        return try_fail(s, t);
    t->at = TRY_AGAIN;
    return true;
}

/* ---- taking and leaving ---- */

static void
enter(struct state *s, struct thread *t, int rank)
{
    uint8_t *byte = &s->byte[rank];

    if (*byte == FREE || (broken(ENTER_WANTED) && (*byte & ~WANTED) == FREE)) {
        *byte ^= FREE | USED;
        t->at = KEPT;
    } else {
        t->at = ASK;
    }
}

static bool
kept_leave(struct state *s, struct thread *t, int rank)
{
    uint8_t *byte = &s->byte[rank];

    if (*byte == USED) {
        *byte = FREE;
        return turn_end(t);
    }
    if (!broken(NO_OUT))
        *byte = FREE | WANTED;
    t->ends = 1;
    t->at = PASS;
    return true;
}

static bool
leave(const struct state *s, struct thread *t, int rank, int choice)
{
    t->ends = broken(NO_OUT) && rank < KEEPERS && s->byte[rank] & USED;
    t->at = choice == 0 ? PASS : broken(HINT_LATE) ? BEGIN : HINT;
    return choice == 0 || (choice == 1 && rank < KEEPERS && !t->ends);
}

static void
keep_begin(struct state *s, struct thread *t, int rank)
{
    uint8_t *byte = &s->byte[rank];

    if (*byte != AWAY) {
        t->at = PASS;
        return;
    }
    *byte = FREE;
    if (broken(HINT_LATE))
        t->at = LATE;
    else if (broken(ASLEEP) && !broken(NO_RAISE) && !broken(RAISE_FIRST))
        t->at = RAISE;
    else
        turn_end(t);
}

static void
pass(struct state *s, struct thread *t)
{
    serving_next(s);
    if (t->ends)
        t->at = END;
    else
        turn_end(t);
}

static bool
synchronise(struct state *s, struct thread *t, int rank, int choice)
{
    switch (t->at) {
    case ASK: /* who wanted it before has had it, or asks again */
        if (s->byte[rank] == WANTED)
            s->byte[rank] = AWAY;
        t->at = DRAW;
        break;
    case DRAW:
        t->ticket = s->next++;
        t->at = WAIT;
        break;
    case HINT:
        if (s->next - s->serving == 1)
            s->hint = (uint8_t)(rank + 1);
        t->at = s->next - s->serving == 1 ? BEGIN : PASS;
        if (t->at == BEGIN && broken(RAISE_FIRST))
            t->at = RAISE;
        break;
    case BEGIN: keep_begin(s, t, rank); break;
    case LATE:
        s->hint = (uint8_t)(rank + 1);
        turn_end(t);
        break;
    case RAISE:
        raise(s, t->ticket + 1);
        if (broken(RAISE_FIRST))
            t->at = BEGIN;
        else
            turn_end(t);
        break;
    case PASS: pass(s, t); break;
    case END:
        s->byte[rank] = AWAY;
        turn_end(t);
        break;
    default: return false;
    }
    return choice == 0;
}

static bool
try_step(struct state *s, struct thread *t)
{
    switch (t->at) {
    case TRY:
        if (!try_take(s, t))
            t->at = LOOK;
        return true;
    case LOOK:
        t->target = s->hint;
        t->at = BYTE;
        return true;
    case BYTE: return keeper_look(s, t);
    default: return try_take(s, t) || try_fail(s, t);
    }
}

static bool
thread_step(struct state *s, int i, int choice)
{
    struct thread *t = &s->thread[i];
    int            rank = rank_of[i];

    if (t->at == WAIT)
        return turn_wait(s, t, choice);
    if (t->at == INSIDE)
        return leave(s, t, rank, choice);
    if (choice > 0)
        return false;
    if (t->at == KEPT)
        return kept_leave(s, t, rank);
    if (t->at >= TRY && t->at <= TRY_AGAIN)
        return try_step(s, t);
    if (t->at != OUT)
        return synchronise(s, t, rank, choice);
    if (t->turns == turns_of[i] || (broken(ASLEEP) && i == TRIER))
        return false;
    t->turns++;
    if (i == TRIER)
        t->at = TRY;
    else
        enter(s, t, rank);
    return true;
}

/* ---- the giver ---- */

static bool
giver_step(struct state *s, int rank)
{
    uint8_t *at = &s->giver[rank];

    if (*at == OUT) {
        if (!s->wanted[rank])
            return false;
        s->wanted[rank] = 0;
        s->called |= s->byte[rank] != (FREE | WANTED);
        *at = broken(END_FIRST) ? END : PASS;
    } else if (*at == PASS) {
        serving_next(s);
        *at = broken(END_FIRST) ? OUT : END;
    } else {
        s->byte[rank] = AWAY;
        *at = broken(END_FIRST) ? PASS : OUT;
    }
    return true;
}

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;
    bool          done;

    if (actor < THREADS)
        done = thread_step(s, actor, choice);
    else if (actor == NOISE)
        done = choice < KEEPERS && s->noises++ < NOISES && want(s, choice);
    else
        done = choice == 0 && giver_step(s, actor - GIVER);
    if (s->thread[TRIER].at >= TRY && s->thread[TRIER].at <= TRY_AGAIN)
        s->thread[TRIER].excused |= is_busy(s);
    return done;
}

/* ---- what must hold ---- */

static const char *
fault(const void *state)
{
    const struct state *s = state;
    int                 inside = 0;

    for (int i = 0; i < THREADS; i++)
        inside += s->thread[i].at == INSIDE || s->thread[i].at == KEPT;
    if (inside > 1)
        return "two threads are inside";
    if (s->serving > s->next)
        return "the lock is passed on twice";
    if (s->called)
        return "a giver gives what it must not";
    return s->wrong ? "a try failed although the lock was free" : NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < THREADS; i++)
        if (s->thread[i].at != OUT)
            return false;
    return true;
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
