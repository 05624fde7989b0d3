/* SPDX-License-Identifier: BSD-2-Clause
 *
 * Condition variables: items that go through a ring of few places, and a token
 * that goes round, both under a lock.  What a place or the token holds is of a
 * version that follows from how often it was used, and that number is kept at
 * its home as well, where atomic steps tell it past copies.  A wake that is
 * lost leaves all waiting.
 */
#include <mpi.h>
#include <pthread.h>
#include <stdlib.h>

#include "scene.h"
#include "watch.h"

enum { LOCK = 20, COND = 700, COND_EACH = 40, EACH = 2 };

struct conds {
    struct stage     *s;
    struct yard       yard;
    volatile int64_t *count; /* put, taken; or turns */
    int64_t          *told;  /* the same */
    int64_t           room, end;
    int               lock, cond, actors;
    size_t            step;
    bool              apart; /* each waits for a condition of its own */
    bool              all;   /* wake all where one would do */
};

struct party {
    struct conds *c;
    int           number;
    struct actor  actor;
    pthread_t     thread;
};

enum { PUT, TAKEN };

static struct part
place_of(const struct conds *c, int64_t item)
{
    size_t      words = c->yard.words / (size_t)c->room;
    size_t      from = (size_t)(item % c->room) * words;
    struct part part = { from, c->step, from + words };

    return part;
}

static void
wake(const struct conds *c, int cond)
{
    if (c->all)
        hearth_cond_broadcast(cond);
    else
        hearth_cond_signal(cond);
}

static void
wait_for(const struct conds *c, int cond)
{
    hearth_cond_wait(cond, c->lock);
    tally_add(TALLY_CONDS, 1);
    watch_alive();
}

/* Inside the lock. */
static void
count_next(const struct conds *c, int which)
{
    int64_t now = c->count[which];
    int64_t told = hearth_fetch_add(&c->told[which], 1);

    if (now != told)
        world_fail(c->s->a, "count %d under lock %d is %lld, not %lld", which,
                   c->lock, (long long)now, (long long)told);
    c->count[which] = now + 1;
    watch_step();
}

/* ---- a ring ---- */

static bool
item_put(const struct conds *c)
{
    int64_t item;

    hearth_lock(c->lock);
    while (c->count[PUT] < c->end &&
           c->count[PUT] - c->count[TAKEN] == c->room)
        wait_for(c, c->cond);
    item = c->count[PUT];
    if (item < c->end) {
        yard_check(c->s, &c->yard, place_of(c, item),
                   item < c->room ? 0 : (uint64_t)(item - c->room + 1));
        yard_write(&c->yard, place_of(c, item), (uint64_t)item + 1);
        count_next(c, PUT);
        wake(c, c->cond + 1);
        if (item + 1 == c->end)
            hearth_cond_broadcast(c->cond);
    }
    hearth_unlock(c->lock);
    return item < c->end;
}

static bool
item_take(const struct conds *c)
{
    int64_t item;

    hearth_lock(c->lock);
    while (c->count[TAKEN] < c->end && c->count[PUT] == c->count[TAKEN])
        wait_for(c, c->cond + 1);
    item = c->count[TAKEN];
    if (item < c->end) {
        yard_check(c->s, &c->yard, place_of(c, item), (uint64_t)item + 1);
        count_next(c, TAKEN);
        if (item + 1 == c->end)
            hearth_cond_broadcast(c->cond + 1);
    }
    hearth_unlock(c->lock);
    if (item < c->end)
        wake(c, c->cond);
    return item < c->end;
}

static void *
ring_play(void *p)
{
    struct party *party = p;

    world_delay(party->c->s->w, party->actor.thread);
    while (party->number % 2 ? item_take(party->c) : item_put(party->c))
        if (draw(&party->actor.random, 3) == 0)
            actor_nap(&party->actor);
    return NULL;
}

/* ---- a token ---- */

static int
cond_of(const struct conds *c, int64_t turn)
{
    return c->cond + (c->apart ? (int)(turn % c->actors) : 0);
}

static void
all_wake(const struct conds *c)
{
    for (int i = 0; i < c->actors; i++)
        hearth_cond_broadcast(c->cond + i);
}

static void *
token_play(void *p)
{
    struct party *party = p;
    struct conds *c = party->c;
    int64_t       turn = party->number;

    world_delay(c->s->w, party->actor.thread);
    for (; turn < c->end; turn += c->actors) {
        hearth_lock(c->lock);
        while (c->count[0] != turn)
            wait_for(c, cond_of(c, turn));
        yard_check(c->s, &c->yard, place_of(c, 0), (uint64_t)turn);
        yard_write(&c->yard, place_of(c, 0), (uint64_t)turn + 1);
        count_next(c, 0);
        if (draw(&party->actor.random, 4) == 0)
            actor_nap(&party->actor);
        if (c->apart)
            wake(c, cond_of(c, turn + 1));
        else
            all_wake(c);
        hearth_unlock(c->lock);
    }
    return NULL;
}

/* ---- both ---- */

static void
parties_play(struct conds *c, void *(*play)(void *))
{
    struct party party[EACH];
    int          each = c->actors / c->s->w->ranks;

    for (int i = 0; i < each; i++) {
        party[i].c = c;
        party[i].number = c->s->w->me * each + i;
        actor_start(&party[i].actor, c->s->w, i);
    }
    for (int i = 1; i < each; i++)
        if (pthread_create(&party[i].thread, NULL, play, &party[i]) != 0)
            abort();
    play(&party[0]);
    for (int i = 1; i < each; i++)
        pthread_join(party[i].thread, NULL);
}

void
scene_conds(struct stage *s)
{
    struct conds c = { .s = s };
    bool         ring = draw(&s->random, 2) == 0;
    uint64_t     threads = draw(&s->random, 2);

    c.actors = s->w->ranks * (s->w->multiple && threads ? EACH : 1);
    c.room = ring ? 1 + (int64_t)draw(&s->random, 3) : 1;
    c.end = 10 + (int64_t)draw(&s->random, 60);
    c.cond = COND + COND_EACH * (int)draw(&s->random, 8);
    c.lock = lock_named(&s->random, (int)draw(&s->random, 8) + LOCK);
    c.apart = draw(&s->random, 2) == 0;
    c.all = draw(&s->random, 4) == 0;
    c.step = 1 + draw(&s->random, 200);
    c.yard = yard_make(s, (1 + draw(&s->random, 3)) * (size_t)c.room,
                       hearth_cyclic(1));
    c.told = hearth_alloc(4, sizeof *c.told, hearth_cyclic(1));
    c.count = c.told + 2;
    if (!ring || c.actors > 1)
        parties_play(&c, ring ? ring_play : token_play);
    hearth_barrier();
    for (int i = 0; (!ring || c.actors > 1) && i <= ring; i++)
        if (c.count[i] != c.end || c.told[i] != c.end)
            world_fail(s->a, "count %d is %lld, told %lld, not %lld", i,
                       (long long)c.count[i], (long long)c.told[i],
                       (long long)c.end);
    hearth_barrier();
    hearth_free(c.told);
    yard_drop(&c.yard);
}
