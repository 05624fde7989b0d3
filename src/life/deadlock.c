/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Why every thread waits at one moment.  The first question comes back to rank
 * 0 only if each rank it has passed saw each of its threads wait, and marked
 * that wait.  The second one is sent then.  It comes back only if each rank
 * saw each of its threads in a wait with that mark, which a wait that begins
 * later has not: a wait stores its call, and the mark is believed as long as
 * the bit HEARTHI_SEEN in that word is there, which every store of a call
 * clears (api/thread_state.h).  So when the first came back, which is after
 * the first look and before the second of each rank, all of them waited, in
 * what the second question has found.
 *
 * What they do in between they did before the first look began,
 * HEARTH_DEADLOCK ago; so what has not arrived by then is as old as that.
 * wait_graph.c says what follows of what they wait for.
 *
 * Then the job ends, and a third question brings the places in the program.
 *
 * A rank that was stopped meanwhile has counted no beats.  A question that is
 * lost, or that a rank drops because it does not wait, is asked again.
 */
#include "config.h"

#include "deadlock.h"

#include <stdio.h>
#include <string.h>

#include "base/assert.h"
#include "base/option.h"
#include "base/report.h"
#include "collective_watch.h"
#include "world.h"

/* Which question it is: does every rank wait, for what, and where? */
enum { ROUND_WAITS = 1, ROUND_WHAT, ROUND_PLACES };

/* Beats after which rank 0 asks anew, or speaks without the places; a question
 * passes so many ranks in a beat, at least. */
enum { PATIENCE = 4, PATIENCE_PLACES = 20, RANKS_A_BEAT = 50 };

static struct {
    const struct hearthi_deadlock_view *view;
    uint64_t             marked; /* the question whose first round was here */
    uint64_t             calls;  /* that all ranks make, as of then */
    uint64_t             id;     /* of rank 0's question */
    int                  beats; /* since one has gone round, or has begun to */
    struct hearthi_waits waits; /* as they were told in the second round */
    size_t               told;  /* ... by others */
    bool                 final; /* the job ends */
} d;

void
hearthi_deadlock_open(const struct hearthi_deadlock_view *view)
{
    memset(&d, 0, sizeof d);
    d.view = view;
}

void
hearthi_deadlock_close(void)
{
    hearthi_waits_free(&d.waits);
    d.view = NULL;
}

/* ---- this rank ---- */

/* How many calls that all ranks make this one has made, and the one that it
 * waits in.  False if there is no memory. */
static bool
calls_add(struct hearthi_waits *to, struct hearthi_thread_wait mine,
          bool inside)
{
    bool room = hearthi_waits_add(to, &mine);

    mine.kind = HEARTHI_WAIT_ALL;
    return room && (!inside || hearthi_waits_add(to, &mine));
}

/* In calls that all ranks make a rank has one thread at most, and of some of
 * them the call is all that is known: then one thread that does not seem to
 * wait is that one. */
static bool
waits(bool first, struct hearthi_waits *to)
{
    struct hearthi_thread_wait mine = { .rank = hearthi_world.rank };
    bool                       inside;
    int                        all = 0;

    mine.what = hearthi_collective_watch_count(hearthi_opt.deadlock, &inside,
                                               mine.call, sizeof mine.call);
    if ((!first && mine.what != d.calls) ||
        d.view->loose(hearthi_opt.deadlock, first, to, &all) !=
            (inside && all == 0) ||
        (all != 0 && !inside))
        return false;
    d.calls = mine.what;
    mine.mpi = d.view->mpi_calls();
    mine.thread = all;
    return to == NULL || calls_add(to, mine, inside);
}

/* ---- questions ---- */

static void
flags_add(struct hearthi_deadlock_asked *q, const struct hearthi_waits *mine)
{
    for (size_t i = 0; i < mine->n; i++)
        if (mine->wait[i].kind == HEARTHI_WAIT_FLAG)
            q->flags[mine->wait[i].what / 64] |= UINT64_C(1)
                                                 << mine->wait[i].what % 64;
}

/* Is one of them set by now? */
static bool
any_flag_is_set(const struct hearthi_deadlock_asked *q)
{
    for (int flag = 0; flag < HEARTH_FLAGS; flag++)
        if ((q->flags[flag / 64] >> flag % 64 & 1) &&
            d.view->flag_is_set(flag))
            return true;
    return false;
}

static void
waits_tell(const struct hearthi_waits *mine, struct hearthi_record *q)
{
    struct hearthi_record r = { .said = HEARTHI_SAID_WAITS,
                                .by = hearthi_world.rank,
                                .about = (int32_t)q->deadlock.id };

    for (size_t i = 0; i < mine->n; i++) {
        r.wait = mine->wait[i];
        hearthi_next_tell(r);
    }
    q->weight += (int32_t)mine->n;
}

/* True if the question, of which this is the first round or a later one, is
 * to go on. */
static bool
round_pass(struct hearthi_record *q, struct hearthi_waits *mine)
{
    const bool first = q->about == ROUND_WAITS;

    if (!first && d.marked != q->deadlock.id)
        return false;
    if (!waits(first, mine))
        return false;
    d.marked = q->deadlock.id;
    if (first)
        flags_add(&q->deadlock, mine);
    return first || !any_flag_is_set(&q->deadlock);
}

/* To what this rank's threads wait for. */
static void
places_add(struct hearthi_waits *to)
{
    for (size_t i = 0; i < to->n; i++) {
        struct hearthi_thread_wait *w = &to->wait[i];

        if (hearthi_wait_is(w) && w->rank == hearthi_world.rank)
            d.view->place(w->thread, w->place, sizeof w->place);
    }
}

static void
answer(struct hearthi_record *q)
{
    struct hearthi_waits mine = { 0 };
    bool                 last = q->about == ROUND_PLACES;

    if (round_pass(q, &mine) || last) { /* the last ends the job anyway */
        if (last)
            places_add(&mine);
        if (q->about != ROUND_WAITS)
            waits_tell(&mine, q);
        hearthi_next_tell(*q);
    }
    hearthi_waits_free(&mine);
}

/* ---- rank 0 ---- */

static void
ask(void)
{
    struct hearthi_record q = { .said = HEARTHI_SAID_DEADLOCK,
                                .by = hearthi_world.rank,
                                .about = ROUND_WAITS };
    struct hearthi_waits  mine = { 0 };

    q.deadlock.id = ++d.id;
    if (round_pass(&q, &mine)) {
        d.beats = 0;
        hearthi_next_tell(q);
    }
    hearthi_waits_free(&mine);
}

static void
ask_for_what(struct hearthi_record *q)
{
    d.beats = 0; /* rounds of a large job take long, each */
    d.waits.n = d.told = 0;
    q->about = ROUND_WHAT;
    q->weight = 0;
    if (round_pass(q, &d.waits))
        hearthi_next_tell(*q);
}

/* Each rank has told all that it has to tell before the question went on. */
static bool
is_final(const struct hearthi_record *q)
{
    return waits(false, NULL) && d.told == (size_t)q->weight &&
           hearthi_waits_are_final(&d.waits, hearthi_world.size);
}

/* It is known now that the job ends. */
static void
ask_for_places(struct hearthi_record *q)
{
    d.final = true;
    d.beats = 0;
    places_add(&d.waits);
    q->about = ROUND_PLACES;
    hearthi_next_tell(*q);
}

static void
place_take(const struct hearthi_thread_wait *w)
{
    for (size_t i = 0; i < d.waits.n; i++) {
        struct hearthi_thread_wait *to = &d.waits.wait[i];

        if (to->rank == w->rank && to->kind == w->kind &&
            to->thread == w->thread && to->what == w->what)
            *to = *w;
    }
}

_Noreturn static void
speak(void)
{
    char text[640];

    hearthi_waits_text(&d.waits, text, sizeof text);
    hearthi_fatal("job",
                  "deadlock: every rank waits, and none has gone on for %g s: "
                  "%s: %s (HEARTH_DEADLOCK)",
                  hearthi_wait_seconds(hearthi_opt.deadlock), text,
                  hearthi_waits_remedy(&d.waits));
}

static void
answered(struct hearthi_record *q)
{
    if (q->about == ROUND_WAITS)
        ask_for_what(q);
    else if (q->about == ROUND_PLACES)
        speak();
    else if (is_final(q))
        ask_for_places(q);
}

void
hearthi_deadlock_look(void)
{
    if (hearthi_opt.deadlock == 0 || d.view == NULL || hearthi_world.rank != 0)
        return;
    d.beats++;
    if (d.final && d.beats > PATIENCE_PLACES)
        speak();
    if (!d.final &&
        (d.id == 0 || d.beats > PATIENCE + hearthi_world.size / RANKS_A_BEAT))
        ask();
}

void
hearthi_deadlock_heard(struct hearthi_record *r)
{
    if (hearthi_opt.deadlock == 0 || d.view == NULL)
        return;
    if (r->by != hearthi_world.rank)
        answer(r);
    else if (r->deadlock.id == d.id)
        answered(r);
}

static bool
is_possible(const struct hearthi_thread_wait *w)
{
    return w->rank >= 0 && w->rank < hearthi_world.size &&
           w->kind >= HEARTHI_WAIT_RANK && w->kind <= HEARTHI_HAS_WRITE &&
           w->peer >= HEARTHI_PEER_OUTSIDE && w->peer < hearthi_world.size;
}

void
hearthi_deadlock_told(struct hearthi_record *r)
{
    struct hearthi_thread_wait w = r->wait;

    if (hearthi_world.rank != 0) {
        if (r->by != hearthi_world.rank)
            hearthi_next_tell(*r);
        return;
    }
    w.call[sizeof w.call - 1] = w.place[sizeof w.place - 1] = '\0';
    if (d.view == NULL || r->about != (int32_t)d.id || !is_possible(&w))
        return;
    if (d.final)
        place_take(&w);
    else
        d.told += hearthi_waits_add(&d.waits, &w);
}
