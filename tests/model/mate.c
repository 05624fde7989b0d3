/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Guests that are mates (--mates): ranks of one node, which take copies of
 * each other (page/node_cache.h).  To look at the word and to copy the page is
 * one step: tests/model/word walks how that is made so.
 *
 * Of a number only its place among the others counts, so the next one is the
 * largest there is and one.
 */
#include "model.h"

#include <string.h>

static uint8_t
number_next(const struct state *s)
{
    uint8_t n = 0;

    for (int i = model.homes; i < ranks(); i++) {
        const struct rank *g = &s->rank[i];

        join(&n, &g->number, 1);
        join(&n, &g->fetch_number, 1);
        join(&n, &g->since, 1);
        join(&n, &g->arrived, 1);
    }
    return (uint8_t)(n + 1);
}

/* ---- what it must see ---- */

void
mate_acquired(struct state *s, int r)
{
    if (model.mates && !is_home(r))
        s->rank[r].since = number_next(s);
}

void
mate_arrive(struct rank *me)
{
    me->arrived = me->since;
}

/* What its other thread's writes have brought home meanwhile stays. */
void
mate_leave(struct rank *me)
{
    if (!model.mates)
        return;
    if (me->since == me->arrived || broken(FORGET_LATE))
        me->since = 0;
    me->arrived = 0;
    me->passed++;
}

/* ---- what it lends ---- */

void
mate_fetch(struct state *s, int r)
{
    if (model.mates)
        s->rank[r].fetch_number = number_next(s);
}

void
mate_lend(struct state *s, int r)
{
    struct rank *me = &s->rank[r];

    if (model.mates && (me->copy == CLEAN || me->copy == HERE)) {
        me->lent = 1;
        me->number = broken(NUMBER_LATE) ? number_next(s) : me->fetch_number;
    }
    me->fetch_number = 0;
}

void
mate_lend_written(struct rank *me)
{
    if (model.mates && me->copy == CLEAN && !me->provisional)
        me->lent = me->written = 1;
}

void
mate_keep(struct rank *me)
{
    me->lent = me->written = me->number = 0;
}

/* ---- take ---- */

static bool
is_new_enough(const struct rank *me, const struct rank *owner)
{
    if (owner->passed < me->passed && !broken(TAKE_UNPASSED))
        return false;
    if (me->since == 0 || broken(TAKE_OLD))
        return true;
    return owner->written ? broken(TAKE_WRITTEN) : owner->number > me->since;
}

static bool
copy_take(struct state *s, int r, int owner, uint8_t to)
{
    struct rank       *me = &s->rank[r];
    const struct rank *of = &s->rank[owner];

    if (!model.mates || owner >= ranks() || is_home(r) || is_home(owner) ||
        r == owner || me->life != PLACED || is_busy(me) || me->copy != NONE ||
        me->fetching || me->puts || !of->lent || !is_new_enough(me, of))
        return false;
    me->copy = to;
    memcpy(me->content, of->content, sizeof me->content);
    me->registered = 1;
    if (of->provisional && !broken(TAKE_FIRST))
        me->provisional = 1;
    return true;
}

bool
mate_take(struct state *s, int r, int owner)
{
    return copy_take(s, r, owner, CLEAN);
}

/* In the place of a fetch in advance (page/reuse_prefetch.h). */
bool
mate_take_ahead(struct state *s, int r, int owner)
{
    return model.predict && copy_take(s, r, owner, HERE);
}

/* ---- renumbering ---- */

static void
number_note(uint64_t *values, uint8_t number)
{
    if (number > 0)
        *values |= UINT64_C(1) << number;
}

static void
number_change(uint64_t values, uint8_t *number)
{
    if (*number > 0)
        *number = (uint8_t)__builtin_popcountll(
            values & ((UINT64_C(2) << *number) - 1));
}

static void
passed_renumber(struct state *s)
{
    for (int i = model.homes; i < ranks(); i++)
        if (s->rank[i].passed == 0)
            return;
    for (int i = model.homes; i < ranks(); i++)
        s->rank[i].passed--;
}

void
mates_renumber(struct state *s)
{
    uint64_t values = 0;

    if (!model.mates)
        return;
    for (int i = model.homes; i < ranks(); i++) {
        number_note(&values, s->rank[i].number);
        number_note(&values, s->rank[i].fetch_number);
        number_note(&values, s->rank[i].since);
        number_note(&values, s->rank[i].arrived);
    }
    for (int i = model.homes; i < ranks(); i++) {
        number_change(values, &s->rank[i].number);
        number_change(values, &s->rank[i].fetch_number);
        number_change(values, &s->rank[i].since);
        number_change(values, &s->rank[i].arrived);
    }
    passed_renumber(s);
}
