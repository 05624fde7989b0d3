/* SPDX-License-Identifier: BSD-2-Clause
 *
 * What must hold in the model of reader-writer locks, and its walk.
 */
#include <stdlib.h>
#include <string.h>

#include "rw.h"

static const char *const rules[RULES + 1] = {
    [NO_WAIT] = "--no-wait",         [WAIT_FOR_EVEN] = "--wait-for-even",
    [COUNT_LATE] = "--count-late",   [IGNORE_TRIES] = "--ignore-tries",
    [GONE_FIRST] = "--gone-first",   [TELL_LATE] = "--tell-late",
    [LEARN_EARLY] = "--learn-early", [LOOK_ONCE] = "--look-once",
    [NO_ANNOUNCE] = "--no-announce", [ANNOUNCE_FIRST] = "--announce-first",
    [TRY_ARRIVES] = "--try-arrives", [TRY_GIVES_UP] = "--try-gives-up",
    [PHASE_BACK] = "--phase-back",   [NO_LOOK] = "--no-look",
    [TRUST_WOKEN] = "--trust-woken", [WAKE_FIRST] = "--wake-first",
    [NAME_BLIND] = "--name-blind",   [TRUST_CALLED] = "--trust-called",
    [KEEP_NAME] = "--keep-name",
};

static int
thread_compare(const void *a, const void *b)
{
    return memcmp(a, b, sizeof(struct thread));
}

/* Only differences count, and threads are alike: counts go on from 0, and
 * threads in one order. */
static void
state_reduce(struct state *s)
{
    uint8_t readers = s->left, phase = s->phase & 0xfe, log = s->log;
    uint8_t served = s->served;

    for (int i = 0; i < THREADS; i++) {
        struct thread *t = &s->thread[i];
        bool           counts = is_writer(t) && t->at >= FREE_LEFT;
        bool           queues = t->at >= TURN && t->at <= INSIDE;

        t->arrived = counts ? (uint8_t)(t->arrived - readers) : 0;
        t->phase = is_waiting(t) ? (uint8_t)(t->phase - phase) : 0;
        t->ticket = queues ? (uint8_t)(t->ticket - served) : 0;
        if (t->at == INSIDE || (broken(LEARN_EARLY) && t->at != OUT))
            t->log = (uint8_t)(t->log - log);
        else
            t->log = 0;
    }
    s->arrived = (uint8_t)(s->arrived - readers);
    s->left = 0;
    s->phase = (uint8_t)(s->phase - phase);
    s->goal = s->waited ? (uint8_t)(s->goal - readers) : 0;
    s->drawn = (uint8_t)(s->drawn - served);
    s->served = 0;
    s->written = (uint8_t)(s->written - log);
    s->log = 0;
    qsort(s->thread, THREADS, sizeof *s->thread, thread_compare);
}

static bool
step(void *state, int actor, int choice)
{
    struct state  *s = state;
    struct thread *t = &s->thread[actor];
    int            others = 0;

    if (t->at == OUT ? !rw_begin(s, t, choice) : choice > 0 || !rw_step(s, t))
        return false;
    for (int i = 0; i < THREADS; i++)
        others += s->thread[i].at != OUT;
    for (int i = 0; i < THREADS && others > 1; i++)
        s->thread[i].excused |= is_try(&s->thread[i]);
    state_reduce(s);
    return true;
}

/* ---- what must hold ---- */

static bool
is_passed_by(const struct state *s, const struct thread *holder)
{
    for (int i = 0; i < THREADS; i++)
        if (s->thread[i].at == TURN &&
            (int8_t)s->thread[i].ticket < (int8_t)holder->ticket)
            return true;
    return false;
}

static const char *
thread_fault(const struct state *s, const struct thread *t)
{
    bool holds = t->at == INSIDE;

    if (holds && (int8_t)t->log < (int8_t)(is_writer(t) ? s->log : s->written))
        return "who is inside has not seen what was told";
    if (holds && is_writer(t) && is_passed_by(s, t))
        return "a writer comes before one who came earlier";
    if (t->passed > 1)
        return "a reader waits for two writers";
    if (t->behind && t->at == LOOK_AGAIN)
        return "a try detains a writer who came earlier";
    return NULL;
}

static const char *
fault(const void *state)
{
    const struct state *s = state;
    int                 inside = 0, writers = 0, turns = 0, busy = 0;

    for (int i = 0; i < THREADS; i++) {
        const struct thread *t = &s->thread[i];
        const char          *text = thread_fault(s, t);

        if (text != NULL)
            return text;
        inside += is_inside(t);
        writers += is_inside(t) && is_writer(t);
        busy += t->at != OUT;
        turns += t->turns;
    }
    if (writers > 0 && inside > 1)
        return "a writer is not alone";
    if (s->wrong)
        return "a try failed although the lock was free, or one was woken who "
               "does not wait";
    return busy == 0 && turns > 0 && !s->ever ? "no try gets a free lock"
                                              : NULL;
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
        sizeof(struct state), THREADS, WAYS, step, fault, is_end, rules, NULL
    };
    struct state start = { 0 };

    return search_main(argc, argv, &model, &start);
}
