/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The page's life (--alloc): placed by one rank after the other, while their
 * other threads synchronise; freed in the same way, and placed again in the
 * same frame.
 *
 * hearth_free begins with a barrier, of which only this matters: nobody
 * touches the page any more, and all that was written is at home.
 */
#include "model.h"

#include <string.h>

/* A rank is in hearth_alloc, and places the page. */
bool
life_place(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (me->life != ABSENT || is_busy(me))
        return false;
    me->life = PLACED;
    join(me->before, s->cleared, BYTES);
    if (is_home(r) && !broken(PLACE_UNSEEN) && !broken(SCAN_ALWAYS))
        me->new_told = 1;
    return true;
}

static bool
is_quiet(const struct rank *me)
{
    static const version none;

    return me->life == PLACED && memcmp(me->buffer, none, BYTES) == 0 &&
           me->map != WRITTEN && me->map != STEADY && me->mask == 0 &&
           me->puts == 0 && !me->changed && !me->fetching;
}

/* All are behind the barrier of hearth_free. */
bool
life_condemn(struct state *s, int r, int arg)
{
    (void)arg;
    if (r != 0 || !model.alloc || s->freed)
        return false;
    for (int i = 0; i < ranks(); i++)
        if (!is_quiet(&s->rank[i]))
            return false;
    for (int i = 0; i < ranks(); i++)
        s->rank[i].life = CONDEMNED;
    s->freed = 1;
    return true;
}

/* Zeroes are newer than all that was written. */
static void
frame_clear(struct state *s)
{
    for (int b = 0; b < model.bytes; b++) {
        for (int i = 0; i < ranks(); i++)
            join(&s->home[b], &s->rank[i].before[b], 1);
        s->cleared[b] = ++s->home[b];
    }
    s->flag = 0;
}

static void
guest_forget(struct rank *me)
{
    if (!broken(KEEP_COPY)) {
        me->copy = NONE;
        memset(me->content, 0, sizeof me->content);
        mate_keep(me);
    }
    if (!broken(KEEP_REGISTERED))
        me->registered = 0;
    me->provisional = 0;
}

/* A rank takes the page from its table.  Co-home 0 is the page's home. */
bool
life_free(struct state *s, int r, int arg)
{
    struct rank *me = &s->rank[r];

    (void)arg;
    if (me->life != CONDEMNED || is_busy(me))
        return false;
    me->life = broken(NO_FREE_BARRIER) ? ABSENT : FREED;
    if (!is_home(r)) {
        guest_forget(me);
        return true;
    }
    me->map = OPEN;
    me->report = 0; /* a freed page is in no list */
    if (!broken(KEEP_SEEN))
        me->seen = 0;
    if (r == 0)
        frame_clear(s);
    return true;
}

/* All have come to the end of hearth_free. */
bool
life_end(struct state *s, int r, int arg)
{
    (void)arg;
    if (r != 0)
        return false;
    for (int i = 0; i < ranks(); i++)
        if (s->rank[i].life != FREED)
            return false;
    for (int i = 0; i < ranks(); i++)
        s->rank[i].life = ABSENT;
    return true;
}
