/* SPDX-License-Identifier: BSD-2-Clause
 *
 * The thread that uses the page.
 */
#include "move.h"

/* A flag that is seen for the first time makes the page one that is told of.
 */
void
flags_look(struct state *s, struct rank *r)
{
    if (!s->flag[r->home] || r->tracked)
        return;
    r->tracked = 1;
    r->listed = 1;
    if (r->view == HOME_OPEN)
        r->view = HOME_ARMED;
}

/* ---- mates ---- */

static struct rank *
mate_of(struct state *s, int me)
{
    return me < THIRD || !broken(MATES) ? NULL
                                        : &s->rank[me == THIRD ? MATE : THIRD];
}

/* From now on it must see more than its mate's copy is known to have. */
static void
acquired(struct state *s, int me)
{
    struct rank *mate = mate_of(s, me);

    if (mate != NULL)
        mate->fresh = 0;
}

bool
use_take(struct state *s, int me)
{
    struct rank       *r = &s->rank[me];
    const struct rank *from = mate_of(s, me);

    if (from == NULL || !from->lent || !from->fresh || r->view != INVALID ||
        r->waits || r->stepping)
        return false;
    r->view = CLEAN;
    r->value = from->value;
    r->registered = 1;
    r->provisional |= from->provisional;
    return true;
}

/* ---- all ---- */

void
diff_send(struct state *s, struct rank *r)
{
    acquired(s, (int)(r - s->rank));
    s->byte[r->home] = r->value;
    r->view = CLEAN;
    r->listed = 1;
}

bool
use_acquire(struct state *s, int me)
{
    struct rank *r = &s->rank[me];

    if (s->holder != RANKS || r->waits || r->stepping)
        return false;
    s->holder = (uint8_t)me;
    acquired(s, me);
    if (r->stale || r->provisional) {
        if (r->view == DIRTY)
            diff_send(s, r);
        if (r->view == CLEAN) {
            r->view = INVALID;
            r->lent = 0;
        }
        if (r->view == FROZEN && !broken(KEEP_MISSED))
            r->missed = 1;
    }
    r->stale = r->provisional = 0;
    return true;
}

bool
use_release(struct state *s, int me)
{
    struct rank *r = &s->rank[me];

    if (s->holder != me || r->waits || r->stepping)
        return false;
    if (is_home(r))
        flags_look(s, r);
    if (r->view == DIRTY)
        diff_send(s, r);
    if (r->view == HOME_DIRTY) {
        r->view = HOME_ARMED;
        r->listed = 1;
    }
    for (int i = 0; i < ranks(); i++)
        s->rank[i].stale |= i != me && r->listed;
    r->listed = 0;
    s->holder = RANKS;
    return true;
}

/* Load; what is not here is fetched. */
bool
use_touch(struct state *s, int me)
{
    struct rank *r = &s->rank[me];

    if (r->waits || r->stepping || r->view == FROZEN)
        return false;
    if (r->view == INVALID) {
        r->view = COMING;
        r->fresh = mate_of(s, me) != NULL;
        r->from = r->home;
        r->waits = (uint8_t)(r->registered ? GET : GET | FLAG);
        r->provisional |= !r->registered;
        r->registered = 1;
        return true;
    }
    if (s->holder != me)
        return false;
    s->wrong |= (is_home(r) ? s->byte[r->home] : r->value) != s->version;
    return true;
}

bool
use_store(struct state *s, int me)
{
    struct rank *r = &s->rank[me];

    if (s->holder != me || r->waits || r->stepping || s->version == WRITES ||
        mate_of(s, me) != NULL || !(is_home(r) || is_copy(r)))
        return false;
    s->version++;
    if (is_home(r)) {
        s->byte[r->home] = s->version;
        if (r->view == HOME_ARMED)
            r->view = HOME_DIRTY;
        return true;
    }
    s->wrong |= r->value != s->version - 1;
    r->value = s->version;
    r->view = DIRTY;
    r->lent = 0;
    return true;
}

bool
use_land(struct state *s, int me, uint8_t what)
{
    struct rank *r = &s->rank[me];

    if (!(r->waits & what))
        return false;
    if (what == GET)
        r->got = s->byte[r->from];
    else
        s->flag[r->from] = 1;
    r->waits &= (uint8_t)~what;
    if (r->waits == 0) {
        r->view = CLEAN;
        r->value = r->got;
        r->lent = mate_of(s, me) != NULL;
    }
    return true;
}

bool
use_step_begin(struct state *s, int me)
{
    struct rank *r = &s->rank[me];

    if (r->waits || r->stepping || r->view == FROZEN || s->steps == STEPS ||
        broken(MATES))
        return false;
    s->steps++;
    r->stepping = 1;
    r->at = r->home;
    return true;
}

bool
use_step_end(struct state *s, int me)
{
    struct rank *r = &s->rank[me];

    if (!r->stepping)
        return false;
    s->count[r->at]++;
    s->done++;
    r->stepping = 0;
    return true;
}
