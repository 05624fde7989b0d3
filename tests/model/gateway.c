/* SPDX-License-Identifier: BSD-2-Clause
 *
 * A gateway's copy of one page whose home is in another cluster
 * (src/transport/clusters/gateway_cache.h).
 *
 * The home's rank and two ranks of the gateway's cluster each take a lock a
 * few times, write the page or read it, and give the lock back; one of the two
 * learns of the home's last write by a message of the program's own instead,
 * and both may fetch in advance, without the lock.  The page counts up, so
 * that who reads it must find as much as there was when the lock was given to
 * him.  A fetch is asked for at the gateway, served at the other in steps, and
 * comes back; so does a store, in the order of the link.  The two are of one
 * node, and take copies of each other whose fetch began after they had last
 * acquired (page/node_cache.h).  The home sees that the page is shared when it
 * was told, at a release, and tells of its writes from then on
 * (coherence/sharer_flags.c).
 */
#include "gateway.h"

static const char *const rules[RULES + 1] = {
    [GRANT_KEEPS] = "--grant-keeps",     [GRANT_FIRST] = "--grant-first",
    [STORE_KEEPS] = "--store-keeps",     [LATE_IS_KEPT] = "--late-is-kept",
    [READ_FIRST] = "--read-first",       [NOT_TOLD] = "--not-told",
    [MESSAGE_KEEPS] = "--message-keeps", [STORE_IS_LATE] = "--store-is-late",
    [NUMBER_FIRST] = "--number-first",   [TAKE_ANY] = "--take-any",
};

_Static_assert(sizeof(struct state) <= STATE_MOST, "a state fits");

static void
kept_drop(struct state *s)
{
    s->kept = 0;
    if (!broken(LATE_IS_KEPT))
        s->coming = 0;
}

static bool
ask_put(struct state *s, struct ask ask)
{
    for (int i = 0; i < QUEUE; i++)
        if (s->ask[i].kind == NOTHING) {
            s->ask[i] = ask;
            return true;
        }
    return false;
}

/* ---- the other gateway ---- */

static void
ask_done(struct state *s, uint8_t value)
{
    s->back[s->ask[0].rank] = s->ask[0];
    s->back[s->ask[0].rank].value = value;
    for (int i = 0; i + 1 < QUEUE; i++)
        s->ask[i] = s->ask[i + 1];
    s->ask[QUEUE - 1] = (struct ask){ NOTHING, 0, 0, 0, 0 };
}

/* A first fetch: the flag, the word that tells of it, the page.  Others come
 * behind what their rank told. */
static bool
link_step(struct state *s)
{
    struct ask *a = &s->ask[0];

    if (a->kind == NOTHING)
        return false;
    if (a->kind == PUT) {
        s->page = a->value;
        ask_done(s, 0);
        return true;
    }
    if (!a->first) {
        s->told = 1;
        ask_done(s, s->page);
        return true;
    }
    switch (a->step++) {
    case 0:
        if (broken(READ_FIRST))
            a->value = s->page;
        else
            s->flag = 1;
        break;
    case 1:
        s->flag = 1;
        if (!broken(NOT_TOLD))
            s->told = 1;
        break;
    default: ask_done(s, broken(READ_FIRST) ? a->value : s->page);
    }
    return true;
}

/* ---- the home's rank ---- */

static bool
home_step(struct state *s, struct actor *a)
{
    switch (a->at) {
    case OUT:
        if (s->lock != 0)
            return false;
        s->lock = HOME + 1;
        if (s->page < s->latest)
            a->wrong = 1;
        a->at = WRITE;
        return true;
    case WRITE:
        s->page++;
        s->latest = s->page;
        a->at = GIVE;
        return true;
    default:
        if (s->tracked || (s->flag && s->told)) {
            s->notices++;
            s->tracked = 1;
        }
        s->lock = 0;
        a->at = ++a->turns < TURNS - 1 ? OUT : DONE;
        return true;
    }
}

/* ---- a rank of the gateway's cluster ---- */

static void
copy_forget(struct actor *a)
{
    a->has = 0;
}

static bool
acquire(struct state *s, struct actor *a, int me)
{
    bool news = a->seen < s->notices;

    if (s->lock != 0)
        return false;
    s->lock = (uint8_t)(me + 1);
    a->must = s->latest;
    if (news || a->first)
        copy_forget(a);
    a->first = 0;
    a->seen = s->notices;
    if (news && !broken(GRANT_KEEPS) && !broken(GRANT_FIRST))
        kept_drop(s);
    if (news && broken(GRANT_FIRST))
        s->due = 1;
    gateway_number_draw(s, me);
    a->at = FETCH;
    return true;
}

/* The home's message after its last release, and hearth_acquire(): the gateway
 * is asked to drop, and then the number is drawn. */
static bool
message(struct state *s, struct actor *a, int me)
{
    bool first = a->at == OUT;

    if (s->actor[HOME].at != DONE)
        return false;
    if (first == !broken(NUMBER_FIRST) && !broken(MESSAGE_KEEPS))
        kept_drop(s);
    if (first == broken(NUMBER_FIRST))
        gateway_number_draw(s, me);
    if (first) {
        a->must = s->latest;
    } else {
        copy_forget(a);
    }
    a->at = first ? TOLD : FETCH;
    return true;
}

static bool
fetch(struct state *s, struct actor *a, int me, int choice)
{
    if (a->has) {
        a->at = a->at == AHEAD ? OUT : READ;
        return true;
    }
    if (choice == 1) {
        if (gateway_mate_lends(s, me))
            gateway_copy_take(s, a, me);
        return a->has;
    }
    a->first = !a->known;
    a->known = 1;
    a->fresh = 1;
    a->written = 0;
    if (s->kept) {
        a->has = 1;
        a->copy = s->content;
        return true;
    }
    if (s->coming != 0) { /* it is looked at again */
        a->known = !a->first;
        return false;
    }
    s->coming = (uint8_t)(me + 1);
    a->waits = 1;
    return ask_put(s, (struct ask){ GET, (uint8_t)me, a->first, 0, 0 });
}

static bool
answer(struct state *s, struct actor *a, int me)
{
    struct ask got = s->back[me];

    if (got.kind == NOTHING)
        return false;
    s->back[me] = (struct ask){ NOTHING, 0, 0, 0, 0 };
    a->waits = 0;
    if (got.kind == PUT) {
        gateway_number_draw(s, me);
        return true;
    }
    if (s->coming == me + 1) {
        s->kept = 1;
        s->content = got.value;
        s->coming = 0;
    }
    a->has = 1;
    a->copy = got.value;
    return true;
}

static bool
store(struct state *s, struct actor *a, int me)
{
    if (!broken(STORE_KEEPS))
        kept_drop(s);
    a->copy++;
    a->written = 1;
    s->latest = a->copy;
    a->waits = 1;
    a->at = GIVE;
    return ask_put(s, (struct ask){ PUT, (uint8_t)me, 0, a->copy, 0 });
}

static void
give(struct state *s, struct actor *a)
{
    a->turns++;
    a->at = a->turns < TURNS ? OUT : DONE;
    if (s->lock == 0)
        return;
    s->notices++;
    a->seen++; /* its own */
    s->lock = 0;
}

static bool
rank_step(struct state *s, struct actor *a, int me, int choice)
{
    bool last = me == TWO && a->turns == TURNS - 1;

    if (a->waits && !(a->at == GIVE && broken(STORE_IS_LATE)))
        return answer(s, a, me);
    switch (a->at) {
    case OUT:
        if (choice == 1) { /* a fetch in advance */
            a->at = AHEAD;
            return a->turns == 0 && !a->has;
        }
        return last ? message(s, a, me) : acquire(s, a, me);
    case TOLD: return message(s, a, me);
    case AHEAD:
    case FETCH: return fetch(s, a, me, choice);
    case READ:
        a->wrong |= a->copy < a->must;
        if (last)
            a->at = DONE;
        else
            a->at = me == ONE ? WRITE : GIVE;
        return true;
    case WRITE: return store(s, a, me);
    case GIVE: give(s, a); return true;
    default: return a->waits && answer(s, a, me);
    }
}

/* ---- all ---- */

static bool
step(void *state, int actor, int choice)
{
    struct state *s = state;

    if (actor == LINK && choice == 1) {
        if (!s->due)
            return false;
        kept_drop(s);
        s->due = 0;
        return true;
    }
    if (actor == LINK)
        return link_step(s);
    if (choice == 1 && (actor == HOME || (s->actor[actor].at != OUT &&
                                          s->actor[actor].at != AHEAD &&
                                          s->actor[actor].at != FETCH)))
        return false;
    if (s->actor[actor].at == DONE && !s->actor[actor].waits)
        return false;
    return actor == HOME ? home_step(s, &s->actor[actor])
                         : rank_step(s, &s->actor[actor], actor, choice);
}

static const char *
fault(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < ACTORS; i++)
        if (s->actor[i].wrong)
            return "a rank has not found what was written before";
    return NULL;
}

static bool
is_end(const void *state)
{
    const struct state *s = state;

    for (int i = 0; i < ACTORS; i++)
        if (s->actor[i].at != DONE)
            return false;
    return s->ask[0].kind == NOTHING;
}

int
main(int argc, char **argv)
{
    static const struct state  start;
    static const struct search model = {
        .size = sizeof start,
        .actors = STEPPERS,
        .choices = 2,
        .step = step,
        .fault = fault,
        .is_end = is_end,
        .rule = rules,
    };

    return search_main(argc, argv, &model, &start);
}
