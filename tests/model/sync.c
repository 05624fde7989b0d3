/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Locks and the barrier: who may go on, what is published and what is learnt
 * ("What a release publishes"), with logs reduced to each writer's last
 * interval.
 */
#include "model.h"

#include <string.h>

static struct sync *
learnt_from(struct state *s, const struct rank *me)
{
    return me->sync == BARRIER ? &s->news : &s->lock[me->sync];
}

/* Did another rank write the page, and we did not know? */
static bool
is_news(const struct rank *me, int r, const struct sync *from)
{
    for (int w = 0; w < ranks(); w++)
        if (w != r && from->notice[w] > me->known[w])
            return true;
    return false;
}

/* Copies that may be too old go: a first one, and one that others wrote; and
 * what is being fetched now counts as fetched before.  A first copy is one
 * from the moment when its fetch begins. */
static void
copies_apply(struct state *s, int r, bool news)
{
    struct rank *me = &s->rank[r];
    bool keep = broken(WRITERS_KEEP) && me->sync == BARRIER && me->wrote;
    bool stays = broken(ARM_KEEP_FIRST) && me->sync == BARRIER && !news;
    bool first = !me->registered && !broken(KEEP_FIRST_IN_FLIGHT);

    if (me->fetching && !broken(KEEP_IN_FLIGHT) &&
        !(me->ahead && broken(KEEP_PREDICTED)) &&
        (news || first || me->provisional))
        me->doomed = 1;
    if (me->provisional && !broken(NO_TELL) && !broken(TELL_WITH_FETCH))
        me->untold = 1;
    if ((me->provisional && !stays) || (news && !keep))
        guest_drop(me);
    me->provisional = 0;
}

/* The news of a barrier are forgotten when the last rank has them. */
static void
news_leave(struct state *s)
{
    for (int r = 0; r < ranks(); r++)
        if (s->rank[r].sync == BARRIER && s->rank[r].phase >= NEWS)
            return;
    memset(&s->news, 0, sizeof s->news);
}

/* The acquire is over: from now on the program may rely on it. */
void
acquire_end(struct state *s, int r)
{
    struct rank       *me = &s->rank[r];
    const struct sync *from = learnt_from(s, me);
    bool               barrier = me->sync == BARRIER;

    join(me->before, from->before, BYTES);
    join(me->known, from->notice, RANKS);
    me->phase = IDLE;
    me->sync = 0;
    if (barrier) {
        me->wrote = 0;
        mate_leave(me);
        news_leave(s);
    }
}

static void
acquire_apply(struct state *s, int r)
{
    struct rank *me = &s->rank[r];

    if (!is_home(r) && me->sync != BARRIER)
        mate_acquired(s, r);
    if (!is_home(r))
        copies_apply(s, r, is_news(me, r, learnt_from(s, me)));
    me->phase = GOING;
    if (me->copy != CLOSING)
        acquire_end(s, r);
}

bool
step_acquire(struct state *s, int r, int lock)
{
    struct rank *me = &s->rank[r];

    if (me->phase != IDLE || is_busy(me) || me->puts || lock >= model.locks ||
        s->lock[lock].holder != NOBODY)
        return false;
    s->lock[lock].holder = (uint8_t)r;
    me->sync = (uint8_t)lock;
    acquire_apply(s, r);
    return true;
}

/* All were in the barrier; now this rank learns what it brought. */
bool
step_news(struct state *s, int r, int arms)
{
    struct rank *me = &s->rank[r];

    if (me->phase != NEWS || is_busy(me) || me->puts ||
        (arms && !(model.arm && is_home(r))))
        return false;
    if (arms)
        me->phase = ARM;
    else
        acquire_apply(s, r);
    return true;
}

static bool
holds_any(const struct state *s, int r)
{
    for (int l = 0; l < model.locks; l++)
        if (s->lock[l].holder == r)
            return true;
    return false;
}

/* The last one to come lets all out of the barrier. */
static void
barrier_meet(struct state *s)
{
    for (int r = 0; r < ranks(); r++)
        if (s->rank[r].phase != WAIT)
            return;
    s->news = s->arriving;
    memset(&s->arriving, 0, sizeof s->arriving);
    for (int r = 0; r < ranks(); r++)
        s->rank[r].phase = NEWS;
}

static void
notices_publish(struct sync *to, int r, const struct rank *me)
{
    if (broken(OWN_NOTICES_ONLY))
        join(&to->notice[r], &me->known[r], 1);
    else
        join(to->notice, me->known, RANKS);
}

/* Everything has arrived: say what was written, and let others go on. */
bool
step_publish(struct state *s, int r, int keep)
{
    struct rank *me = &s->rank[r];

    if (me->phase != PUBLISH ||
        (keep && (!model.steady || !is_home(r) || me->sync == BARRIER)))
        return false;
    if (is_home(r) ? !home_close(me, keep)
                   : me->puts && !broken(PUBLISH_BEFORE_FLUSH))
        return false;
    if (me->report) {
        me->known[r]++;
        me->wrote = broken(WRITERS_KEEP);
    }
    me->report = 0;
    if (me->sync == BARRIER) {
        join(s->arriving.before, me->release, BYTES);
        notices_publish(&s->arriving, r, me);
        mate_arrive(me);
        me->phase = WAIT;
        barrier_meet(s);
    } else {
        join(s->lock[me->sync].before, me->release, BYTES);
        notices_publish(&s->lock[me->sync], r, me);
        s->lock[me->sync].holder = NOBODY;
        me->phase = IDLE;
        me->sync = 0;
    }
    memset(me->release, 0, sizeof me->release);
    return true;
}

/* Begin a release, of a lock that is held or into the barrier. */
bool
step_release(struct state *s, int r, int sync)
{
    struct rank *me = &s->rank[r];

    if (me->phase != IDLE || is_busy(me) || me->puts)
        return false;
    if (sync == BARRIER ? !model.barrier || (holds_any(s, r) && !model.stay)
                        : s->lock[sync].holder != r)
        return false;
    me->sync = (uint8_t)sync;
    memcpy(me->release, me->before, sizeof me->before);
    if (is_home(r)) {
        me->phase = FENCE;
        return true;
    }
    guest_close(me);
    me->phase = PUBLISH;
    step_publish(s, r, 0);
    return true;
}
