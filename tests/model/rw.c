/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Reader-writer locks (src/transport/mpi/rw.c): each thread takes one a few
 * times in any of the four ways, and each step on a word is a step.  The log
 * is a flag's, whose own steps flag.c walks.
 */
#include "rw.h"

/* ---- from outside and to outside ---- */

bool
rw_begin(struct state *s, struct thread *t, int way)
{
    static const uint8_t first[WAYS] = { ARRIVE, DRAW, LOOK, FREE_WRITERS };

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
    if (way == TRY_WRITE && broken(TRY_DRAWS))
        t->at = DRAW;
    for (int i = 0; i < THREADS; i++)
        t->behind |= s->thread[i].at == READERS && s->thread[i].way == WRITE;
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
        s->thread[i].passed += s->thread[i].at == PHASE;
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

static bool
phase_wait(struct state *s, struct thread *t)
{
    if (broken(WAIT_FOR_EVEN) ? s->phase % 2 != 0 : s->phase == t->phase)
        return false;
    enter(s, t);
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
        turn_end(s, t, true);
    }
}

/* ---- writers ---- */

static bool
turn_wait(const struct state *s, struct thread *t)
{
    bool mine = (uint8_t)(s->drawn - s->there) == t->ticket;

    if (mine)
        t->at = PRESENT;
    else if (t->way == TRY_WRITE)
        t->at = UNCLAIM;
    return mine || t->way == TRY_WRITE;
}

static void
try_write(struct state *s, struct thread *t)
{
    switch (t->at) {
    case FREE_WRITERS:
        t->at = FREE_ARRIVED;
        if (s->there > 0)
            turn_end(s, t, true);
        break;
    case FREE_ARRIVED:
        t->arrived = s->arrived;
        t->at = FREE_LEFT;
        break;
    case FREE_LEFT:
        t->at = CLAIM;
        if (s->left != t->arrived)
            turn_end(s, t, true);
        break;
    case CLAIM:
        t->at = s->there == 0 ? PRESENT : UNCLAIM;
        t->ticket = s->drawn;
        s->there++;
        break;
    default: s->there--; turn_end(s, t, true);
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
    if (t->way == WRITE || (s->left == arrived && !broken(TRY_GIVES_UP)))
        return false;
    t->refused = 1;
    t->at = ABSENT;
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
leave(struct state *s, struct thread *t)
{
    bool last = t->at == LEAVE ||
                t->at == (broken(GONE_FIRST) && !t->refused ? ABSENT : GONE);

    switch (t->at) {
    case LEAVE: s->left++; break;
    case ABSENT:
        if (broken(PHASE_BACK) && t->refused)
            s->phase--;
        else
            s->phase++;
        break;
    default: s->there--;
    }
    if (last)
        left(s, t);
    else
        t->at = t->at == ABSENT ? GONE : ABSENT;
}

/* ---- all steps ---- */

bool
rw_step(struct state *s, struct thread *t)
{
    switch (t->at) {
    case ARRIVE: arrive(s, t); break;
    case PHASE: return phase_wait(s, t);
    case LOOK:
    case ANNOUNCE:
    case LOOK_AGAIN:
    case BECOME:
    case WITHDRAW: try_read(s, t); break;
    case DRAW:
        t->ticket = s->drawn++;
        s->there++;
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
    case GONE: leave(s, t); break;
    default: try_write(s, t);
    }
    return true;
}
