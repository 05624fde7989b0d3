/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A guest, on a node of its own: fetches, writes its copy, sends diffs home,
 * and loses the copy at an acquire or to make room.
 */
#include "model.h"

#include <string.h>

bool
guest_store(struct state *s, int r, int byte)
{
    struct rank *me = &s->rank[r];
    uint8_t      v;

    if (is_home(r) || byte >= model.bytes || is_busy(me) ||
        (me->copy != CLEAN && me->copy != DIRTY) ||
        !version_next(s, r, byte, &v))
        return false;
    me->copy = DIRTY;
    mate_keep(me);
    me->mask |= (uint8_t)(1 << byte);
    me->owed &= (uint8_t) ~(1 << byte);
    me->content[byte] = v;
    return true;
}

/* ---- overwriting ---- */

/* It will store to all bytes, one after the other, and opens the page without
 * its content, once (page/overwrite.h). */
bool
guest_overwrite(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];
    bool         again = broken(OVERWRITE_AGAIN) && me->owed != 0;
    int          bytes = broken(OVERWRITE_PART) ? 1 : model.bytes;

    (void)arg;
    if (!model.overwrite || is_home(r) || me->life != PLACED || is_busy(me) ||
        (me->copy != NONE && me->copy != HERE) || me->fetching || me->puts ||
        (me->owed != 0 && !again))
        return false;
    for (int b = 0; b < bytes && !again; b++)
        if (!version_is_free(s, r, b))
            return false;
    if (!again)
        me->owed = (uint8_t)((1 << bytes) - 1);
    memset(me->content, 0, sizeof me->content);
    me->copy = DIRTY;
    mate_keep(me);
    me->whole = 1;
    return true;
}

/* ---- a fetch ---- */

/* May it be fetched in advance?  That begins after an acquire; here, at any
 * time. */
static bool
is_foreseen(const struct rank *me)
{
    return model.predict && (me->registered || broken(PREDICT_FIRST));
}

bool
guest_fetch(struct state *s, int r, int ahead)
{
    struct rank *me = &s->rank[r];
    bool         early =
        broken(FETCH_BEFORE_TELL) || (ahead && broken(PREDICT_UNTOLD));

    if (is_home(r) || me->life != PLACED || is_busy(me) || me->copy != NONE ||
        me->fetching || (ahead && !is_foreseen(me)) ||
        (me->untold && !early) || (me->telling && !broken(NO_FENCE_TOLD)) ||
        (me->puts && !broken(NO_WAIT_FOR_FLUSH) &&
         !broken(PUBLISH_BEFORE_FLUSH)))
        return false;
    me->fetching = 1;
    me->ahead = (uint8_t)ahead;
    me->fetch = GET;
    if (!me->registered && !ahead)
        me->fetch |=
            SET_FLAG | SET_SUMMARY | (broken(TELL_WITH_FETCH) ? TELL : 0);
    mate_fetch(s, r);
    return true;
}

/* The page, the flag and the summary: each by itself. */
bool
guest_land(struct state *s, int r, int bit)
{
    struct rank *me = &s->rank[r];
    unsigned     what = me->fetch & 1u << bit;

    if (what == 0)
        return false;
    me->fetch &= (uint8_t)~what;
    switch (what) {
    case GET: memcpy(me->got, s->home, sizeof me->got); break;
    case SET_FLAG: s->flag = 1; break;
    case SET_SUMMARY: s->summary = 1; break;
    default: home_tell(s); break;
    }
    return true;
}

/* A first copy is provisional.  So is a page whose first fetch was overtaken
 * by an acquire: the home was not told of its flag yet. */
static void
first_arrive(struct rank *me)
{
    if (me->registered)
        return;
    me->registered = 1;
    me->provisional =
        !broken(KEEP_FIRST_COPY) && !(me->doomed && broken(FORGET_IN_FLIGHT));
}

bool
guest_arrive(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (!me->fetching || me->fetch != 0 || is_busy(me))
        return false;
    first_arrive(me);
    if (!me->doomed) {
        me->copy = me->ahead ? HERE : CLEAN;
        memcpy(me->content, me->got, sizeof me->got);
    }
    mate_lend(s, r);
    me->fetching = me->doomed = me->ahead = 0;
    memset(me->got, 0, sizeof me->got);
    return true;
}

/* It is touched. */
bool
guest_show(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (me->copy != HERE || is_busy(me))
        return false;
    me->copy = CLEAN;
    return true;
}

/* ---- diffs ---- */

static void
diff_begin(struct rank *me)
{
    bool whole = me->whole || broken(WHOLE_PAGE_DIFF);

    if (me->mask == 0 && !me->whole)
        return;
    me->puts = whole ? (uint8_t)((1 << model.bytes) - 1) : me->mask;
    me->whole = 0;
    for (int b = 0; b < model.bytes; b++)
        me->put[b] = me->puts >> b & 1 ? me->content[b] : 0;
    me->mask = 0;
    me->changed = 1;
}

/* The diff has arrived: that ends what waited for it. */
static void
puts_end(struct state *s, int r)
{
    struct rank *me = &s->rank[r];

    if (me->copy == CLOSING)
        me->copy = NONE;
    if (me->phase == GOING)
        acquire_end(s, r);
    else
        step_publish(s, r, 0);
}

bool
guest_put(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (me->puts == 0)
        return false;
    for (int b = 0; b < model.bytes; b++)
        if (me->puts >> b & 1)
            s->home[b] = me->put[b];
    memset(me->put, 0, sizeof me->put);
    me->puts = 0;
    if (!broken(TAKE_OWN))
        mate_acquired(s, r);
    puts_end(s, r);
    return true;
}

/* A release: the copy stays, its diff goes. */
void
guest_close(struct rank *me)
{
    bool told = !me->untold && !me->telling;
    bool gone = me->whole && !broken(KEEP_OVERWRITTEN) &&
                (!me->registered || (!told && !broken(KEEP_UNTOLD)));

    diff_begin(me);
    if (me->copy == DIRTY) {
        me->copy = gone ? NONE : CLEAN;
        mate_lend_written(me);
    }
    if (gone)
        memset(me->content, 0, sizeof me->content);
    me->report = me->changed;
    me->changed = 0;
}

/* The copy is to go: its diff first. */
void
guest_drop(struct rank *me)
{
    if (me->copy == HERE && !broken(KEEP_HERE)) {
        me->copy = NONE;
        if (!broken(LEND_DROPPED))
            mate_keep(me);
        memset(me->content, 0, sizeof me->content);
    }
    if (me->copy != CLEAN && me->copy != DIRTY)
        return;
    if (broken(NO_FLUSH_BEFORE_DROP))
        me->mask = me->whole = 0;
    diff_begin(me);
    me->copy = me->puts && !broken(NO_WAIT_FOR_FLUSH) ? CLOSING : NONE;
    mate_keep(me);
    memset(me->content, 0, sizeof me->content);
}

/* Some time after the acquire that dropped the first copy, and before a copy
 * is fetched that may survive the next. */
bool
guest_tell(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (!me->untold)
        return false;
    me->untold = 0;
    me->telling = 1;
    return true;
}

/* The word is in memory. */
bool
guest_told(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (!me->telling)
        return false;
    me->telling = 0;
    home_tell(s);
    return true;
}

/* To make room, at any time. */
bool
guest_evict(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (is_home(r) || is_busy(me) || me->puts ||
        (me->copy != CLEAN && me->copy != DIRTY && me->copy != HERE))
        return false;
    guest_drop(me);
    if (broken(FORGET_EVICTED))
        me->provisional = 0;
    return true;
}
