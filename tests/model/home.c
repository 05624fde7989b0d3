/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A co-home: plain stores through its own mapping, with a store buffer; and
 * at each release a look at the flags.
 */
#include "model.h"

#include <string.h>

/* Any thread, at any time; an armed page has a write fault first, which waits
 * for the page table's lock. */
bool
home_store(struct state *s, int r, int byte)
{
    struct rank *me = &s->rank[r];
    uint8_t      v;

    if (!is_home(r) || byte >= model.bytes || me->buffer[byte] != 0 ||
        (me->map == ARMED && is_busy(me)) || !version_next(s, r, byte, &v))
        return false;
    if (me->map == ARMED)
        me->map = WRITTEN;
    me->buffer[byte] = v;
    return true;
}

bool
home_drain(struct state *s, int r, int byte)
{
    struct rank *me = &s->rank[r];

    if (me->buffer[byte] == 0)
        return false;
    s->home[byte] = me->buffer[byte];
    me->buffer[byte] = 0;
    return true;
}

static bool
is_drained(const struct rank *me)
{
    return me->buffer[0] == 0 && me->buffer[1] == 0;
}

/* --flags-before-word only: they are read here, and the word later. */
bool
home_sample(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (me->phase != FENCE || me->sample != 0 || !broken(FLAGS_BEFORE_WORD))
        return false;
    me->sample = s->flag && s->summary ? 2 : 1;
    return true;
}

/* The stores are in memory; then: has anybody told of new flags? */
bool
home_look(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (me->phase != FENCE || !(is_drained(me) || broken(NO_FENCE)) ||
        (broken(FLAGS_BEFORE_WORD) && me->sample == 0))
        return false;
    me->phase = me->new_told || broken(SCAN_ALWAYS) ? SCAN : PUBLISH;
    me->new_told = 0;
    return true;
}

/* A page flagged for the first time is reported to be safe, and armed. */
bool
home_scan(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (me->phase != SCAN)
        return false;
    me->phase = PUBLISH;
    if (me->seen || (!is_known(me) && !broken(SEE_UNPLACED)))
        return true;
    if (broken(FLAGS_BEFORE_WORD) ? me->sample == 2 : s->flag && s->summary) {
        me->seen = 1;
        me->map = is_known(me) ? ARMED : OPEN;
        me->report = is_known(me) && !broken(TRUST_OPEN_PAGE);
    } else if (broken(SCAN_ONCE) && s->summary) {
        me->seen = 1; /* never looks again */
    }
    for (int i = 0; i < model.homes && broken(ONE_SCANS) && me->seen; i++)
        s->rank[i].seen = 1;
    return true;
}

/* ---- as a co-home leaves the barrier ---- */

/* What is flagged is armed; it is reported only if the home was told before.
 */
static bool
flagged_arm(struct state *s, struct rank *me)
{
    if (me->seen || !is_known(me) || !s->flag || !s->summary)
        return false;
    me->seen = 1;
    if (me->map == OPEN)
        me->map = ARMED;
    return true;
}

bool
home_arm(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];
    bool         told = me->new_told && !broken(ARM_CONSUME);

    (void)arg;
    if (me->phase != ARM)
        return false;
    me->new_told = 0;
    if (flagged_arm(s, me)) {
        me->report |= told;
        me->quiet = !told;
    }
    if (me->quiet)
        me->phase = AGAIN;
    else
        acquire_end(s, r);
    return true;
}

/* A store that nobody will report: was it missed by a copy that stays?  Who
 * fetched that had told before. */
bool
home_look_again(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (me->phase != AGAIN || !(is_drained(me) || broken(ARM_NO_FENCE)))
        return false;
    if (me->new_told && !broken(ARM_BLIND)) {
        me->new_told = 0;
        me->report = 1;
    }
    me->quiet = 0;
    acquire_end(s, r);
    return true;
}

/* Protect the page again if it was written, or keep it open: then it counts as
 * written each time, whether it was or not.  False while stores are on their
 * way, which come before the release in the order of stores. */
bool
home_close(struct rank *me, bool keep)
{
    bool open = me->map == WRITTEN || me->map == STEADY;

    if (!is_drained(me) || (keep && !open))
        return false;
    me->sample = 0;
    if (open) {
        me->report |= me->map == WRITTEN || !broken(STEADY_UNTOLD);
        me->map = keep ? STEADY : ARMED;
    }
    return true;
}

void
home_tell(struct state *s)
{
    for (int i = 0; i < model.homes; i++)
        s->rank[i].new_told = !broken(SCAN_ALWAYS);
}
