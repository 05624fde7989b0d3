/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reader-writer locks (src/transport/mpi/rw.c): each thread takes one a few
 * times in any of the four ways, and each step on a word is a step.  The log
 * is a flag's, whose own steps flag.c walks.  The writers' turn is a lock's
 * (chain.c), and those who wait for a phase wake each other (wake.c): both are
 * one step here.
 */
#include "rw.h"

/* ---- from outside and to outside ---- */

bool
rw_begin(struct state *s, struct thread *t, int way)
{
    static const uint8_t first[WAYS] = { ARRIVE, DRAW, LOOK, FREE_ARRIVED };

    if (t->turns == TURNS)
        return false;
    t->turns++;
    t->way = (uint8_t)way;
    t->at = first[way];
    if (broken(LEARN_EARLY))
        t->log = s->log;
    if (way == TRY_READ && broken(ANNOUNCE_FIRST))
        t->at = ANNOUNCE;
    if (way == TRY_READ && broken(TRY_ARRIVES))
        t->at = ARRIVE;
    for (int i = 0; i < THREADS; i++)
        t->behind |= s->thread[i].at >= READERS && s->thread[i].at <= UNSAY &&
                     s->thread[i].way == WRITE;
    return true;
}

static void
turn_end(struct state *s, struct thread *t, bool refused)
{
    s->wrong |= refused && !t->excused;
    *t = (struct thread){ .at = OUT, .turns = t->turns };
}

static void
enter(struct state *s, struct thread *t)
{
    t->at = broken(LEARN_EARLY) ? INSIDE : LEARN;
    s->ever = 1;
    for (int i = 0; i < THREADS && is_writer(t); i++) {
        s->thread[i].passed += is_waiting(&s->thread[i]);
        s->thread[i].behind = 0;
    }
}

/* ---- readers ---- */

static void
arrive(struct state *s, struct thread *t)
{
    s->arrived++;
    t->phase = s->phase;
    if (s->phase % 2 == 0 || broken(NO_WAIT)) {
        enter(s, t);
        return;
    }
    t->at = t->way == TRY_READ ? WITHDRAW : PHASE;
    for (int i = 0; i < THREADS; i++)
        t->passed += is_writer(&s->thread[i]) && is_inside(&s->thread[i]);
}

static void
readers_wake(struct state *s)
{
    for (int i = 0; i < THREADS; i++) {
        struct thread *t = &s->thread[i];

        s->wrong |= t->asleep && (t->woken || !is_waiting(t));
        t->woken |= t->asleep;
        t->asleep = 0;
    }
}

static bool
phase_lasts(const struct state *s, const struct thread *t)
{
    return broken(WAIT_FOR_EVEN) ? s->phase % 2 != 0 : s->phase == t->phase;
}

static bool
phase_wait(struct state *s, struct thread *t)
{
    switch (t->at) {
    case PHASE:
        t->asleep = 1;
        t->at = broken(NO_LOOK) ? PHASE_SLEEP : PHASE_LOOK;
        break;
    case PHASE_LOOK:
        t->at = phase_lasts(s, t) ? PHASE_SLEEP : PHASE_WAKE;
        break;
    case PHASE_WAKE:
        readers_wake(s);
        t->at = PHASE_SLEEP;
        break;
    case PHASE_SLEEP:
        if (!t->woken)
            return false;
        t->woken = 0;
        t->at = PHASE_AGAIN;
        break;
    default:
        if (phase_lasts(s, t) && !broken(TRUST_WOKEN))
            t->at = PHASE;
        else
            enter(s, t);
    }
    return true;
}

/* ---- the writer who waits for readers ---- */

static bool
all_gone(const struct state *s)
{
    uint8_t goal = broken(COUNT_LATE) ? s->arrived : s->goal;

    return s->left == goal && (s->trying == 0 || broken(IGNORE_TRIES));
}

/* After a step that may have been the last. */
static void
left_then(const struct state *s, struct thread *t, uint8_t then)
{
    t->then = then;
    t->at = s->waited && all_gone(s) ? CALL : then;
}

static void
call(struct state *s, const struct thread *me)
{
    for (int i = 0; i < THREADS; i++) {
        struct thread *t = &s->thread[i];

        if (!t->named)
            continue;
        s->wrong |= t == me || t->woken || t->at < NAME_LOOK || t->at > SLEEP;
        t->woken = 1;
        t->named = 0;
    }
}

static bool
sleep_step(struct state *s, struct thread *t)
{
    switch (t->at) {
    case SAY:
        s->waited = 1;
        s->goal = t->arrived;
        t->at = NAME;
        break;
    case NAME:
        t->named = 1;
        t->at = broken(NAME_BLIND) ? SLEEP : NAME_LOOK;
        break;
    case NAME_LOOK:
        t->at = !all_gone(s) ? SLEEP : broken(KEEP_NAME) ? UNSAY : NAME_BACK;
        break;
    case NAME_BACK:
        t->at = t->named ? SLEEP_AGAIN : SLEEP;
        t->named = 0;
        break;
    case SLEEP:
        if (!t->woken)
            return false;
        t->woken = 0;
        t->at = SLEEP_AGAIN;
        break;
    case SLEEP_AGAIN:
        t->at = all_gone(s) || broken(TRUST_CALLED) ? UNSAY : NAME;
        break;
    default: s->waited = s->goal = 0; enter(s, t);
    }
    return true;
}

static void
try_read(struct state *s, struct thread *t)
{
    switch (t->at) {
    case LOOK:
        t->at = broken(NO_ANNOUNCE) ? LOOK_AGAIN : ANNOUNCE;
        if (s->phase % 2 != 0)
            turn_end(s, t, true);
        break;
    case ANNOUNCE:
        s->trying++;
        t->at = broken(LOOK_ONCE) ? BECOME : LOOK_AGAIN;
        break;
    case LOOK_AGAIN: t->at = s->phase % 2 == 0 ? BECOME : WITHDRAW; break;
    case BECOME:
        s->left--;
        s->trying -= !broken(NO_ANNOUNCE);
        enter(s, t);
        break;
    default:
        if (broken(TRY_ARRIVES))
            s->left++;
        else
            s->trying -= !broken(NO_ANNOUNCE);
        t->refused = 1;
        left_then(s, t, OUT);
        if (t->at == OUT)
            turn_end(s, t, true);
    }
}

/* ---- writers ---- */

static bool
turn_wait(struct state *s, struct thread *t)
{
    if (s->held || t->ticket != s->served)
        return false;
    s->held = 1;
    s->served++;
    t->at = PRESENT;
    return true;
}

static void
try_write(struct state *s, struct thread *t)
{
    switch (t->at) {
    case FREE_ARRIVED:
        t->arrived = s->arrived;
        t->at = FREE_LEFT;
        if (s->phase % 2 != 0)
            turn_end(s, t, true);
        break;
    case FREE_LEFT:
        t->at = CLAIM;
        if (s->waited || s->left != t->arrived)
            turn_end(s, t, true);
        break;
    default:
        if (s->held || s->drawn != s->served) {
            turn_end(s, t, true);
            break;
        }
        s->held = 1;
        t->ticket = s->served;
        t->at = PRESENT;
    }
}

static bool
readers_wait(struct state *s, struct thread *t)
{
    uint8_t arrived = broken(COUNT_LATE) ? s->arrived : t->arrived;

    if (s->left == arrived && (s->trying == 0 || broken(IGNORE_TRIES))) {
        enter(s, t);
        return true;
    }
    if (t->way == TRY_WRITE && s->left == arrived && !broken(TRY_GIVES_UP))
        return false;
    t->refused = t->way == TRY_WRITE;
    t->at = t->way == WRITE ? SAY : ABSENT;
    return true;
}

static void
present(struct state *s, struct thread *t)
{
    t->arrived = s->arrived;
    t->phase = ++s->phase;
    t->at = READERS;
}

/* ---- leaving ---- */

static void
tell(struct state *s, struct thread *t)
{
    if (t->at == LATE || !broken(TELL_LATE))
        s->log++;
    if (is_writer(t) && (t->at == LATE || !broken(TELL_LATE)))
        s->written = s->log;
    if (t->at == LATE)
        turn_end(s, t, false);
    else
        t->at = !is_writer(t) ? LEAVE : broken(GONE_FIRST) ? GONE : ABSENT;
}

static void
left(struct state *s, struct thread *t)
{
    if (broken(TELL_LATE) && !t->refused)
        t->at = LATE;
    else
        turn_end(s, t, t->refused);
}

static void
absent(struct state *s, struct thread *t)
{
    if (broken(PHASE_BACK) && t->refused)
        s->phase--;
    else
        s->phase++;
}

/* Wakes readers if any came since the phase was odd. */
static void
leave(struct state *s, struct thread *t)
{
    bool    first = broken(WAKE_FIRST);
    bool    gone_first = broken(GONE_FIRST) && !t->refused;
    uint8_t then = gone_first ? OUT : GONE;

    switch (t->at) {
    case LEAVE:
        s->left++;
        left_then(s, t, OUT);
        break;
    case ABSENT:
        if (first)
            readers_wake(s);
        else
            absent(s, t);
        t->at = first || s->arrived != t->arrived ? WAKE_READERS : then;
        break;
    case WAKE_READERS:
        if (first)
            absent(s, t);
        else
            readers_wake(s);
        t->at = then;
        break;
    case GONE:
        s->held = 0;
        t->at = gone_first ? ABSENT : OUT;
        break;
    default: call(s, t); t->at = t->then;
    }
    if (t->at == OUT)
        left(s, t);
}

/* ---- all steps ---- */

bool
rw_step(struct state *s, struct thread *t)
{
    switch (t->at) {
    case ARRIVE: arrive(s, t); break;
    case PHASE:
    case PHASE_LOOK:
    case PHASE_WAKE:
    case PHASE_SLEEP:
    case PHASE_AGAIN: return phase_wait(s, t);
    case LOOK:
    case ANNOUNCE:
    case LOOK_AGAIN:
    case BECOME:
    case WITHDRAW: try_read(s, t); break;
    case DRAW:
        t->ticket = s->drawn++;
        t->at = TURN;
        break;
    case TURN: return turn_wait(s, t);
    case PRESENT: present(s, t); break;
    case READERS: return readers_wait(s, t);
    case LEARN:
        t->log = s->log;
        t->at = INSIDE;
        break;
    case INSIDE:
    case LATE: tell(s, t); break;
    case LEAVE:
    case ABSENT:
    case WAKE_READERS:
    case GONE:
    case CALL: leave(s, t); break;
    case FREE_ARRIVED:
    case FREE_LEFT:
    case CLAIM: try_write(s, t); break;
    default: return sleep_step(s, t);
    }
    return true;
}
