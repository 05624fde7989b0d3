/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Threads of a rank that wait to be woken, where they are more than it has
 * cores (src/transport/mpi/wait_slot.c): one looks at the words of all, the
 * others sleep.  Each load, store and atomic step is a step.  One actor sets
 * the words, in any order; the first thread waits twice.
 *
 * No thread needs the time limit of a sleep for that, so there is none.  With
 * --held one thread is held up for ever, wherever it is; then there is one,
 * and the others come to their ends.
 */
#include "search.h"

enum { THREADS = 3, SETTER = THREADS, HOLDER, ACTORS };

enum rule {
    NO_HANDOVER, /* who leaves wakes nobody that looks on */
    LEAVE_LATE,  /* who leaves says so after it has seen who sleeps */
    SAY_LATE,    /* who sleeps says so after it has seen that one looks */
    SEE_LATE,    /* the event's value is read after that */
    HELD,        /* a thread is held up */
    NO_LIMIT,    /* who sleeps does so without a limit */
    RULES
};

static const char *const rules[RULES + 1] = {
    [NO_HANDOVER] = "--no-handover",
    [LEAVE_LATE] = "--leave-late",
    [SAY_LATE] = "--say-late",
    [SEE_LATE] = "--see-late",
    [HELD] = "--held",
    [NO_LIMIT] = "--no-limit",
};

/* Where a thread is, named by its next step. */
enum at {
    OUT,
    CHECK,
    TAKE,
    SEE,
    SAY,
    WORD,
    LOOKS,
    SLEEP,
    AWAKE,
    LOOK,
    UNLOOK,
    WHO,
    PICK,
    RAISE
};

struct thread {
    uint8_t at, turns, word;
    uint8_t raised; /* since its event was seen */
    uint8_t who;    /* sleeps, 1 + a thread */
    uint8_t then;   /* after the raise */
};

struct state {
    uint8_t       asleep, looking;
    uint8_t       held; /* 1 + a thread */
    struct thread thread[THREADS];
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

/* The steps by which a thread goes to sleep, in their order. */
static uint8_t
sleep_next(uint8_t at)
{
    static const uint8_t right[] = { SEE, SAY, WORD, LOOKS, SLEEP };
    static const uint8_t say[] = { SEE, WORD, LOOKS, SAY, SLEEP };
    static const uint8_t see[] = { SAY, WORD, LOOKS, SEE, SLEEP };
    const uint8_t       *order = broken(SAY_LATE)   ? say
                                 : broken(SEE_LATE) ? see
                                                    : right;

    for (int i = 0; i < 4; i++)
        if (order[i] == at)
            return order[i + 1];
    return order[0];
}

static uint8_t
lowest(uint8_t asleep)
{
    for (uint8_t i = 0; i < THREADS; i++)
        if (asleep >> i & 1)
            return (uint8_t)(i + 1);
    return 0;
}

/* It is asleep no more, and will be woken. */
static void
pick(struct state *s, struct thread *t, uint8_t who, uint8_t then)
{
    s->asleep &= (uint8_t) ~(1 << (who - 1));
    t->who = who;
    t->then = then;
    t->at = RAISE;
}

/* One whose word is set is woken; else the thread looks until its own is. */
static bool
look(struct state *s, struct thread *t, int i)
{
    if (t->word) {
        t->at = broken(LEAVE_LATE) ? WHO : UNLOOK;
        return i == 0;
    }
    if (!(s->asleep >> i & 1) || !s->thread[i].word)
        return false;
    pick(s, t, (uint8_t)(i + 1), LOOK);
    return true;
}

static bool
leave(struct state *s, struct thread *t)
{
    switch (t->at) {
    case UNLOOK:
        s->looking = 0;
        t->at = broken(LEAVE_LATE) ? PICK : CHECK;
        return true;
    case WHO:
        t->who = broken(NO_HANDOVER) ? 0 : lowest(s->asleep);
        t->at = broken(LEAVE_LATE) && s->looking ? UNLOOK : PICK;
        return true;
    case PICK:
        if (t->who == 0 || s->looking)
            t->at = OUT;
        else
            pick(s, t, t->who, OUT);
        return true;
    default: /* RAISE */
        s->thread[t->who - 1].raised = 1;
        t->at = t->then;
        t->who = 0;
        return true;
    }
}

static bool
sleep_step(struct state *s, struct thread *t, int me)
{
    uint8_t next = sleep_next(t->at);

    switch (t->at) {
    case SEE: t->raised = 0; break;
    case SAY: s->asleep |= (uint8_t)(1 << me); break;
    case WORD: next = t->word ? AWAKE : next; break;
    case LOOKS: next = s->looking ? next : AWAKE; break;
    case SLEEP:
        if (!t->raised && (!broken(HELD) || broken(NO_LIMIT)))
            return false;
        next = AWAKE;
        break;
    default: s->asleep &= (uint8_t) ~(1 << me); next = CHECK;
    }
    t->at = next;
    return true;
}

static bool
thread_step(struct state *s, int me, int choice)
{
    struct thread *t = &s->thread[me];

    if (s->held == me + 1)
        return false;
    if (t->at == LOOK)
        return look(s, t, choice);
    if (choice != 0)
        return false;
    switch (t->at) {
    case OUT:
        t->word = 0;
        t->at = CHECK;
        return t->turns++ < (me == 0 ? 2 : 1);
    case CHECK: t->at = t->word ? WHO : TAKE; return true;
    case TAKE:
        t->at = s->looking ? sleep_next(TAKE) : LOOK;
        s->looking = 1;
        return true;
    case UNLOOK:
    case WHO:
    case PICK:
    case RAISE: return leave(s, t);
    default: return sleep_step(s, t, me);
    }
}

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;

    if (actor < THREADS)
        return thread_step(s, actor, choice);
    if (actor == HOLDER) {
        if (!broken(HELD) || s->held)
            return false;
        s->held = (uint8_t)(choice + 1);
        return true;
    }
    if (s->thread[choice].at == OUT || s->thread[choice].word)
        return false;
    s->thread[choice].word = 1;
    return true;
}

static const char *
fault(const void *state)
{
    (void)state;
    return NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < THREADS; i++)
        if (s->thread[i].at != OUT && s->held != i + 1)
            return false;
    return true;
}

int
main(int argc, char **argv)
{
    static const struct search model = {
        sizeof(struct state), ACTORS, THREADS, step, fault, is_end, rules, NULL
    };
    struct state start = { 0 };

    return search_main(argc, argv, &model, &start);
}
